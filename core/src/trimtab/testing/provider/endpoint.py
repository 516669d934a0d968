"""One HTTP request of any of the APIs: what came, what goes back, and the limits that need no look inside."""

from __future__ import annotations

import json
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from trimtab.testing.provider.script import Cut, Fail
from trimtab.testing.provider.served import Billed

__all__ = ["Asked", "Event", "Given", "Refused", "Wire", "broken", "read", "sse"]

Event = Mapping[str, Any]
"""The JSON of one server-sent event."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came. ``headers`` have lower-case names; ``started`` is the provider's clock, epoch seconds."""

    api: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    started: float

    def named(self, name: str) -> str:
        """A parameter of the path or the query; empty if there is none."""
        return self.query.get(name, "")


@dataclass(frozen=True, slots=True)
class Given:
    """An answer: its JSON, and, where it is to be streamed, its events."""

    body: Mapping[str, Any]
    usage: Mapping[str, Any] | None = None
    billed: Billed = field(default_factory=Billed)
    frames: Sequence[bytes] | None = None
    """The events, as they go over the wire; None: ``body`` is sent as JSON."""
    cut: Cut | None = None


class Refused(Exception):  # noqa: N818  (an answer of the server's, not a fault of its own)
    """An HTTP error; the API that raises it gives it its vendor's body. ``where`` is a path or a parameter's name."""

    def __init__(
        self,
        status: int,
        message: str,
        type: str = "invalid_request_error",
        *,
        code: str | None = None,
        where: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.type, self.code, self.where = status, message, type, code, where
        self.headers = dict(headers or {})

    @classmethod
    def by(cls, fail: Fail) -> Refused:
        """What a script wants to fail."""
        return cls(fail.status, fail.message, fail.type, code=fail.code, headers=fail.headers)


def sse(data: Event | str, event: str | None = None) -> bytes:
    """One server-sent event; ``event`` is its name where the API gives one."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return (f"event: {event}\n" if event else "").encode() + b"data: " + text.encode() + b"\n\n"


@dataclass(frozen=True, slots=True)
class Wire:
    """An ASGI response: whole, streamed, or broken off by closing the connection before its end."""

    status: int
    headers: Mapping[str, str]
    chunks: Sequence[bytes]
    broken: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        headers = [(name.lower().encode(), value.encode()) for name, value in self.headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        for chunk in self.chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        if not self.broken:  # else the server closes the connection: a response without an end
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def read(request: Request, limit: int) -> dict[str, Any]:
    """The body's JSON object, {} for no body; raises `Refused` above ``limit`` bytes and for anything else."""
    data = await request.body()
    if len(data) > limit:
        raise Refused(413, "Request exceeds the maximum size", "request_too_large")
    try:
        body = json.loads(data) if data else {}
    except ValueError as error:
        raise Refused(400, f"The request body is not valid JSON: {error}") from None
    if not isinstance(body, dict):
        raise Refused(400, "The request body is not a JSON object.")
    return body


def broken(error: Exception) -> Refused:
    """What a fault of the script's, or of our own, is answered with: no client should send such a request again."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    message = f"the script or the provider failed: {type(error).__name__}: {error} ({place.filename}:{place.lineno})"
    return Refused(500, message, "api_error", headers={"x-should-retry": "false"})
