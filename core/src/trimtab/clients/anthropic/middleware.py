"""The middleware: which requests go through a session, and through which one."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import httpx2
from anthropic import APIRequest, APIResponse, AsyncAPIResponse, AsyncCallNext, CallNext, Middleware

from trimtab.ask import Asker
from trimtab.clients.anthropic.breakpoints import Stored
from trimtab.clients.anthropic.call import Call
from trimtab.clients.anthropic.ways import Awaiting, Blocking, run
from trimtab.clients.identity import Chosen
from trimtab.clients.sessions import Sessions
from trimtab.profile import Profile
from trimtab.savings import Saved
from trimtab.session import Session

__all__ = ["Compaction"]

KIND = "anthropic"

_SESSION = re.compile(r"session_(?:id\W{1,5})?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.IGNORECASE)
"""How some agents name a session within ``metadata.user_id``; the rest of it names a person, who may have many."""

CALLS = 1_000
"""Calls of tools that are remembered with their session: chosen."""


class Compaction(Middleware):
    """Runs each ``POST /v1/messages`` of a client through a session: prepares, observes, recovers.

    ``Anthropic(middleware=[Compaction(profile="default")])``, or the same with `AsyncAnthropic`; calls stay as they
    are, also ``beta.messages``, ``messages.stream`` and raw responses. ``profile``, ``ask``, ``stage_tools`` and
    further ``arguments`` are those of `Session.open`. A `wrapped_session` block tells the session, else ``session``, an
    id or what finds one in a request's body (None: it does not know), else ``metadata.user_id`` where that names a
    session, else the first message of the conversation.

    Left alone are other requests (token counts, batches), those with ``thread`` or ``compaction``, those of askers, and
    all while TRIMTAB_OFF is set. Calls raise `ContextOverflow` where nothing brings a request below the window, its
    cause the provider's error where it said so. Raises `ProfileError`, `PluginError` and `TypeError` at once.
    """

    def __init__(
        self,
        profile: str | Path | Profile | None = None,
        *,
        session: Chosen = None,
        ask: Asker | None = None,
        stage_tools: bool = False,
        **arguments: Any,
    ) -> None:
        self.sessions = Sessions(profile, kind=KIND, session=session, ask=ask, stage_tools=stage_tools, **arguments)
        """All of them; ``sessions.find(id)`` gives one."""
        self._calls: OrderedDict[str, Session] = OrderedDict()
        self._stored: WeakKeyDictionary[Session, Stored] = WeakKeyDictionary()
        self._lock = threading.Lock()

    @property
    def last(self) -> Session | None:
        """The session of the newest request; in a `wrapped_session` block that one."""
        return self.sessions.last

    def saved(self) -> Saved:
        """What all sessions saved, see `Session.saved`."""
        return self.sessions.saved()

    def call_tool(self, block: Any) -> Any:
        """See `Session.call_tool`: the result of a stage's tool, in the session that the call was made in."""
        id = block.get("id") if isinstance(block, Mapping) else getattr(block, "id", None)
        session = self._calls.get(str(id))
        return session.call_tool(block) if session is not None else None

    def handle(self, request: APIRequest, call_next: CallNext) -> APIResponse[Any]:
        """One attempt of a synchronous client."""
        call = self._call(request, call_next)
        response: APIResponse[Any] = run(call.response(Blocking(call_next))) if call else call_next(request)
        return response

    async def handle_async(self, request: APIRequest, call_next: AsyncCallNext) -> AsyncAPIResponse[Any]:
        """One attempt of an asynchronous client."""
        call = self._call(request, call_next)
        response: AsyncAPIResponse[Any] = await (call.response(Awaiting(call_next)) if call else call_next(request))
        return response

    def _call(self, request: APIRequest, call_next: Any) -> Call | None:
        """What a request is to go through; None where it goes out as it is."""
        body = request.json
        if request.method.lower() != "post" or not isinstance(body, Mapping):
            return None
        if not httpx2.URL(request.url).path.endswith("/v1/messages") or body.get("thread") or body.get("compaction"):
            return None
        messages = body.get("messages")
        session = self.sessions.of(body, messages, _named(body)) if isinstance(messages, list) else None
        if session is None:
            return None
        stored = self._stored.get(session, Stored())
        return Call(request, body, session, call_next, stored, partial(self._answered, session))

    def _answered(self, session: Session, stored: Stored, answer: Mapping[str, Any]) -> None:
        """Remember what the provider has stored of a session, and that calls of tools were made in it."""
        with self._lock:
            self._stored[session] = stored
            for block in answer.get("content") or ():
                if block.get("type") == "tool_use":
                    self._calls[block["id"]] = session
            while len(self._calls) > CALLS:
                self._calls.popitem(last=False)


def _named(body: Mapping[str, Any]) -> list[str]:
    """The session that a request's metadata name."""
    metadata = body.get("metadata")
    user = metadata.get("user_id") if isinstance(metadata, Mapping) else None
    found = _SESSION.search(user) if isinstance(user, str) else None
    return [found[1]] if found else []
