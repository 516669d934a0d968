"""What a provider's answer or refusal teaches a session, and the smaller request after a refusal (R16)."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from typing import Any

from trimtab.ask import Ask
from trimtab.background import Job
from trimtab.dialect import Usage
from trimtab.edits import REFUSED
from trimtab.engine import Engine
from trimtab.errors import ContextOverflow, Overflow, TrimtabError, Unknown
from trimtab.provider import family_factor
from trimtab.recovery import SANE, refusal_of, sized
from trimtab.request import Request
from trimtab.values import SMALLEST

__all__ = ["Answers"]


class Answers(Engine):
    """The steps after a request."""

    def _recover(self, error: Any, refused: Request | None) -> Generator[Ask, Any, Request]:
        if self._last is None:
            raise Unknown(f"session {self.id!r} has prepared no request yet")
        if refused is not None and refused is not self.request:  # others were prepared since
            if isinstance(error, BaseException) and self.dialect.refusal(error) is None:
                raise error
            anew = yield from self._prepare(refused.given.again())
            if sum(anew.report.weights[1:]) < sum(refused.report.weights[1:]) or anew.extra != refused.extra:
                return anew  # what the error says is not true of it
        refusal = refusal_of(self.view, error) if not self._raw and self.projection is not None else None
        if refusal is None or self.projection is None:
            raise error if isinstance(error, BaseException) else TrimtabError("a smaller request would not help here")
        view, notes = self.view, tuple[tuple[str, str, Any], ...]()
        self.cache.refused()
        if refusal.kind == "thinking":
            return (yield from self._unbound(error))
        if refusal.kind == "feature":
            self.context.features -= {refusal.feature}  # also where it cannot be noted
            notes = ((refusal.feature, REFUSED, True),)
            request = yield from self._prepare(self._last.again(unbind=refusal.feature == "drop_block", notes=notes))
            request.report.warnings.append(
                f"{refusal.feature} was refused, so it is off for this session; compact() switches it on again"
            )
            return request
        tokens, limit = view.tokens, float(view.window.window)
        if refusal.kind != "bytes":
            tokens, limit = sized(view, refusal)
            self.meter.observe(self.projection.path[-1].id, view.raw, tokens, view.on)
            if refusal.kind == "tokens":
                self._narrow(limit)
            if refusal.limit and SMALLEST <= limit < self.provider.window:
                notes = (("window", self._limit, limit),)
        overflow = Overflow(tokens, limit, bytes=refusal.kind == "bytes")
        try:
            return (yield from self._prepare(self._last.again("overflow", overflow=overflow, notes=notes)))
        except ContextOverflow:
            if refusal.kind != "bytes":
                self.meter.forget()  # what was told may be wrong: a later request must get its chance
            raise

    def _unbound(self, error: Any) -> Generator[Ask, Any, Request]:
        """Without the thinking that the provider refused; raises the error where that changes nothing."""
        assert self._last is not None
        assert self.request is not None
        keys, extra = self.request.report.keys, self.request.extra
        request = yield from self._prepare(self._last.again(unbind=True))
        if (request.report.keys, request.extra) == (keys, extra):
            raise error if isinstance(error, BaseException) else TrimtabError("the thinking was refused")
        request.report.warnings.append("the provider refused thinking, so it is left out from now on")
        return request

    def _observe(self, response: Any, answered: Request | None) -> tuple[bool, list[Job]]:
        other = answered if answered is not self.request else None
        if self.projection is None or not (other or self._prepared):
            return False, []
        view = self.view
        try:
            usage = response if isinstance(response, Usage) else self.dialect.usage(response)
        except Exception:  # whatever a response is, the agent goes on with it
            usage = None
        if usage is not None and not 0 < usage.total <= SANE * self.provider.window:
            usage = None
        if other is not None:  # that says nothing of the request that stages see now
            if usage is not None and other.said:
                self._count(other, usage)
            return False, []
        if usage is not None and self.window.window < usage.seen <= self.provider.window:
            self._sized(self.provider.window)  # it takes more than was believed
        refusal = refusal_of(view, response)
        if refusal is not None and refusal.kind == "tokens":
            return True, []
        if usage is not None:
            self.meter.family = family_factor(usage.model) or self.meter.family
            self.meter.observe(self.projection.path[-1].id, view.raw, usage.seen, view.on)
            self.context.cleared = usage.cleared
            if usage.split:
                self.cache.correct(usage.read + usage.written, usage.total)
            assert self.request is not None
            self._count(self.request, usage)
        return False, self.background.begin()

    def _count(self, request: Request, usage: Usage) -> None:
        """Add an answered request to what was sent and saved, and tell whoever watches."""
        report, said = request.report, [message.tokens for message in request.said]
        more = usage.total / max(sum(report.weights), 1) * (sum(said) - sum(report.weights[1:]))
        whole, raw = max(usage.total, usage.total + usage.cleared + more), report.weights[0] + sum(said)
        weights = [whole * weight / max(raw, 1) for weight in (report.weights[0], *said)]
        edited = usage.split and any(not one.free for one in report.decisions)  # then what was read is our own doing
        held = 0.0 if edited else usage.total * sum(report.weights[: report.held]) / max(sum(report.weights), 1)
        keys = [report.keys[0], *(message.id for message in request.said)]
        self.context.savings.request(usage, held, keys, weights, self.window.window, self.context.now)
        with suppress(Exception):  # whoever watches does not stop the agent
            self._telemetry.observed(self, usage)
