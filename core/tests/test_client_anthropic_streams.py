"""Streams through trimtab, event by event: what the caller gets, what is observed, what is let go."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic_client import MODEL, compaction, long_talk

SAYS: dict[str, Any] = {"model": MODEL, "max_tokens": 100, "stream": True}
HELLO: list[Any] = [{"role": "user", "content": "Hello."}]


def event(type: str, **fields: Any) -> bytes:
    """One event as it is sent."""
    return f"event: {type}\r\ndata: {json.dumps({'type': type, **fields}, ensure_ascii=False)}\r\n\r\n".encode()


def said(*words: str, usage: Any = None, stop: str = "end_turn") -> list[bytes]:
    """The events of an answer; ``usage``: at its end."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": MODEL}
    start = {"input_tokens": 9, "cache_read_input_tokens": 3, "output_tokens": 1}
    events = [event("message_start", message={**message, "usage": start})]
    if words:
        events.append(event("content_block_start", index=0, content_block={"type": "text", "text": ""}))
        delta = ({"type": "text_delta", "text": word} for word in words)
        events += [event("content_block_delta", index=0, delta=one) for one in delta]
        events.append(event("content_block_stop", index=0))
    end = event("message_delta", delta={"stop_reason": stop}, usage={"output_tokens": 5, **(usage or {})})
    return [*events, end, event("message_stop")]


class Body(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A response's body, for both clients; says whether it was closed."""

    def __init__(self, pieces: list[bytes], error: Exception | None = None, wait: float = 0.0) -> None:
        self.pieces, self.error, self.wait = pieces, error, wait
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        """The pieces, then the error."""
        yield from self.pieces
        if self.error:
            raise self.error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The same, with a pause before each piece."""
        for piece in self:
            await asyncio.sleep(self.wait)
            yield piece

    def close(self) -> None:
        """It is closed."""
        self.closed = True

    async def aclose(self) -> None:
        """The same."""
        self.closed = True


def transport(*bodies: Body, **headers: str) -> httpx2.MockTransport:
    """Gives these responses, one after the other."""
    left = list(bodies)
    sent = {"content-type": "text/event-stream", **headers}
    return httpx2.MockTransport(lambda request: httpx2.Response(200, headers=sent, stream=left.pop(0)))


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Callable[..., anthropic.Anthropic]]:
    """Make clients, closed at the end, with ``middle`` in them."""
    made: list[anthropic.Anthropic] = []

    def client(*bodies: Body, middle: Any = None, **headers: str) -> anthropic.Anthropic:
        http = httpx2.Client(transport=transport(*bodies, **headers))
        middle = middle or compaction(tmp_path)
        made.append(anthropic.Anthropic(api_key="any", http_client=http, middleware=[middle]))
        return made[-1]

    yield client
    for one in made:
        one.close()


def test_stream_bytes(client: Any, tmp_path: Path) -> None:
    """The bytes come as they were sent, also compressed, in odd pieces, and of kinds that nobody knows."""
    events = said("Hé", "llo")
    sent = b"".join(
        [*events[:1], event("ping"), event("new_kind", text="é"), b"event: broken\ndata: {\n\n", *events[1:]]
    )
    sent += b": a comment at the end"
    packed = gzip.compress(sent)
    pieces = [packed[at : at + 7] for at in range(0, len(packed), 7)]
    create = client(Body(pieces), **{"content-encoding": "gzip"}).messages.with_streaming_response.create
    with create(messages=HELLO, **SAYS) as response:
        assert b"".join(response.iter_bytes()) == sent


def test_stream_usage(client: Any, tmp_path: Path) -> None:
    """The end's usage counts, but for zeros of what was told at the beginning."""
    middle = compaction(tmp_path)
    usage = {"input_tokens": 12, "cache_read_input_tokens": 0}
    body = Body(said("Hello", usage=usage))
    assert len(list(client(body, middle=middle).messages.create(messages=HELLO, **SAYS))) == 6
    assert middle.last.saved().sent_tokens == 15
    assert body.closed


@pytest.mark.parametrize("pieces", ["one", "many"])
def test_stream_let_go(client: Any, tmp_path: Path, pieces: str) -> None:
    """Of a stream that is closed early what has come already is observed, once, and nothing more is fetched."""
    middle, events = compaction(tmp_path), said("Hello", "there", usage={"input_tokens": 12})
    body = Body([b"".join(events)] if pieces == "one" else events)
    stream = client(body, middle=middle).messages.create(messages=HELLO, **SAYS)
    for one in stream:
        if one.type == "content_block_delta":
            break
    stream.close()
    stream.close()
    assert body.closed
    assert middle.last.saved().sent_tokens == (15 if pieces == "one" else 12)
    assert middle.last.saved().requests == 1


def test_stream_broken_off(client: Any, tmp_path: Path) -> None:
    """Trouble on the line is the caller's where he reads, also before the first word."""
    for events in (said("Hello")[:1], said("Hello")[:3]):
        body = Body(events, error=httpx2.ReadError("gone"))
        stream = client(body).messages.create(messages=HELLO, **SAYS)
        assert next(stream).type == "message_start"
        with pytest.raises(httpx2.ReadError, match="gone"):
            list(stream)
        assert body.closed


def test_stream_without_words(client: Any, tmp_path: Path) -> None:
    """An answer without a word that is no overflow is the caller's, and observed once."""
    middle = compaction(tmp_path)
    stream = client(Body(said(stop="refusal")), middle=middle).messages.create(messages=HELLO, **SAYS)
    assert [one.type for one in stream] == ["message_start", "message_delta", "message_stop"]
    assert middle.last.saved().requests == 1


def test_stream_replaced(client: Any, tmp_path: Path) -> None:
    """A stream in whose place another request is made is closed before."""
    full = {"type": "invalid_request_error", "message": "prompt is too long: 31000 tokens > 30000 maximum"}
    first = Body([*said("Never")[:1], event("error", error=full), event("ping")])
    middle = compaction(tmp_path, "cut")
    stream = client(first, Body(said("Done")), middle=middle).messages.create(messages=long_talk(12), **SAYS)
    assert first.closed
    assert [one.delta.text for one in stream if one.type == "content_block_delta"] == ["Done"]


def test_stream_async(tmp_path: Path) -> None:
    """With event loops: the answer is observed by its end at the latest, and let go where a task is cancelled."""
    middle, events = compaction(tmp_path), said("Hello", usage={"input_tokens": 12})
    whole, early, late = Body(events), Body([b"".join(events)]), Body(events, wait=1.0)

    async def talk() -> None:
        http = httpx2.AsyncClient(transport=transport(whole, early, late))
        async with anthropic.AsyncAnthropic(api_key="any", http_client=http, middleware=[middle]) as client:
            stream = await client.messages.create(messages=HELLO, **SAYS)
            async for one in stream:
                if one.type == "message_stop":
                    assert middle.last is not None
                    assert middle.last.saved().sent_tokens == 15
                    break
            await stream.close()
            stream = await client.messages.create(messages=HELLO, **SAYS)
            assert (await anext(aiter(stream))).type == "message_start"
            await stream.close()
            assert middle.last is not None
            assert middle.last.saved().sent_tokens == 30
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await client.messages.create(messages=HELLO, **SAYS)
            assert late.closed

    asyncio.run(talk())
    assert whole.closed
    assert early.closed
