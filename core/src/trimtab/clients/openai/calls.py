"""What is common to all calls of a client: which of them go through a session, and through which one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from openai import Omit
from openai._models import FinalRequestOptions

from trimtab.clients.identity import Chosen, wrapped
from trimtab.clients.openai.call import Call
from trimtab.clients.openai.endpoints import ENDPOINTS
from trimtab.clients.sessions import Exchange, Sessions
from trimtab.errors import Unknown
from trimtab.profile import Profile
from trimtab.savings import Saved
from trimtab.session import Session

__all__ = ["Calls"]

CONVERSATION = ("input", "instructions", "messages", "tools")
"""The fields of a request that a session is told beside its parameters."""


class Calls:
    """What the calls of one client share, also of its copies: the sessions, and what the server was seen to refuse."""

    def __init__(self, profile: str | Path | Profile | None, session: Chosen, arguments: Mapping[str, Any]) -> None:
        kinds = [endpoint.kind for endpoint in ENDPOINTS.values()]
        self.sessions = {kind: Sessions(profile, kind=kind, session=session, **arguments) for kind in kinds}
        self.newest: Sessions | None = None
        """Those that the newest call went to."""
        self.counts = True
        """Whether streams may be asked to tell their usage: until the server refuses it."""

    def call(self, options: FinalRequestOptions, stream: bool) -> Call | None:
        """The call that these options make; None where it is to go out as it is."""
        endpoint = ENDPOINTS.get(options.url.partition("?")[0]) if options.method.lower() == "post" else None
        if endpoint is None or not isinstance(options.json_data, Mapping):
            return None
        body = {**options.json_data, **(options.extra_json or {})}
        body = {key: value for key, value in body.items() if not isinstance(value, Omit)}
        messages, system = endpoint.conversation(body)
        sessions = self.sessions[endpoint.kind]
        session = sessions.of(body, messages, _names(body)) if isinstance(messages, list | tuple) else None
        if session is None:
            return None
        self.newest = sessions
        rest = {key: value for key, value in body.items() if key not in CONVERSATION}
        exchange = Exchange(session, messages, system, body.get("tools"), rest)
        return Call(self, endpoint, options, body, exchange, stream)

    def session(self, id: str = "") -> Session:
        """See `session_of`."""
        id = id or wrapped() or ""
        if not id and self.newest is not None and (last := self.newest.last) is not None:
            return last
        found = (sessions.find(id) for sessions in self.sessions.values()) if id else iter(())
        session = next((one for one in found if one is not None), None)
        if session is None:
            raise Unknown(f"no open session {id!r}" if id else "no request went through a session yet (TRIMTAB_OFF?)")
        return session

    def saved(self) -> Saved:
        """What all sessions saved."""
        return sum((sessions.saved() for sessions in self.sessions.values()), Saved())


def _names(body: Mapping[str, Any]) -> list[Any]:
    """What in a request may name its session."""
    metadata = body.get("metadata")
    named = metadata if isinstance(metadata, Mapping) else {}
    return [named.get("session_id"), named.get("conversation_id")]
