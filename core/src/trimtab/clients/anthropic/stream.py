"""An answer that comes as a stream: read on the way to the caller, its opening held back until it says something."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import httpx2

__all__ = ["AsyncTap", "Tap", "Watch"]

_OPENING = frozenset({"message_start", "content_block_start", "ping"})
"""Events before the first word of an answer; until then another answer may still take its place."""


class Watch:
    """What the events so far say."""

    def __init__(self) -> None:
        self.answer: dict[str, Any] | None = None
        """The answer as far as it has come, without its words; None before it began."""
        self.error: dict[str, Any] | None = None
        """An error that came in the place of the first word."""
        self.settled = False
        """Whether the opening is over."""
        self.empty = True
        """Whether nothing was said yet."""
        self.ended = False
        """Whether the answer is whole."""

    def __call__(self, event: Any) -> None:
        """One server-sent event, as the SDK's decoder gives it; one that cannot be read is the caller's alone."""
        kind = ""
        with suppress(AttributeError, KeyError, TypeError, ValueError):
            fields = json.loads(event.data)
            kind = fields["type"]
            self._read(kind, fields)
        self.settled |= kind not in _OPENING
        self.ended |= kind == "message_stop"

    def _read(self, kind: str, fields: dict[str, Any]) -> None:
        if kind == "error" and self.empty:
            self.error = fields
        elif kind == "message_start":
            self.answer = {**fields["message"], "content": [], "usage": fields["message"].get("usage") or {}}
        elif self.answer is None:
            return
        elif kind == "content_block_start":
            block = fields["content_block"]
            self.empty &= block["type"] in ("text", "thinking")  # their words follow
            self.answer["content"].append(block)
        elif kind == "content_block_delta":
            self.empty = False
        elif kind == "message_delta":
            # a later 0 is not news: some fields are told once
            usage = {key: value for key, value in (fields.get("usage") or {}).items() if value}
            self.answer |= fields.get("delta") or {}
            self.answer["usage"] = {**self.answer["usage"], **usage}
            if fields.get("context_management"):
                self.answer["context_management"] = fields["context_management"]
            if self.empty:
                self.answer["content"] = []


class _Tapped:
    """What `Tap` and `AsyncTap` have in common."""

    def __init__(self, response: httpx2.Response, over: Callable[[], Any]) -> None:
        self.watch = Watch()
        self.whole = response.is_stream_consumed
        """Whether another middleware has read it already: then it is only looked at."""
        self._stream: Any = response.stream
        self._held: deque[bytes] = deque()
        self._open = True
        self._over = over
        self._told = False
        self._trouble: Exception | None = None

    @property
    def elapsed(self) -> timedelta | None:
        """What the client measured, where `httpx2.Response` looks for it."""
        elapsed: timedelta | None = self._stream.elapsed
        return elapsed

    def _read(self, response: httpx2.Response, copy: httpx2.SyncByteStream | httpx2.AsyncByteStream) -> httpx2.Response:
        """Take the stream's place; what the events are read from: the response, or what is read along of it."""
        if self.whole:
            return response
        response.stream = self  # type: ignore[assignment]
        return httpx2.Response(response.status_code, headers=response.headers, stream=copy)


class _Copy(httpx2.SyncByteStream):
    """What is read along, to be decoded beside the caller."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        return self._chunks


class Tap(_Tapped, httpx2.SyncByteStream):
    """The stream of a response, byte for byte as it came, with a `Watch` on the events in it; it takes its place there.

    ``decoder`` is one of the SDK's (Bedrock has its own). ``over`` is called once: before the caller gets the end of
    the answer, or when he lets it go.
    """

    def __init__(self, response: httpx2.Response, decoder: Any, over: Callable[[], object]) -> None:
        super().__init__(response, over)
        self._events: Iterator[Any] = decoder.iter_bytes(self._read(response, _Copy(self._chunks())).iter_bytes())

    def _chunks(self) -> Iterator[bytes]:
        for chunk in self._stream:
            self._held.append(chunk)
            yield chunk
            if not self._open:
                return

    def settle(self) -> None:
        """Read the opening, or all where it is there."""
        try:
            for event in self._events:
                self.watch(event)
                if self.watch.settled and not self.whole:
                    return
        except Exception as error:  # the caller's, when he comes to it
            self._trouble = error
        except BaseException:  # nobody comes to it
            self._stream.close()
            raise

    def __iter__(self) -> Iterator[bytes]:
        """What was held back, then the rest as it comes."""
        while self._held:
            yield self._held.popleft()
        if self._trouble is not None:
            raise self._trouble
        for event in self._events:
            self.watch(event)
            if self.watch.ended:
                self._tell()
            while self._held:
                yield self._held.popleft()
        while self._held:
            yield self._held.popleft()

    def close(self) -> None:
        """Let go; events that have come already are still read."""
        if not self._open:
            return
        self._open = False
        try:
            with suppress(Exception):
                for event in self._events:
                    self.watch(event)
        finally:
            self._stream.close()
            self._tell()

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            self._over()


class _AsyncCopy(httpx2.AsyncByteStream):
    """`_Copy` for event loops."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._chunks


class AsyncTap(_Tapped, httpx2.AsyncByteStream):
    """`Tap` for event loops."""

    def __init__(self, response: httpx2.Response, decoder: Any, over: Callable[[], Awaitable[object]]) -> None:
        super().__init__(response, over)
        read = self._read(response, _AsyncCopy(self._chunks()))
        self._events: AsyncIterator[Any] = decoder.aiter_bytes(read.aiter_bytes())

    async def _chunks(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._held.append(chunk)
            yield chunk
            if not self._open:
                return

    async def settle(self) -> None:
        """Read the opening, or all where it is there."""
        try:
            async for event in self._events:
                self.watch(event)
                if self.watch.settled and not self.whole:
                    return
        except Exception as error:  # see `Tap.settle`
            self._trouble = error
        except BaseException:
            await self._stream.aclose()
            raise

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """What was held back, then the rest as it comes."""
        while self._held:
            yield self._held.popleft()
        if self._trouble is not None:
            raise self._trouble
        async for event in self._events:
            self.watch(event)
            if self.watch.ended:
                await self._tell()
            while self._held:
                yield self._held.popleft()
        while self._held:
            yield self._held.popleft()

    async def aclose(self) -> None:
        """Let go; events that have come already are still read."""
        if not self._open:
            return
        self._open = False
        try:
            with suppress(Exception):
                async for event in self._events:
                    self.watch(event)
        finally:
            await self._stream.aclose()
            await self._tell()

    async def _tell(self) -> None:
        if not self._told:
            self._told = True
            await self._over()
