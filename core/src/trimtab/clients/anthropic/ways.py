"""What differs between the SDK's two clients, so that one coroutine serves both: `run` takes the synchronous one's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import httpx2

from trimtab.clients.anthropic.stream import AsyncTap, Tap
from trimtab.clients.sessions import Exchange

__all__ = ["Awaiting", "Blocking", "Way", "run"]

T = TypeVar("T")


def run(steps: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that goes the `Blocking` way, and so never waits."""
    try:
        steps.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    raise AssertionError("it waits for something")


class Blocking:
    """The way of `anthropic.Anthropic`; ``send`` makes one attempt."""

    def __init__(self, send: Callable[[Any], Any]) -> None:
        self._send = send

    async def send(self, request: Any) -> Any:
        """The SDK's response."""
        return self._send(request)

    async def prepare(self, exchange: Exchange) -> None:
        """See `Exchange.prepare`."""
        exchange.prepare()

    async def observe(self, exchange: Exchange, answer: Any) -> bool:
        """See `Exchange.observe`."""
        return exchange.observe(answer)

    async def recover(self, exchange: Exchange, said: Any) -> None:
        """See `Exchange.recover`."""
        exchange.recover(said)

    async def read(self, response: httpx2.Response) -> None:
        """Read the body; the caller can still do so."""
        response.read()

    async def close(self, response: httpx2.Response) -> None:
        """Let go of the connection."""
        response.close()

    async def tap(
        self, response: httpx2.Response, decoder: Any, over: Callable[[], Coroutine[Any, Any, None]]
    ) -> Tap | AsyncTap:
        """The stream with its opening read."""
        tap = Tap(response, decoder, lambda: run(over()))
        tap.settle()
        return tap


class Awaiting:
    """The way of `anthropic.AsyncAnthropic`."""

    def __init__(self, send: Callable[[Any], Awaitable[Any]]) -> None:
        self._send = send

    async def send(self, request: Any) -> Any:
        """See `Blocking.send`."""
        return await self._send(request)

    async def prepare(self, exchange: Exchange) -> None:
        """See `Blocking.prepare`."""
        await exchange.aprepare()

    async def observe(self, exchange: Exchange, answer: Any) -> bool:
        """See `Blocking.observe`."""
        return await exchange.aobserve(answer)

    async def recover(self, exchange: Exchange, said: Any) -> None:
        """See `Blocking.recover`."""
        await exchange.arecover(said)

    async def read(self, response: httpx2.Response) -> None:
        """See `Blocking.read`."""
        await response.aread()

    async def close(self, response: httpx2.Response) -> None:
        """See `Blocking.close`."""
        await response.aclose()

    async def tap(
        self, response: httpx2.Response, decoder: Any, over: Callable[[], Coroutine[Any, Any, None]]
    ) -> Tap | AsyncTap:
        """See `Blocking.tap`."""
        tap = AsyncTap(response, decoder, over)
        await tap.settle()
        return tap


Way = Blocking | Awaiting
