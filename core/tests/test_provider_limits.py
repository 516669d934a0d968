"""The fake provider's limits: the window, the answer's length, bytes, requests a minute."""

import anthropic
import pytest
from provider_client import client
from trimtab.testing.provider import FakeProvider, Text, Use

pytest_plugins = ["trimtab.testing.provider.fixture"]


def ask(provider: FakeProvider, characters: int = 100, **more):
    """One request with a text of that many characters."""
    messages = [{"role": "user", "content": "x" * characters}]
    return client(provider).messages.create(**{"model": "m", "max_tokens": 100, "messages": messages, **more})


def test_too_long_a_prompt_is_a_400_with_both_sizes(fake_provider):
    """Error type, text and request id are the vendor's; there is no error code."""
    provider = fake_provider(window=1000)
    with pytest.raises(anthropic.BadRequestError) as caught:
        ask(provider, 7200)
    error = caught.value
    assert error.body["error"] == {
        "type": "invalid_request_error",
        "message": "prompt is too long: 2004 tokens > 1000 maximum",
    }
    assert error.error_code is None
    assert provider.refused == provider.served
    assert provider.served[0].error == error.body


def test_an_answer_stops_at_the_window_or_at_max_tokens(fake_provider):
    """The text is cut, and the reason to stop says by which limit."""
    provider = fake_provider(lambda call: [Text("y" * 3600), Use("t")], window=1000)
    answer = ask(provider, 2880, max_tokens=500)
    assert answer.stop_reason == "model_context_window_exceeded"
    assert answer.usage.output_tokens == 1000 - 804
    assert len(answer.content) == 1
    assert ask(provider, 36, max_tokens=500).stop_reason == "max_tokens"
    assert ask(provider, 36, max_tokens=0).content == []


def test_older_models_refuse_what_may_not_fit(fake_provider):
    """overflow="400": input and max_tokens together."""
    with pytest.raises(anthropic.BadRequestError, match=r"exceed context limit: 804 \+ 500 > 1000"):
        ask(fake_provider(window=1000, overflow="400"), 2880, max_tokens=500)


def test_more_output_than_the_model_has_is_no_overflow(fake_provider):
    """max_tokens above the model's own maximum."""
    with pytest.raises(anthropic.BadRequestError, match="max_tokens: 101 > 100, which is the maximum allowed number"):
        ask(fake_provider(max_output=100), max_tokens=101)


def test_bytes_are_limited(fake_provider):
    """413 by the size of the body."""
    with pytest.raises(anthropic.ContentTooLargeError) as caught:
        ask(fake_provider(bytes_limit=1000), 2000)
    assert caught.value.body["error"]["type"] == "request_too_large"


def test_requests_a_minute_are_limited_by_the_clock(fake_provider):
    """429 with retry-after; the limit recovers as the clock runs."""
    provider = fake_provider(rate_limit=2)
    ask(provider)
    provider.clock.advance(40)
    ask(provider)
    with pytest.raises(anthropic.RateLimitError) as caught:
        ask(provider)
    assert 18 <= int(caught.value.response.headers["retry-after"]) <= 20
    provider.clock.advance(21)
    ask(provider)
    assert [served.status for served in provider.served] == [200, 200, 429, 200]
    assert provider.refused == []


def test_own_counts_replace_the_estimate(fake_provider):
    """Settings.count is asked for every text."""
    assert ask(fake_provider(count=len), 100).usage.input_tokens == 104


def test_a_port_that_is_taken_is_an_error():
    """A second server on one port does not start, and says so."""
    with FakeProvider() as provider:
        port = int(provider.url.rsplit(":", 1)[1])
        with pytest.raises(OSError, match="in use"):
            FakeProvider(port=port).start()
