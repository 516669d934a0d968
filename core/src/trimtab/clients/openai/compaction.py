"""What is common to all calls of a client: which of them go through a session, and through which one."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from openai import Omit
from openai._models import FinalRequestOptions

from trimtab.ask import asking
from trimtab.clients.identity import Chosen, identify
from trimtab.clients.openai.call import Call
from trimtab.clients.openai.endpoints import ENDPOINTS
from trimtab.clients.sessions import Exchange, Sessions, derived
from trimtab.engine import OFF
from trimtab.errors import told
from trimtab.profile import Profile
from trimtab.session import Session

__all__ = ["Compaction"]

CONVERSATION = ("input", "instructions", "messages", "tools")
"""The fields of a request that a session is told beside its parameters."""

_log = logging.getLogger("trimtab")


class Compaction:
    """What the calls of one client share, also of its copies: the sessions, and what the server was seen to refuse."""

    def __init__(self, profile: str | Path | Profile | None, session: Chosen, arguments: Mapping[str, Any]) -> None:
        kinds = [endpoint.kind for endpoint in ENDPOINTS.values()]
        self.sessions = {kind: Sessions(profile, kind=kind, **arguments) for kind in kinds}
        self.last: Session | None = None
        """The one of the newest call."""
        self.counts = True
        """Whether streams may be asked to tell their usage: until the server refuses it."""
        self._chosen = session

    def call(self, options: FinalRequestOptions, stream: bool) -> Call | None:
        """The call that these options make; None where it is to go out as it is."""
        endpoint = ENDPOINTS.get(options.url.partition("?")[0]) if options.method.lower() == "post" else None
        off = os.environ.get("TRIMTAB_OFF", "").lower() not in OFF
        if endpoint is None or off or asking.get() is not None:
            return None
        if not isinstance(options.json_data, Mapping):
            return None
        body = {**options.json_data, **(options.extra_json or {})}
        body = {key: value for key, value in body.items() if not isinstance(value, Omit)}
        messages, system = endpoint.conversation(body)
        if not isinstance(messages, list | tuple) or not messages:
            return None
        try:
            id = identify(self._chosen, body, _names(body)) or derived(endpoint.kind, messages)
            session = self.sessions[endpoint.kind].get(id, str(body.get("model") or "")) if id else None
        except Exception as error:  # a store that cannot be opened must not cost the agent its request
            if self.sessions[endpoint.kind].strict:
                raise
            _log.warning("a request goes out as it is: its session cannot be opened: %s", told(error))
            return None
        if session is None:
            return None
        self.last = session
        rest = {key: value for key, value in body.items() if key not in CONVERSATION}
        exchange = Exchange(session, messages, system, body.get("tools"), rest)
        return Call(self, endpoint, options, body, exchange, stream)


def _names(body: Mapping[str, Any]) -> list[Any]:
    """What in a request may name its session."""
    metadata = body.get("metadata")
    named = metadata if isinstance(metadata, Mapping) else {}
    return [named.get("session_id"), named.get("conversation_id")]
