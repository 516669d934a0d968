"""What the provider's refusal of a request means: how large it may be, or what to leave out (R16, H50–H52)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trimtab.dialect import Refusal, Usage
from trimtab.view import View

__all__ = ["LIMIT", "SANE", "refusal_of", "sized"]

LIMIT = "limit"
"""The kernel's note of the most tokens that the provider takes, where that is less than its window."""

NEAR = 0.8
"""Share of the window from which an empty answer, or a bad request in words that nobody knows, may be an overflow
(H51, H52): chosen."""

SANE = 10
"""Windows; a size above that many, told of a request, says nothing about it: chosen."""


def refusal_of(view: View, said: Any) -> Refusal | None:
    """What an error or a response says of the request that ``view`` shows; None where a smaller one would not help."""
    try:
        usage, refusal = _read(view, said)
    except Exception:  # whatever it is, its text included: not ours to understand
        return None
    window = view.window.window
    if usage is not None and window < usage.seen <= SANE * window:
        return Refusal("tokens", usage.seen, window)
    fields = said if isinstance(said, Mapping) else getattr(said, "__dict__", {})
    answer = usage is not None or not {"choices", "stop_reason"}.isdisjoint(fields)
    unsized = refusal is not None and not (refusal.tokens or refusal.limit)
    if refusal is None or (unsized and (answer or refusal.kind == "unknown") and view.tokens < NEAR * window):
        return None
    if refusal.kind == "feature" and not view.offers(refusal.feature) and refusal.feature not in _shown(view):
        return None
    most = SANE * window
    tokens = refusal.tokens if 0 < refusal.tokens <= most else 0.0
    limit = refusal.limit if 0 < refusal.limit <= most else 0.0
    told = not 0 < refusal.tokens <= refusal.limit  # that would be no reason to refuse it
    return replace(refusal, tokens=tokens * told, limit=limit * told)


def _shown(view: View) -> set[str]:
    """Features that the request was made with though the profile does not name them."""
    boundary = view.projection.boundary
    return {"compaction"} if boundary is not None and view.projection.native(boundary) else set()


def _read(view: View, said: Any) -> tuple[Usage | None, Refusal | None]:
    """The usage of a response, and what it or an error says of a refusal."""
    if isinstance(said, Usage):
        return said, None
    dialect = view.projection.dialect
    return None if isinstance(said, BaseException) else dialect.usage(said), dialect.refusal(said)


def sized(view: View, refusal: Refusal) -> tuple[float, float]:
    """The tokens of the refused request and the most that is taken; what was not told is taken from our own count."""
    window = float(view.window.window)
    limit = refusal.limit or refusal.tokens or view.tokens  # unsaid: it takes less than this
    return max(refusal.tokens or view.tokens, limit), min(limit, window)
