"""The asker with the real Anthropic SDK, against the fake provider."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from trimtab.ask import Ask
from trimtab.clients.anthropic.ask import AnthropicAsker
from trimtab.clients.asking import Progress
from trimtab.dialects.refusals import refusal
from trimtab.errors import AskFailed
from trimtab.request import Request
from trimtab.testing.provider import Cut, Fail, FakeProvider, Reply, Settings, Text, Think, Use

MODEL = "claude-haiku-4-5"
LONG = "All work and no play makes Jack a dull boy. " * 3_000


@pytest.fixture
def script() -> list[Any]:
    """What the provider answers, in order."""
    return []


@pytest.fixture
def provider(script: list[Any]) -> Iterator[FakeProvider]:
    """A provider that answers from ``script``."""
    with FakeProvider(lambda _: script.pop(0), Settings(window=20_000, max_output=100_000)) as made:
        yield made


@pytest.fixture
def client(provider: FakeProvider) -> Iterator[anthropic.Anthropic]:
    """A client of it that tries each request once."""
    with anthropic.Anthropic(base_url=provider.url, api_key="any", max_retries=0) as made:
        yield made


def test_a_text_of_its_own(provider: FakeProvider, client: anthropic.Anthropic, script: list[Any]) -> None:
    """One user message to the model that the profile names, else the asker's; thinking is no part of the answer."""
    script += [[Think("hm"), Text("fine")], "fine"]
    asker = AnthropicAsker(client, MODEL)
    answer = asker(Ask("how?"))
    asker(Ask("how?", model="claude-opus-4-6"))
    body = provider.served[0].body
    assert answer == "fine"
    assert answer.usage.model == MODEL
    assert answer.usage.total > 0
    assert answer.usage.output > 0
    assert (body["messages"], body["stream"]) == ([{"role": "user", "content": "how?"}], True)
    assert [served.body["model"] for served in provider.served] == [MODEL, "claude-opus-4-6"]


def test_the_sessions_model(provider: FakeProvider, client: anthropic.Anthropic, script: list[Any]) -> None:
    """Where nobody names a model the session's is asked; where nobody knows that one, it is said."""
    script += ["fine", "fine"]
    request = Request([], None, None, parameters={"model": "claude-opus-4-6"})
    AnthropicAsker(client)(Ask("how?", request=request))
    AnthropicAsker(client, MODEL)(Ask("how?", request=request))
    assert [served.body["model"] for served in provider.served] == ["claude-opus-4-6", MODEL]
    with pytest.raises(AskFailed, match="no model to ask"):
        AnthropicAsker(client)(Ask("how?"))


def test_a_schema(provider: FakeProvider, client: anthropic.Anthropic, script: list[Any]) -> None:
    """A schema goes out as the output's format."""
    script += ["{}"]
    AnthropicAsker(client, MODEL)(Ask("how?", schema={"type": "object"}))
    assert provider.served[0].body["output_config"] == {"format": {"type": "json_schema", "schema": {"type": "object"}}}


def test_H47_no_more_output_than_the_model_can_write(
    provider: FakeProvider, client: anthropic.Anthropic, script: list[Any]
) -> None:
    """The limit asked for is that of the model asked, whatever the asker was told for others."""
    script += ["fine", "fine"]
    asker = AnthropicAsker(client, MODEL, max_tokens=100_000)
    asker(Ask("how?"))
    asker(Ask("how?", model="claude-of-tomorrow"))
    limits = [served.body["max_tokens"] for served in provider.served]
    assert limits == [64_000, 100_000]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Reply([Text("half of")], stop="max_tokens"), "cut off: more than its max_tokens"),
        (Reply([Text("half of")], stop="refusal"), "the model refused"),
        (Reply([Text("half of")], stop="pause_turn"), "the provider paused it"),
        (Reply([Text("half of")], stop="stop_sequence"), "did not come to its end"),
        (Reply([Text("I"), Use("look", {})]), "called a tool instead of answering"),
        (Reply([Text("half of " * 20)], cut=Cut(after=4)), "client said"),
        (Reply([Text("half of " * 20)], cut=Cut(after=4, error=Fail(529, "busy", "overloaded_error"))), "busy"),
        (Fail(401, "no such key", "authentication_error"), "no such key"),
    ],
)
def test_H75_no_answer_is_no_answer(
    provider: FakeProvider, client: anthropic.Anthropic, script: list[Any], answer: Any, said: str
) -> None:
    """What was cut off, paused, refused or a call of a tool is never taken for an answer."""
    script.append(answer)
    with pytest.raises(AskFailed, match=said) as caught:
        AnthropicAsker(client, MODEL)(Ask("how?"))
    assert caught.value.overflow is None
    assert len(provider.served) == 1


def test_a_question_that_is_too_long(client: anthropic.Anthropic, script: list[Any]) -> None:
    """The provider's refusal is the cause, in which the kernel finds the sizes; a full window is an overflow, too."""
    script.append(Reply([Text("half of")], stop="model_context_window_exceeded"))
    with pytest.raises(AskFailed) as caught:
        AnthropicAsker(client, MODEL)(Ask("how?"))
    assert caught.value.overflow is not None
    with pytest.raises(AskFailed) as caught:
        AnthropicAsker(client, MODEL)(Ask(LONG))
    found = refusal(caught.value.__cause__)
    assert found is not None
    assert (found.kind, found.limit) == ("tokens", 20_000)


def test_a_late_server(client: anthropic.Anthropic, script: list[Any]) -> None:
    """A server that does not answer in time is left."""
    script.append(Reply([Text("late")], delay=0.3))
    with pytest.raises(AskFailed, match=r"no answer within 0\.1 s|timed out"):
        AnthropicAsker(client, MODEL, timeout=0.1)(Ask("how?"))


def test_asynchronous(provider: FakeProvider, script: list[Any]) -> None:
    """The same with an asynchronous client, with progress, a time-out, and cancellation."""
    script += ["one two three", *[Reply([Text("late")], delay=0.3)] * 2]
    seen: list[Progress] = []

    async def main() -> str:
        async with anthropic.AsyncAnthropic(base_url=provider.url, api_key="any", max_retries=0) as client:
            asker = AnthropicAsker(client, MODEL, progress=seen.append)
            answer = await asker(Ask("how?"))
            with pytest.raises(AskFailed, match=r"no answer within 0\.1 s"):
                await asker(Ask("how?", timeout=0.1))
            task = asyncio.ensure_future(asker(Ask("how?")))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return str(answer)

    assert asyncio.run(main()) == "one two three"
    ends = [one.state for one in seen if one.state not in ("answering", "begun")]
    assert ends == ["done", "failed", "failed"]
    assert max(one.characters for one in seen) == len("one two three")
