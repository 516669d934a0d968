"""One call of the caller's, through all requests that it takes; and what is common to all calls of a client."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from openai import Omit
from openai._constants import RAW_RESPONSE_HEADER
from openai._models import FinalRequestOptions

from trimtab.ask import asking
from trimtab.clients.identity import Chosen, identify
from trimtab.clients.openai.endpoints import ENDPOINTS, Endpoint
from trimtab.clients.sessions import Exchange, Sessions, derived, merged
from trimtab.engine import OFF
from trimtab.errors import ContextOverflow, told
from trimtab.profile import Profile
from trimtab.session import Session

__all__ = ["Call", "Compaction"]

CONVERSATION = ("input", "instructions", "messages", "tools")
"""The fields of a request that a session is told beside its parameters."""

_log = logging.getLogger("trimtab")


class Compaction:
    """What the calls of one client share, also of its copies: the sessions, and what the server was seen to refuse."""

    def __init__(self, profile: str | Path | Profile | None, session: Chosen, arguments: Mapping[str, Any]) -> None:
        kinds = [endpoint.kind for endpoint in ENDPOINTS.values()]
        if isinstance(profile, Profile):  # that is for one of them only
            kinds = [profile.provider.kind]
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
        if endpoint is None or endpoint.kind not in self.sessions or off or asking.get() is not None:
            return None
        if not isinstance(options.json_data, Mapping):
            return None
        body = {**options.json_data, **(options.extra_json or {})}
        body = {key: value for key, value in body.items() if not isinstance(value, Omit)}
        messages, system = endpoint.conversation(body)
        if not isinstance(messages, list) or not messages:
            return None
        try:
            id = identify(self._chosen, body, _names(body)) or derived(endpoint.kind, messages)
            session = self.sessions[endpoint.kind].get(id, str(body.get("model") or "")) if id else None
        except Exception as error:  # a store that cannot be opened must not cost the agent its request
            _log.warning("a request goes out as it is: its session cannot be opened: %s", told(error))
            return None
        if session is None:
            return None
        self.last = session
        rest = {key: value for key, value in options.json_data.items() if key not in CONVERSATION}
        if options.extra_json:
            rest["extra_body"] = options.extra_json  # as the SDK's methods take it, for askers
        exchange = Exchange(session, messages, system, body.get("tools"), rest)
        return Call(self, endpoint, options, body, exchange, stream)


class Call:
    """Its requests are made here; who sends them is `trimtab.clients.openai.client`."""

    def __init__(
        self,
        owner: Compaction,
        endpoint: Endpoint,
        options: FinalRequestOptions,
        body: Mapping[str, Any],
        exchange: Exchange,
        stream: bool,
    ) -> None:
        self.endpoint = endpoint
        self.exchange = exchange
        self.stream = stream
        headers = options.headers if isinstance(options.headers, Mapping) else {}
        self.raw = bool(headers.get(RAW_RESPONSE_HEADER))
        """Whether the caller gets the HTTP response: its bytes are his, then nothing is added to a stream."""
        self._owner = owner
        self._options = options
        self._body = body
        asked = (body.get("stream_options") or {}).get("include_usage") is not None
        self.counts = stream and not self.raw and not asked and endpoint.uncounted and owner.counts
        """Whether we ask a stream for its usage, and hide the chunk that tells it."""

    def options(self, follow: Callable[[Any], Any]) -> FinalRequestOptions:
        """The caller's, with the request as it was prepared last; a raw stream goes through ``follow`` once parsed."""
        request = self.exchange.request
        assert request is not None
        body = merged(self._body, request.extra) | self.endpoint.changes(self._body, request)
        if request.tools is not None:
            body["tools"] = request.tools
        if self.counts:
            body["stream_options"] = {**(body.get("stream_options") or {}), "include_usage": True}
        parser = {"post_parser": follow} if self.raw and self.stream else {}
        return self._options.model_copy(update={"json_data": body, "extra_json": None, **parser})

    def prepare(self) -> bool:
        """Whether there is a request of ours to send; raises `ContextOverflow`."""
        with self._guarded():
            self.exchange.prepare()
            return True
        return False

    async def aprepare(self) -> bool:
        """`prepare` for event loops."""
        with self._guarded():
            await self.exchange.aprepare()
            return True
        return False

    def recover(self, error: Exception) -> bool:
        """Whether there is another request to send after an error; raises `ContextOverflow`, from that."""
        if self._uncounted(error):
            return True
        with self._guarded(error):
            self.exchange.recover(error)
            return True
        return False

    async def arecover(self, error: Exception) -> bool:
        """`recover` for event loops."""
        if self._uncounted(error):
            return True
        with self._guarded(error):
            await self.exchange.arecover(error)
            return True
        return False

    def overflowed(self, answer: Any) -> bool:
        """Observe an answer; whether it is none and there is another request to send. Raises `ContextOverflow`."""
        with self._guarded():
            if self.exchange.observe(answer):
                self.exchange.recover(answer)
                return True
        return False

    async def aoverflowed(self, answer: Any) -> bool:
        """`overflowed` for event loops."""
        with self._guarded():
            if await self.exchange.aobserve(answer):
                await self.exchange.arecover(answer)
                return True
        return False

    def _uncounted(self, error: Exception) -> bool:
        """Whether the server refused to tell the usage of a stream: then it is never asked again."""
        if not self.counts or getattr(error, "status_code", 0) not in (400, 422):
            return False
        if "stream_options" not in f"{error} {getattr(error, 'body', '')}":
            return False
        self.counts = self._owner.counts = False
        return True

    @contextmanager
    def _guarded(self, said: Exception | None = None) -> Iterator[None]:
        """Let no trouble of ours through but `ContextOverflow`, from what the provider ``said``; ``strict`` does."""
        try:
            yield
        except ContextOverflow as overflow:
            if said is None:
                raise
            raise overflow from said
        except Exception as error:
            if error is said:
                return
            if self.exchange.session.profile.strict:
                raise
            _log.warning("session %s: the request is left as it is: %s", self.exchange.session.id, told(error))


def _names(body: Mapping[str, Any]) -> list[Any]:
    """What in a request may name its session."""
    metadata = body.get("metadata")
    named = metadata if isinstance(metadata, Mapping) else {}
    return [named.get("session_id"), named.get("conversation_id"), body.get("prompt_cache_key")]
