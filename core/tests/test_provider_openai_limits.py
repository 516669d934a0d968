"""Sizes at the fake provider's OpenAI APIs: overflow in each of its forms, output, bytes, rate; and the cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from trimtab.testing.provider import FakeProvider, Settings

openai = pytest.importorskip("openai")

OLD, NEW = "gpt-5.5", "gpt-6-sol"
WORDS = "lorem ipsum " * 300
"""1 000 tokens of the provider's."""


@contextmanager
def provided(**settings: Any) -> Iterator[tuple[FakeProvider, Any]]:
    """A provider that echoes and a client that never retries."""
    with (
        FakeProvider(None, Settings(**settings)) as provider,
        openai.OpenAI(base_url=provider.url + "/v1", api_key="any", max_retries=0) as client,
    ):
        yield provider, client


def users(count: int, last: str = "") -> list[Any]:
    """So many messages of the user, of 1 000 tokens each, and one more."""
    texts = [*(f"{number} {WORDS}" for number in range(count)), *([last] if last else [])]
    return [{"role": "user", "content": text} for text in texts]


def test_too_much_input_is_a_400() -> None:
    """Both APIs tell it by the code, on the right parameter; a chat stream does so too."""
    with provided(window=2_000) as (provider, client):
        for stream in (False, True):
            with pytest.raises(openai.BadRequestError, match=r"is 2000 tokens.*resulted in 3\d\d\d tokens") as caught:
                client.chat.completions.create(model=OLD, messages=users(3), stream=stream)
            assert (caught.value.code, caught.value.param) == ("context_length_exceeded", "messages")
        with pytest.raises(openai.BadRequestError) as caught:
            client.responses.create(model=OLD, input=users(3))
        assert (caught.value.code, caught.value.param) == ("context_length_exceeded", "input")
        assert len(provider.refused) == 3
        assert provider.billed.output == 0


def test_a_stream_of_responses_tells_it_inside() -> None:
    """The SDK raises a plain APIError at the event, gets response.failed, or a 400, as the switch says."""
    ask: dict[str, Any] = {"model": OLD, "input": users(3), "stream": True}
    with provided(window=2_000) as (provider, client):
        with pytest.raises(openai.APIError, match="exceeds the context window") as caught:
            list(client.responses.create(**ask))
        assert type(caught.value) is openai.APIError
        assert caught.value.code == "context_length_exceeded"
        assert (provider.served[0].status, provider.served[0].usage) == (200, None)
        assert provider.served[0].error
    with provided(window=2_000, stream_overflow="failed") as (_, client):
        last = list(client.responses.create(**ask))[-1]
        assert (last.type, last.response.error.code) == ("response.failed", "context_length_exceeded")
    with provided(window=2_000, stream_overflow="400") as (_, client), pytest.raises(openai.BadRequestError):
        client.responses.create(**ask)


def test_the_input_limit_of_responses_leaves_room_for_the_output() -> None:
    """Responses takes the window less the largest output; chat the whole window; truncation makes it fit."""
    with provided(window=4_500, max_output=2_000) as (_, client):
        client.chat.completions.create(model=OLD, messages=users(3))
        with pytest.raises(openai.BadRequestError, match="exceeds the context window"):
            client.responses.create(model=OLD, input=users(3))
        answer = client.responses.create(model=OLD, input=users(3), truncation="auto")
        assert 2_000 < answer.usage.input_tokens < 2_500


def test_silent_overflow() -> None:
    """Some servers answer: with usage above the window, or with a length stop and no output."""
    with provided(window=2_000, silent_overflow="accept") as (_, client):
        answer = client.chat.completions.create(model=OLD, messages=users(3))
        assert answer.usage.prompt_tokens > 2_000
        assert answer.choices[0].finish_reason == "stop"
    with provided(window=2_000, silent_overflow="length") as (_, client):
        answer = client.chat.completions.create(model=OLD, messages=users(3))
        assert (answer.choices[0].finish_reason, answer.usage.completion_tokens) == ("length", 0)
        assert answer.choices[0].message.content == ""
        response = client.responses.create(model=OLD, input=users(3))
        assert (response.status, response.output, response.usage.output_tokens) == ("incomplete", [], 0)


def test_output_is_cut_at_its_limit() -> None:
    """What does not fit ends the answer early; a limit that no model has is refused; also input and output together."""
    with provided(window=3_000, max_output=500, overflow="400") as (_, client):
        answer = client.chat.completions.create(model=OLD, messages=users(1), max_completion_tokens=5)
        assert (answer.choices[0].finish_reason, answer.usage.completion_tokens) == ("length", 5)
        response = client.responses.create(model=OLD, input=users(1), max_output_tokens=5)
        assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")
        with pytest.raises(openai.BadRequestError, match="at most 500 completion tokens"):
            client.chat.completions.create(model=OLD, messages=users(1), max_tokens=501)
        with pytest.raises(openai.BadRequestError, match=r"in the messages, 500 in the completion"):
            client.chat.completions.create(model=OLD, messages=users(2, last=WORDS[:1_800]), max_tokens=500)


@pytest.mark.parametrize(
    ("path", "given", "param"),
    [
        ("/chat/completions", {"model": 5}, "model"),
        ("/chat/completions", {"tools": ["look"]}, "tools[0]"),
        ("/chat/completions", {"stream": True, "stream_options": "usage"}, "stream_options"),
        ("/chat/completions", {"max_tokens": "5"}, "max_tokens"),
        ("/responses", {"context_management": ["x"]}, "context_management[0]"),
        ("/responses", {"prompt_cache_options": "x"}, "prompt_cache_options"),
        ("/responses", {"input": [{"type": 5}]}, "input[0].type"),
        ("/responses", {"input": [{"role": "user", "content": "?", "id": [1]}]}, "input[0].id"),
        ("/responses", {"model": None}, "model"),
    ],
)
def test_nonsense_is_a_400(path: str, given: dict[str, Any], param: str) -> None:
    """A parameter of another type is the caller's fault, and said to be."""
    with provided() as (provider, client):
        body = {"model": OLD, "messages" if "chat" in path else "input": users(0, "Hello."), **given}
        with pytest.raises(openai.BadRequestError) as caught:
            client.post(path, cast_to=object, body=body)
        assert caught.value.param == param
        assert len(provider.refused) == 1


def test_bytes_and_rate() -> None:
    """A body of too many bytes is a 413, too many requests are a 429 until a minute has passed."""
    with provided(bytes_limit=5_000, rate_limit=2) as (provider, client):
        with pytest.raises(openai.APIStatusError) as caught:
            client.chat.completions.create(model=OLD, messages=users(2))
        assert (caught.value.status_code, caught.value.code) == (413, None)
        client.responses.create(model=OLD, input="x")
        with pytest.raises(openai.RateLimitError) as caught:
            client.responses.create(model=OLD, input="x")
        assert caught.value.code == "rate_limit_exceeded"
        provider.clock.advance(61)
        client.responses.create(model=OLD, input="x")


def cached(client: Any, model: str, messages: list[Any], **more: Any) -> tuple[int, int | None, int]:
    """Tokens read from the cache, those written, and all of the prompt's."""
    usage = client.chat.completions.create(model=model, messages=messages, **more).usage
    details = usage.prompt_tokens_details
    return details.cached_tokens, details.cache_write_tokens, usage.prompt_tokens


def test_earlier_models_read_any_prefix_in_steps() -> None:
    """What is equal from the start is read, rounded down, above the minimum, for as long as it lives, by its key."""
    with provided() as (provider, client):
        assert cached(client, OLD, users(4))[:2] == (0, None)
        read, _, size = cached(client, OLD, users(4, last="And now?"))
        assert read % 128 == 0
        assert size - read < 256
        changed = [*users(2), {"role": "user", "content": "x"}, *users(1)]
        assert 1_900 < cached(client, OLD, changed)[0] <= 2_048
        assert cached(client, OLD, users(1)[:1] + changed[2:])[0] == 0, "below 1 024"
        assert cached(client, OLD, users(4), prompt_cache_key="other")[0] == 0
        assert cached(client, OLD, users(4), tools=[{"type": "function", "function": {"name": "f"}}])[0] == 0
        provider.clock.advance(601)
        assert cached(client, OLD, users(4))[0] == 0
        billed = provider.billed
        assert billed.read == sum(served.usage["prompt_tokens_details"]["cached_tokens"] for served in provider.served)
        assert billed.written == 0


def test_later_models_read_up_to_a_breakpoint_and_tell_what_they_wrote() -> None:
    """Only what ended at an earlier request's newest message, or at a breakpoint of the caller's, is read: exactly."""
    with provided() as (provider, client):
        read, written, first = cached(client, NEW, users(3))
        assert (read, written) == (0, first)
        read, written, second = cached(client, NEW, users(3, last="And now?"))
        assert (read, written) == (first, second - first)
        changed = [*users(2), {"role": "user", "content": "x"}]
        assert cached(client, NEW, changed)[0] == 0, "no request ended behind the second message"
        marked = users(4)
        part = {"type": "text", "text": marked[1]["content"], "prompt_cache_breakpoint": {"mode": "explicit"}}
        marked[1] = {"role": "user", "content": [part]}
        options = {"extra_body": {"prompt_cache_options": {"mode": "explicit", "ttl": "12h"}}}
        assert cached(client, NEW, marked, **options)[0] == first, "markers are no part of the text"
        provider.clock.advance(7_200)
        assert 2_000 < cached(client, NEW, changed)[0] < 2_048
        assert provider.billed.written > first
