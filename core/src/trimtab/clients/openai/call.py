"""One call of the caller's, through all requests that it takes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from openai._constants import RAW_RESPONSE_HEADER
from openai._models import FinalRequestOptions

from trimtab.clients.openai.endpoints import Endpoint
from trimtab.clients.sessions import Exchange, merged
from trimtab.dialects.wires import fields_or_none
from trimtab.errors import ContextOverflow

if TYPE_CHECKING:
    from trimtab.clients.openai.calls import Calls

__all__ = ["Call"]

_log = logging.getLogger("trimtab")


class Call:
    """Its requests are made here; who sends them is `trimtab.clients.openai.client`."""

    def __init__(
        self,
        owner: Calls,
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
        said = body.get("stream_options")
        asked = not isinstance(said, Mapping | None) or fields_or_none(said).get("include_usage") is not None
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
            body["stream_options"] = {**fields_or_none(body.get("stream_options")), "include_usage": True}
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

    def learned(self, answer: Any) -> None:
        """Observe an answer that the caller has already: if it was too large, the next request is smaller."""
        with suppress(ContextOverflow):
            self.overflowed(answer)

    async def alearned(self, answer: Any) -> None:
        """`learned` for event loops."""
        with suppress(ContextOverflow):
            await self.aoverflowed(answer)

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
            _log.warning("session %s: the request is left as it is: %s", self.exchange.session.id, type(error).__name__)
