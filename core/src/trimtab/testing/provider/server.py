"""The server: a thread, a socket of its own, and one log of all that was asked."""

from __future__ import annotations

import json
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from math import ceil
from types import TracebackType
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from trimtab.testing.provider.cache import Entries
from trimtab.testing.provider.clock import Clock, Rate
from trimtab.testing.provider.endpoint import Asked, Given, Refused, Wire, broken, read, sse
from trimtab.testing.provider.script import COMPACT, Fail, Player, Reply, Script
from trimtab.testing.provider.served import Billed, Served, billed
from trimtab.testing.provider.settings import Settings
from trimtab.testing.provider.thread import Thread
from trimtab.testing.provider.tokens import Tokens

__all__ = ["FakeProvider"]

METHODS = ["DELETE", "GET", "PATCH", "POST", "PUT"]
JSON = {"content-type": "application/json"}
STREAM = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}

Handler = Callable[[Asked], Awaitable[Given]]
ErrorBody = Callable[[Refused, str], Mapping[str, Any]]
"""From a refusal and the request's id to the vendor's error body."""


class FakeProvider:
    """A provider on 127.0.0.1 that answers by script and keeps the vendors' rules.

    ``script``: None echoes; a list of answers is given in order, then echo; a callable gets a `Call` and returns an
    answer (it runs in the server's thread, one call at a time, and may not call the provider itself; one that raises is
    a 500). Use it as a context manager, or `start` and `close` it.
    ``port`` 0 takes a free one. Raises OSError where the port cannot be had.
    """

    def __init__(self, script: Script = None, settings: Settings | None = None, *, port: int = 0) -> None:
        self.settings = settings or Settings()
        self.clock = Clock()
        self.tokens = Tokens(self.settings)
        self.entries = Entries()
        """What is cached, for all APIs."""
        self.served: list[Served] = []
        self.log: Callable[[Served], None] = lambda served: None
        """Called with each request once it is answered."""
        self._player = Player(script)
        self._port = port
        self._requests = 0
        self._rate = Rate(self.settings.rate_limit)
        self._server: Thread | None = None

    @property
    def url(self) -> str:
        """Where it listens, without a path: the ``base_url`` of an Anthropic client; OpenAI's has ``/v1`` behind it."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def refused(self) -> list[Served]:
        """Requests that were answered 400 or 413."""
        return [served for served in self.served if served.status in (400, 413)]

    @property
    def billed(self) -> Billed:
        """Tokens of all answered requests."""
        return billed(self.served)

    def reply(self, asked: Asked, text: str, results: Sequence[str] = (), *, compacting: bool = False) -> Reply:
        """The script's answer to a request that keeps all rules; raises `Refused` where the script wants a failure.

        ``text`` and ``results`` are those of `Call`. ``compacting``: the answer is a summary of the conversation.
        """
        reply = self._player.next(COMPACT if compacting else asked.api, asked.body, text, results)
        if isinstance(reply, Fail):
            raise Refused.by(reply)
        return reply

    @property
    def number(self) -> int:
        """How many requests got an answer so far: the seed of all ids."""
        return self._player.answered

    def endpoint(self, api: str, handle: Handler, body: ErrorBody) -> Callable[[Request], Awaitable[Wire]]:
        """An HTTP endpoint around ``handle``: reading, limits, the log, and ``body`` for whatever it refuses."""

        async def serve(request: Request) -> Wire:
            self._requests += 1
            id = f"req_{self._requests:06d}"
            headers = {name.lower(): value for name, value in request.headers.items()}
            served = Served(api, request.url.path, {}, headers, self.clock.now())
            self.served.append(served)
            try:
                wire = await self._answered(request, served, handle, lambda refused: body(refused, id))
            except Exception as error:
                refused = error if isinstance(error, Refused) else broken(error)
                served.status, served.error = refused.status, body(refused, id)
                wire = Wire(refused.status, JSON | refused.headers, [json.dumps(served.error).encode()])
            self.log(served)
            return replace(wire, headers={"request-id": id, "x-request-id": id, **wire.headers})

        return serve

    async def _answered(
        self, request: Request, served: Served, handle: Handler, body: Callable[[Refused], Mapping[str, Any]]
    ) -> Wire:
        if wait := self._rate.wait(served.started):
            message = f"This request would exceed the rate limit of {self.settings.rate_limit} requests per minute."
            raise Refused(429, message, "rate_limit_error", headers={"retry-after": str(ceil(wait))})
        served.body = await read(request, self.settings.bytes_limit)
        query = dict(request.query_params) | request.path_params
        given = await handle(Asked(served.api, served.path, query, served.headers, served.body, served.started))
        cut = given.cut
        if given.frames is None and cut and cut.error:
            raise Refused.by(cut.error)
        served.status, served.usage, served.response, served.billed = 200, given.usage, given.body, given.billed
        if given.frames is None:
            data = json.dumps(given.body, ensure_ascii=False).encode()
            return Wire(200, JSON, [data[: len(data) // 2] if cut else data], broken=cut is not None)
        frames = list(given.frames[: cut.after] if cut else given.frames)
        if cut and cut.error:
            served.error = body(Refused.by(cut.error))
            frames.append(sse(served.error, "error"))
        return Wire(200, STREAM, frames, broken=cut is not None and cut.error is None)

    def start(self) -> FakeProvider:
        """Listen; returns itself."""
        # These import this module. The first lets pass what an Anthropic client sends to a path of both.
        from trimtab.testing.provider import messages, openai
        from trimtab.testing.provider.messages.errors import body

        routes = [*openai.routes(self), *messages.routes(self)]
        routes.append(Route("/{path:path}", self.endpoint("unknown", _unknown(routes), body), methods=METHODS))
        # Named as TCP, or asyncio would not send at once what is written in pieces.
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(("127.0.0.1", self._port))
        except OSError:
            listening.close()
            raise
        self._port = listening.getsockname()[1]
        self._server = Thread(Starlette(routes=routes), listening)
        return self

    def close(self) -> None:
        """Stop listening and drop all connections; what was served stays readable."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def __enter__(self) -> FakeProvider:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _unknown(routes: Sequence[Route]) -> Handler:
    """Answers what is sent to a path that there is not."""
    paths = sorted({route.path for route in routes})

    async def handle(asked: Asked) -> Given:
        near = get_close_matches(asked.path, paths, 1, 0.5)
        meant = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(paths)}"
        advice = "Anthropic's base URL ends without /v1, OpenAI's with it"
        raise Refused(404, f"no such path {asked.path}{meant} ({advice})", "not_found_error")

    return handle
