"""A stream's way to the caller: its beginning is read first, for there a refusal may stand; the rest as it comes.

What says nothing yet is held back, so that another request can take this one's place unnoticed. Later the caller has
heard of the answer: a refusal reaches him, and his next request is a smaller one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from openai import APIError, AsyncStream, Stream

from trimtab.clients.openai.call import Call
from trimtab.clients.openai.endpoints import Ear
from trimtab.dialects.wires import field_of

__all__ = ["afollowed", "alistened", "followed", "listened"]


class _Heard:
    """What one stream said, and how far it was read."""

    def __init__(self, call: Call, stream: Any) -> None:
        self.ear: Ear = call.endpoint.ear()
        self.head: list[Any] = []
        """Events that were held back."""
        self.failed: Exception | None = None
        """Raised where the head ends."""
        self.observed = False
        self.events = stream._iterator
        """The stream's own; both ways to iterate over a stream of the SDK go through ``_iterator``."""
        self._request = stream.response.request
        self._hides = call.counts

    def refusal(self, event: Any) -> APIError | None:
        """Take in an event; the error that it is. One that the ear cannot read is the caller's all the same."""
        try:
            body = self.ear.hear(event)
        except Exception:
            self.ear.said = True
            return None
        if body is None:
            return None
        return APIError(str(body.get("message") or "the response failed"), self._request, body=body)

    def shown(self, event: Any) -> bool:
        """Whether it is for the caller: not the chunk that we asked for."""
        return not (self._hides and field_of(event, "usage") and not field_of(event, "choices"))


def listened(call: Call, stream: Stream[Any]) -> bool:
    """Read the beginning; whether the request is to be sent again. Raises `ContextOverflow`."""
    heard, refused = _Heard(call, stream), None
    try:
        for event in heard.events:
            heard.head.append(event)
            refused = heard.refusal(event)
            if refused or heard.ear.said:
                break
        else:
            heard.observed = True
    except Exception as error:  # raised where the caller reads so far, as the SDK does
        heard.failed = error
        refused = error if isinstance(error, APIError) else None
    try:
        again = call.recover(refused) if refused else heard.observed and call.overflowed(heard.ear.answer)
    except BaseException:
        stream.close()
        raise
    if again:
        stream.close()
        return True
    stream._iterator = _follow(call, heard)
    return False


def followed(call: Call, stream: Stream[Any]) -> Stream[Any]:
    """The same stream, observed, without a look ahead."""
    stream._iterator = _follow(call, _Heard(call, stream))
    return stream


def _follow(call: Call, heard: _Heard) -> Iterator[Any]:
    yield from filter(heard.shown, heard.head)
    if heard.failed:
        raise heard.failed
    try:
        for event in heard.events:
            if refused := heard.refusal(event):
                call.recover(refused)
            elif heard.ear.ended and not heard.observed:
                heard.observed = True
                call.learned(heard.ear.answer)
            if heard.shown(event):
                yield event
    except APIError as error:
        call.recover(error)
        raise
    if not heard.observed:
        call.learned(heard.ear.answer)


async def alistened(call: Call, stream: AsyncStream[Any]) -> bool:
    """`listened` for event loops."""
    heard, refused = _Heard(call, stream), None
    try:
        async for event in heard.events:
            heard.head.append(event)
            refused = heard.refusal(event)
            if refused or heard.ear.said:
                break
        else:
            heard.observed = True
    except Exception as error:  # raised where the caller reads so far, as the SDK does
        heard.failed = error
        refused = error if isinstance(error, APIError) else None
    try:
        again = await call.arecover(refused) if refused else heard.observed and await call.aoverflowed(heard.ear.answer)
    except BaseException:
        await stream.close()
        raise
    if again:
        await stream.close()
        return True
    stream._iterator = _afollow(call, heard)
    return False


def afollowed(call: Call, stream: AsyncStream[Any]) -> AsyncStream[Any]:
    """`followed` for event loops."""
    stream._iterator = _afollow(call, _Heard(call, stream))
    return stream


async def _afollow(call: Call, heard: _Heard) -> AsyncIterator[Any]:
    for event in filter(heard.shown, heard.head):
        yield event
    if heard.failed:
        raise heard.failed
    try:
        async for event in heard.events:
            if refused := heard.refusal(event):
                await call.arecover(refused)
            elif heard.ear.ended and not heard.observed:
                heard.observed = True
                await call.alearned(heard.ear.answer)
            if heard.shown(event):
                yield event
    except APIError as error:
        await call.arecover(error)
        raise
    if not heard.observed:
        await call.alearned(heard.ear.answer)
