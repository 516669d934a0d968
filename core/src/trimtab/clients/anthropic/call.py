"""One attempt of the SDK to get an answer, through all requests that it takes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from anthropic import APIRequest

from trimtab.clients.anthropic.betas import asked, asking_for
from trimtab.clients.anthropic.breakpoints import Stored, ends_of, has_breakpoints, with_breakpoints
from trimtab.clients.anthropic.ways import Way
from trimtab.clients.sessions import Exchange, merged
from trimtab.dialects.anthropic.features import HEADERS
from trimtab.dialects.wires import fields_or_none
from trimtab.errors import ContextOverflow
from trimtab.session import Session

__all__ = ["Call"]

_log = logging.getLogger("trimtab")


class Call:
    """``answered`` is told what is stored after it, and the answer; ``stored`` is what was so told before."""

    def __init__(
        self,
        request: APIRequest,
        body: Mapping[str, Any],
        session: Session,
        call_next: Any,
        stored: Stored,
        answered: Callable[[Stored, Mapping[str, Any]], None],
    ) -> None:
        self._request = request
        self._body = body
        self._session = session
        self._stored = self._storing = stored
        self._answered = answered
        self._betas = asked(request.headers, call_next)
        rest = {key: value for key, value in body.items() if key not in ("messages", "system", "tools")}
        parameters = {**rest, **({"betas": self._betas} if self._betas else {})}
        self._exchange = Exchange(session, body["messages"], body.get("system"), body.get("tools"), parameters)
        self._parameters = parameters
        self._ours = session.profile.provider.cache.breakpoints and not has_breakpoints(body)
        self._over = False
        """Whether nothing more is to be learned from the answer at hand."""

    async def response(self, way: Way) -> Any:
        """The SDK's response to the request as it is prepared; raises `ContextOverflow`.

        A refusal that a smaller request would not help is the caller's, as the provider made it.
        """
        try:
            await way.prepare(self._exchange)
            request = self._made()
        except ContextOverflow:
            raise
        except Exception as error:
            self._failed("a request goes out as it is", error)
            return await way.send(self._request)
        while True:
            self._over = False
            response = await way.send(request)
            said = await self._refusal(way, response)
            if said is None:
                return response
            self._over = True
            try:
                smaller = await self._smaller(way, said, request)
            except ContextOverflow as overflow:
                await way.close(response.http_response)
                raise overflow from (said if isinstance(said, BaseException) else None)
            if smaller is None:
                return response
            await way.close(response.http_response)
            request = smaller

    def _made(self) -> APIRequest:
        """The caller's request with what was prepared."""
        made = self._exchange.request
        assert made is not None
        extra, thinks = dict(made.extra), fields_or_none(self._body.get("thinking")).get("type")
        if thinks in (None, "disabled") and extra.pop("thinking", None):  # then nothing can be added
            extra["betas"] = [one for one in extra["betas"] if one != HEADERS["drop_block"]]
        body = merged(self._parameters, extra) | {"messages": made.messages}
        for name, part in (("system", made.system), ("tools", made.tools)):
            if part is not None or name in self._body:
                body[name] = part
        betas = body.pop("betas", [])
        if _summarised(made.messages) and HEADERS["compaction"] not in betas:
            betas = [*betas, HEADERS["compaction"]]
        if self._ours:
            keys = made.report.keys if len(made.report.keys) == len(made.messages) + 1 else ()
            held = self._stored.held(keys)
            ends = ends_of(made.messages, max(held, default=0))
            self._storing = Stored(keys, {*held, *ends})
            body = with_breakpoints(body, ttl=self._session.provider.ttl, ends=ends)
        if betas == self._betas:
            return self._request.copy(body=body)
        return self._request.copy(body=body, headers=asking_for(self._request.headers, betas))

    async def _refusal(self, way: Way, response: Any) -> Any:
        """The provider's error, or an answer that is none for want of room; None for any other answer."""
        http = getattr(response, "http_response", None)
        if http is None:  # another middleware made a value of it
            return None
        if not http.is_success:
            await way.read(http)
            return response._client._make_status_error_from_response(http)
        if self._request.stream:
            return await self._streamed(way, response)
        await way.read(http)
        try:
            answer = http.json()
        except ValueError:
            return None
        return answer if await self._overflowed(way, answer) else None

    async def _streamed(self, way: Way, response: Any) -> Any:
        http, client = response.http_response, response._client

        async def over() -> None:
            if not self._over and tap.watch.answer is not None and await self._overflowed(way, tap.watch.answer):
                with suppress(ContextOverflow):  # the answer is the caller's; the next request is to fit
                    await self._smaller(way, tap.watch.answer, None)

        tap = await way.tap(http, client._make_sse_decoder(), over)
        if tap.watch.error is not None:
            return client._make_status_error(str(tap.watch.error), body=tap.watch.error, response=http)
        answer = tap.watch.answer or {}
        if not tap.watch.empty or not answer.get("stop_reason"):
            if tap.whole:
                await over()
            return None
        overflowed = await self._overflowed(way, answer)
        self._over = True
        return answer if overflowed else None

    async def _overflowed(self, way: Way, answer: Any) -> bool:
        """What `Session.observe` says."""
        try:
            if isinstance(answer, Mapping):
                self._answered(self._storing, answer)
            return await way.observe(self._exchange, answer)
        except Exception as error:
            self._failed("an answer could not be observed", error)
            return False

    async def _smaller(self, way: Way, said: Any, sent: APIRequest | None) -> APIRequest | None:
        """The request to send instead of ``sent``, if there is one; raises `ContextOverflow`.

        What a recovery asks for may be nothing that this request can say: then there is a second one.
        """
        try:
            for _ in range(2):
                await way.recover(self._exchange, said)
                made = self._made()
                if sent is None or (made.json, made.headers) != (sent.json, sent.headers):
                    return made
            return None
        except ContextOverflow:
            raise
        except Exception as error:
            if error is not said:
                self._failed("a refusal could not be recovered from", error)
            return None

    def _failed(self, what: str, error: Exception) -> None:
        """Log it; raise it where the profile is strict."""
        if self._session.profile.strict:
            raise error
        _log.warning("session %s: %s: %s", self._session.id, what, type(error).__name__)


def _summarised(messages: list[Any]) -> bool:
    """Whether they begin with a summary that the provider made on demand: other ones carry no signature."""
    content = fields_or_none(messages[0]).get("content")
    first = fields_or_none(content[0]) if isinstance(content, list) and content else {}
    return first.get("type") == "compaction" and bool(first.get("signature"))
