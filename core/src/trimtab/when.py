"""When an edit of sent content may pass: the words of a stage's `when:`, answered from the view (R1, R4)."""

from __future__ import annotations

from dataclasses import dataclass

from trimtab.stage import StageOptions
from trimtab.view import View

__all__ = ["HORIZON", "Opening", "opening"]

HORIZON = 10
"""Requests that a saving counts for (`pays`): about as many until the prefix would break anyway.

Measured on recorded sessions: 10 is right, 20 and more is worse, for the alternative to now is a little later.
"""


@dataclass(frozen=True, slots=True)
class Opening:
    """What one stage may do in one pass, beside free edits."""

    everything: bool = False
    behind: int | None = None
    """Edits at or behind this path position pass (`cold`)."""
    target: float | None = None
    """Tokens at which a pass opened by `over` ends (R5)."""
    threshold: float = 0.0
    """The lowest `over` that opened it, in tokens."""

    def allows(self, position: int) -> bool:
        """Whether an edit of sent content at this path position passes."""
        return self.everything or (self.behind is not None and position >= self.behind)

    @property
    def closed(self) -> bool:
        """Whether nothing but free edits can pass."""
        return not self.everything and self.behind is None


def opening(options: StageOptions, view: View, idle: float, *, manual: bool) -> Opening:
    """Answer a stage's words. ``idle``: seconds since the last request; ``manual`` opens every `when`."""
    everything = manual and bool(options.when.words)
    only_over = not manual
    behind: int | None = None
    threshold = 0.0
    for condition in options.when.words:
        if condition.word == "cold" and _sent_behind(view, view.context.held):
            behind, only_over = view.context.held, False
        elif (condition.word == "idle" and isinstance(condition.value, float) and idle >= condition.value) or (
            condition.word == "always" and options.warm == "allow"
        ):
            everything, only_over = True, False
        elif condition.word == "over" and condition.value is not None:
            limit = view.window.tokens(condition.value)
            if view.tokens >= limit:
                everything = True
                threshold = min(threshold or limit, limit)
    target = None
    if everything and only_over:
        target = view.window.tokens(options.target) if options.target is not None else threshold
    return Opening(everything, behind, target, threshold)


def _sent_behind(view: View, position: int) -> bool:
    """Whether the view shows sent messages at or behind a position."""
    path = view.projection.path
    return position < len(path) and view.sent(position)
