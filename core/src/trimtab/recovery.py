"""What the provider's refusal of a request means: how large it may be, or what to leave out (R16, H50–H52)."""

from __future__ import annotations

from typing import Any

from trimtab.dialect import Refusal, Usage
from trimtab.view import View

__all__ = ["LIMIT", "refusal_of", "sized"]

LIMIT = "limit"
"""The kernel's note of the most tokens that the provider takes, where that is less than its window."""

NEAR = 0.8
"""Share of the window from which a bad request in words that nobody knows may be an overflow (H51)."""


def refusal_of(view: View, said: Any) -> Refusal | None:
    """What an error or a response says of the request that ``view`` shows; None where a smaller one would not help."""
    dialect, window = view.projection.dialect, view.window.window
    refusal = dialect.refusal(said)
    if refusal is None and not isinstance(said, BaseException):
        usage = said if isinstance(said, Usage) else dialect.usage(said)
        return Refusal("tokens", usage.total, window) if usage is not None and usage.total > window else None
    if refusal is None or (refusal.kind == "unknown" and view.tokens < NEAR * window):
        return None
    if refusal.kind == "feature" and not view.offers(refusal.feature):
        return None
    return refusal


def sized(view: View, refusal: Refusal) -> tuple[float, float]:
    """The tokens of the refused request and the most that is taken; what was not told is taken from our own count."""
    window = float(view.window.window)
    limit = refusal.limit or window
    if not refusal.tokens and not refusal.limit:
        limit = min(window, view.tokens)  # the provider takes less than we thought
    return max(refusal.tokens or view.tokens, limit), min(limit, window)
