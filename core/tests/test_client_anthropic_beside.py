"""The Anthropic SDK through trimtab beside others: other middleware, other calls of the same session."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic_client import MODEL, TOOL, compaction, long_talk
from stages import Do
from trimtab import Param
from trimtab.testing.provider import Call, Fail, FakeProvider, Reply, Settings, Text

SAYS: dict[str, Any] = {"model": MODEL, "max_tokens": 100, "tools": [TOOL]}
HELLO: list[Any] = [{"role": "user", "content": "Hello."}]
FULL = Fail(400, "prompt is too long: 31000 tokens > 30000 maximum")


def reading(request: Any, call_next: Any) -> Any:
    """Middleware that reads all of an answer before it hands it on."""
    response = call_next(request)
    response.http_response.read()
    return response


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_client_beside_who_reads(tmp_path: Path, stream: bool, inside: bool) -> None:
    """Other middleware may read an answer, also a stream: it is observed, and an overflow recovered from."""
    middle = compaction(tmp_path, "cut")
    both: list[Any] = [middle, reading] if inside else [reading, middle]
    with (
        FakeProvider([FULL, "Done."]) as provider,
        anthropic.Anthropic(base_url=provider.url, api_key="any", middleware=both, timeout=5) as client,
    ):
        if stream:
            with client.messages.stream(messages=long_talk(12), **SAYS) as events:  # type: ignore[arg-type]
                assert events.get_final_text() == "Done."
        else:
            answer = client.messages.create(messages=long_talk(12), **SAYS)  # type: ignore[arg-type]
            assert answer.content[0].text == "Done."  # type: ignore[union-attr]
        assert middle.last is not None
        assert middle.last.saved().requests == 1


def test_client_beside_another_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The betas are those of the client that sends, whatever clients other middleware holds."""
    monkeypatch.setattr(Do, "free", lambda self, view: [Param("context_management", {"trigger": 50_000})])
    other = anthropic.Anthropic(api_key="any", default_headers={"anthropic-beta": "theirs"})

    def holding(request: Any, call_next: Any) -> Any:
        return call_next(request) if request is not None else (other, unset)

    middle = compaction(tmp_path, "do", provider="context_management: true")
    with (
        FakeProvider() as provider,
        anthropic.Anthropic(
            base_url=provider.url,
            api_key="any",
            default_headers={"anthropic-beta": "ours"},
            middleware=[middle, holding],
        ) as client,
    ):
        client.messages.create(messages=HELLO, **SAYS)
        unset = True  # not before
        assert provider.served[-1].headers["anthropic-beta"] == "ours,context-management-2025-06-27"
    other.close()


class Packed(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A stream of events, compressed, in odd pieces."""

    def __init__(self) -> None:
        said = b'event: message_start\ndata: {"type": "message_start", "message": {"usage": {}}}\n\n' * 9
        packed = gzip.compress(said)
        self.pieces = [packed[at : at + 7] for at in range(0, len(packed), 7)]

    def __iter__(self) -> Iterator[bytes]:
        """The pieces."""
        return iter(self.pieces)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The same."""
        for piece in self.pieces:
            yield piece


def told(response: httpx2.Response, raw: list[bytes]) -> list[Any]:
    """What a response says of itself once it was read."""
    assert response.elapsed
    return [raw, sorted(response.headers.items()), response.is_closed, response.num_bytes_downloaded]


def test_client_response_is_the_sdks(tmp_path: Path) -> None:
    """A streamed response is as the server gave it: raw bytes, headers, size, time."""
    seen: list[Any] = []
    headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, headers=headers, stream=Packed()))
    says: Any = {**SAYS, "messages": HELLO, "stream": True}
    for middleware in ([], [compaction(tmp_path)]):
        http = httpx2.Client(transport=transport)
        with anthropic.Anthropic(api_key="any", http_client=http, middleware=middleware) as client:
            with client.messages.with_streaming_response.create(**says) as response:
                raw = list(response.http_response.iter_raw())
            seen.append(told(response.http_response, raw))

    async def call(middleware: list[Any]) -> None:
        http = httpx2.AsyncClient(transport=transport)
        async with anthropic.AsyncAnthropic(api_key="any", http_client=http, middleware=middleware) as client:
            async with client.messages.with_streaming_response.create(**says) as response:
                raw = [piece async for piece in response.http_response.aiter_raw()]
            seen.append(told(response.http_response, raw))

    for middleware in ([], [compaction(tmp_path)]):
        asyncio.run(call(middleware))
    assert all(one == seen[0] for one in seen)


def owner(call: Call) -> Reply:
    """Whose conversation it is."""
    return Reply([Text(call.body["messages"][0]["content"])], delay=0.005)


def test_client_calls_of_one_session(tmp_path: Path) -> None:
    """Calls of one session that overflow at the same time: each gets its own answer, and all of them count."""
    middle, trouble = compaction(tmp_path, "cut", session="one"), list[str]()
    with (
        FakeProvider(owner, Settings(window=10_000)) as provider,
        anthropic.Anthropic(base_url=provider.url, api_key="any", middleware=[middle]) as client,
    ):

        def agent(name: str) -> None:
            try:
                for n in range(3):
                    messages: Any = long_talk(12 + n, about=name)
                    answer = client.messages.create(messages=messages, **SAYS)
                    if answer.content[0].text != name:  # type: ignore[union-attr]
                        trouble.append(f"{name} got {answer.content[0]}")
            except Exception as error:
                trouble.append(repr(error))

        threads = [threading.Thread(target=agent, args=(f"agent {n}",)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        billed = provider.billed
        assert provider.refused
    assert not trouble
    assert middle.last is not None
    saved = middle.last.saved()
    assert (saved.requests, saved.sent_tokens) == (18, billed.read + billed.written + billed.fresh)


def test_client_thinking_refused_without_a_word_of_thinking(tmp_path: Path) -> None:
    """A request that cannot say drop_block does not come again with it: the refused thinking goes at once."""
    thinking = {"type": "redacted_thinking", "data": "c2ln"}
    messages: list[Any] = [
        *HELLO,
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "Hi."}]},
        *HELLO,
    ]
    with (
        FakeProvider() as provider,
        anthropic.Anthropic(base_url=provider.url, api_key="any", middleware=[compaction(tmp_path)]) as client,
    ):
        assert client.messages.create(messages=messages, system=None, **SAYS).content  # type: ignore[arg-type]
        assert [one.status for one in provider.served] == [400, 200]
        assert "anthropic-beta" not in provider.served[-1].headers
        assert provider.served[-1].body["system"] is None, "what the caller says to no purpose stays said"
