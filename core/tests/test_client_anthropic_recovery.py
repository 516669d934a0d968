"""Overflows and other refusals, recovered from inside the caller's one call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic_client import MODEL, TOOL, compaction, long_talk
from stages import Do
from trimtab import ContextOverflow, Param
from trimtab.clients.anthropic import Compaction
from trimtab.testing.provider import Cut, Fail, FakeProvider, Reply, Settings, Text

SAYS: dict[str, Any] = {"model": MODEL, "max_tokens": 100, "tools": [TOOL]}
FULL = Fail(400, "prompt is too long: 31000 tokens > 30000 maximum")
BUSY = Fail(529, "Overloaded", "overloaded_error", headers={"retry-after-ms": "1"})

Ask = Callable[[FakeProvider, Compaction, list[Any]], str]


def plainly(provider: FakeProvider, middle: Compaction, messages: list[Any], **says: Any) -> str:
    """The answer of one call."""
    with anthropic.Anthropic(base_url=provider.url, api_key="any", middleware=[middle]) as client:
        answer = client.messages.create(messages=messages, **SAYS | says)
    return "".join(block.text for block in answer.content if block.type == "text")


def streamed(provider: FakeProvider, middle: Compaction, messages: list[Any]) -> str:
    """The same, streamed."""
    client = anthropic.Anthropic(base_url=provider.url, api_key="any", middleware=[middle])
    with client, client.messages.stream(messages=messages, **SAYS) as stream:
        return "".join(stream.text_stream)


def awaited(provider: FakeProvider, middle: Compaction, messages: list[Any]) -> str:
    """The same, with the asynchronous client."""

    async def call() -> str:
        async with anthropic.AsyncAnthropic(base_url=provider.url, api_key="any", middleware=[middle]) as client:
            answer = await client.messages.create(messages=messages, **SAYS)
            return "".join(block.text for block in answer.content if block.type == "text")

    return asyncio.run(call())


def astreamed(provider: FakeProvider, middle: Compaction, messages: list[Any]) -> str:
    """The same, streamed with the asynchronous client."""

    async def call() -> str:
        client = anthropic.AsyncAnthropic(base_url=provider.url, api_key="any", middleware=[middle])
        async with client, client.messages.stream(messages=messages, **SAYS) as stream:
            return "".join([text async for text in stream.text_stream])

    return asyncio.run(call())


EVERY = pytest.mark.parametrize("ask", [plainly, streamed, awaited, astreamed])
STREAMED = pytest.mark.parametrize("ask", [streamed, astreamed])


def smaller(provider: FakeProvider) -> bool:
    """Whether each request that got a status 200 or 400 says less than the one before."""
    sizes = [len(str(one.body["messages"])) for one in provider.served if one.status != 529]
    return len(sizes) > 1 and sizes == sorted(sizes, reverse=True) and len(set(sizes)) == len(sizes)


@EVERY
@pytest.mark.parametrize("refusal", [FULL, Fail(413, "Request exceeds the maximum size", "request_too_large")])
def test_client_overflow(tmp_path: Path, ask: Ask, refusal: Fail) -> None:
    """A request that is refused as too large comes again, smaller, in the same call."""
    with FakeProvider([refusal, "Done."]) as provider:
        assert ask(provider, compaction(tmp_path, "cut"), long_talk(12)) == "Done."
        assert [one.status for one in provider.served] == [refusal.status, 200]
        assert smaller(provider)


@EVERY
def test_client_overflow_of_the_real_window(tmp_path: Path, ask: Ask) -> None:
    """The provider's window is smaller than believed: the call and the next one get through."""
    with FakeProvider(settings=Settings(window=9_000)) as provider:
        middle, messages = compaction(tmp_path, "cut", "clear-old: {when: {over: auto}}"), long_talk(12)
        assert ask(provider, middle, messages).startswith("You said")
        refused = len(provider.refused)
        assert refused
        messages += [{"role": "assistant", "content": "Well."}, *long_talk(1)]
        assert ask(provider, middle, messages).startswith("You said")
        assert len(provider.refused) == refused, "it has learned"


@EVERY
def test_client_overflow_twice(tmp_path: Path, ask: Ask) -> None:
    """A request that is still too large is shortened once more."""
    with FakeProvider([Fail(400, FULL.message, times=2), "Done."]) as provider:
        assert ask(provider, compaction(tmp_path, "cut"), long_talk(12)) == "Done."
        assert [one.status for one in provider.served] == [400, 400, 200]
        assert smaller(provider)


@EVERY
def test_client_overflow_during_retries(tmp_path: Path, ask: Ask) -> None:
    """The SDK's retries and recoveries go together: what was shortened stays so in the next attempt."""
    with FakeProvider([BUSY, FULL, BUSY, "Done."]) as provider:
        assert ask(provider, compaction(tmp_path, "cut"), long_talk(12)) == "Done."
        assert [one.status for one in provider.served] == [529, 400, 529, 200]
        sent = [one.body["messages"] for one in provider.served]
        assert sent[0] == sent[1]
        assert sent[2] == sent[3] != sent[1]


def test_client_retries_send_the_same(tmp_path: Path) -> None:
    """Without an overflow each attempt is the same request, breakpoints included."""
    with FakeProvider([BUSY, BUSY, "Done."]) as provider:
        assert plainly(provider, compaction(tmp_path, "clear-old: {when: {over: 0.1}}"), long_talk(6)) == "Done."
        assert len({str(one.body) for one in provider.served}) == 1


@EVERY
def test_client_overflow_without_end(tmp_path: Path, ask: Ask) -> None:
    """Where nothing makes it smaller there is one clear error, its cause the provider's."""
    with FakeProvider([Fail(400, FULL.message, times=99)]) as provider:
        with pytest.raises(ContextOverflow, match="tokens") as caught:
            ask(provider, compaction(tmp_path, "cut"), long_talk(12))
        assert isinstance(caught.value.__cause__, anthropic.BadRequestError)
        assert "31000" in str(caught.value.__cause__)
        assert smaller(provider)


def test_client_overflow_before_it_is_sent(tmp_path: Path) -> None:
    """What cannot fit is not even sent."""
    with FakeProvider() as provider:
        with pytest.raises(ContextOverflow):
            plainly(provider, compaction(tmp_path, window=2_000), long_talk(12))
        assert not provider.served


@STREAMED
@pytest.mark.parametrize("after", [0, 1, 3])
def test_client_overflow_in_a_stream(tmp_path: Path, ask: Ask, after: int) -> None:
    """An overflow that a stream tells before the first word is recovered from; the caller sees one answer."""
    with FakeProvider([Reply([Text("Never.")], cut=Cut(after, FULL)), "Done."]) as provider:
        middle = compaction(tmp_path, "cut")
        assert ask(provider, middle, long_talk(12)) == "Done."
        assert smaller(provider)
        assert middle.last is not None
        assert middle.last.saved().requests == 1


@STREAMED
def test_client_error_in_a_stream(tmp_path: Path, ask: Ask) -> None:
    """What comes after the first word, and what is no overflow, is the caller's as it came."""
    late = Reply([Text("A few words.")], cut=Cut(4, FULL))
    busy = Reply([Text("Never.")], cut=Cut(1, Fail(529, "Overloaded", "overloaded_error")))
    gone = Reply([Text("Never.")], cut=Cut(1))
    for reply, error in ((late, anthropic.APIStatusError), (busy, anthropic.APIStatusError), (gone, httpx2.HTTPError)):
        with FakeProvider([reply, "Done."]) as provider:
            with pytest.raises(error):
                ask(provider, compaction(tmp_path, "cut"), long_talk(12))
            assert len(provider.served) == 1


@EVERY
def test_client_silent_overflow(tmp_path: Path, ask: Ask) -> None:
    """An answer that is empty for want of room is none: the call goes on with a smaller request."""
    empty = Reply([], stop="model_context_window_exceeded", usage={"output_tokens": 0})
    with FakeProvider([empty, "Done."]) as provider:
        assert ask(provider, compaction(tmp_path, "cut"), long_talk(12)) == "Done."
        assert smaller(provider)


@EVERY
def test_client_input_above_the_window(tmp_path: Path, ask: Ask) -> None:
    """An answer to more than the window holds comes again; where it was streamed already, the next request fits."""
    usage = {"input_tokens": 33_000, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    with FakeProvider([Reply([Text("Half.")], usage=usage), "Done.", "Done."]) as provider:
        middle, messages = compaction(tmp_path, "cut"), long_talk(12)
        said = ask(provider, middle, messages)
        if said == "Half.":
            assert ask in (streamed, astreamed)
            said = ask(provider, middle, messages)
        assert said == "Done."
        assert smaller(provider)


@EVERY
def test_client_input_above_the_window_without_end(tmp_path: Path, ask: Ask) -> None:
    """Where nothing makes it smaller, an answer that was streamed already is still the caller's."""
    usage = {"input_tokens": 33_000, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    with FakeProvider([Reply([Text("Half.")], usage=usage)]) as provider:
        if ask in (streamed, astreamed):
            assert ask(provider, compaction(tmp_path), long_talk(12)) == "Half."
            return
        with pytest.raises(ContextOverflow) as caught:
            ask(provider, compaction(tmp_path), long_talk(12))
        assert caught.value.__cause__ is None


def test_client_feature_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A feature that the provider does not have is left out, from then on."""
    monkeypatch.setattr(Do, "free", lambda self, view: [Param("context_management", {"trigger": 50_000})])
    with FakeProvider(settings=Settings(context_management=False)) as provider:
        middle = compaction(tmp_path, "do", provider="context_management: true")
        for _ in range(2):
            assert plainly(provider, middle, long_talk(2, 10)).startswith("You said")
        assert [one.status for one in provider.served] == [400, 200, 200]


def test_client_thinking_refused(tmp_path: Path) -> None:
    """Thinking that the provider does not know again is left out."""
    messages = long_talk(2, 10)
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    messages[1]["content"].insert(0, thinking)
    messages += [{"role": "assistant", "content": "Read."}, {"role": "user", "content": "And?"}]
    with FakeProvider(["Done."]) as provider:
        assert plainly(provider, compaction(tmp_path), messages) == "Done."
        assert "'thinking'" in str(provider.served[0].body)
        assert "'thinking'" not in str(provider.served[-1].body)


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_client_other_errors(tmp_path: Path, caplog: pytest.LogCaptureFixture, status: int) -> None:
    """Any other error is the SDK's own, after as many attempts as without trimtab."""
    with FakeProvider(
        [Fail(status, "tool_choice: no such tool", headers={"retry-after-ms": "1"}, times=9)]
    ) as provider:
        with pytest.raises(anthropic.APIStatusError, match="no such tool") as caught:
            plainly(provider, compaction(tmp_path, "cut"), long_talk(2))
        assert caught.value.status_code == status
        assert len(provider.served) == (3 if status == 500 else 1)
    assert not [record for record in caplog.records if record.name == "trimtab" and record.levelname == "WARNING"]
