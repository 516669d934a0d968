"""How much stays as it was said, and which run of the view a boundary folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, Field

from trimtab.neighbours import latest
from trimtab.summary.runs import mended
from trimtab.values import Size

if TYPE_CHECKING:
    from trimtab.projection import Item
    from trimtab.view import View

__all__ = ["LEAST", "Keep", "scaled", "span", "tail"]

FULL = 200_000
"""Tokens: the window for which sizes are given (R19)."""

LEAST = 400
"""Tokens: about what the frame and the headings of a summary take; a run of less is not worth one."""


class Keep(BaseModel):
    """The newest messages that stay: so many ``messages``, else at least ``tokens`` and ``texts``; at most ``max``."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    messages: int | None = Field(default=None, ge=0)
    """So many messages, with the rest of the round that the oldest is of; instead of ``tokens`` and ``texts``."""
    tokens: Size = 10_000
    """At least so many, on a window of 200k; on a smaller one in proportion."""
    texts: int = Field(default=5, ge=0)
    """At least so many messages in which somebody says something."""
    max: Size = 40_000
    """Tokens that all this may take at most, on a window of 200k; on a smaller one in proportion."""

    @classmethod
    def of(cls, said: Any) -> Self:
        """Read a `Keep`, a mapping of its keys, a number of messages, or None for the defaults; raises `ValueError`."""
        if isinstance(said, int) and not isinstance(said, bool):
            said = {"messages": said}
        return cls.model_validate({} if said is None else said)


def scaled(view: View, tokens: float) -> float:
    """A size for a window of 200k tokens on this window: in proportion on a smaller one, the same on a larger (R19)."""
    return tokens * min(1.0, view.window.window / FULL)


def tail(view: View, keep: Keep) -> int:
    """The index in ``view.messages`` from which items stay: whole rounds, and never an earlier boundary.

    The latest round stays whatever it weighs, and so does what is not yet answered.
    """
    items = view.messages
    lead = next((at for at, item in enumerate(items) if item.role != "system"), len(items))
    first = lead + 1 if lead < len(items) and items[lead].fold is not None else lead
    cuts = [at for at in _cuts(view) if at >= first]
    if not cuts:
        return first
    best, factor = cuts[-1], view.context.meter.factor
    tokens, texts = factor * sum(item.tokens for item in items[best:]), _texts(items[best:])
    for at in reversed(cuts[:-1]):
        if _enough(view, keep, len(items) - best, tokens, texts):
            break
        tokens += factor * sum(item.tokens for item in items[at:best])
        if tokens > scaled(view, keep.max):
            break
        texts += _texts(items[at:best])
        best = at
    return best


def span(view: View, keep: Keep) -> list[Item]:
    """The run that a boundary folds: from where the view starts, behind system messages, to the tail; [] for none.

    There is none where nothing was said since the last summary, and where all of it weighs hardly more than a summary
    does. A system message in mid-course, and what a user had restored, part runs: then it is the heaviest.
    """
    runs = [run for run in _runs(view, tail(view, keep)) if any(item.message is not None for item in run)]
    run = max(runs, key=lambda run: sum(item.tokens for item in run), default=[])
    return run if sum(item.tokens for item in run if item.fold is None) >= LEAST else []


def _enough(view: View, keep: Keep, messages: int, tokens: float, texts: int) -> bool:
    if keep.messages is not None:
        return messages >= keep.messages
    return tokens >= scaled(view, keep.tokens) and texts >= keep.texts


def _texts(items: Sequence[Item]) -> int:
    """How many of these say something: calls, results and thinking do not."""
    blocks = (item.message.blocks if item.message else () for item in items)
    return sum(any(block.type == "text" and block.text.strip() for block in said) for said in blocks)


def _cuts(view: View) -> list[int]:
    """The indexes of items between whole rounds, up to the latest; an insert stays with the message before it."""
    path, rounds = view.projection.path, view.projection.rounds
    end, apart = latest(view), mended(view)
    earliest, starts = len(path), [0] * len(path)
    for at in range(len(path) - 1, -1, -1):
        earliest = min(earliest, rounds[at]) if rounds[at] >= 0 else earliest
        starts[at] = earliest
    found, at = [], 0
    for index, item in enumerate(view.messages):
        if item.covers and at <= end and starts[at] >= at and at not in apart:
            found.append(index)
        at = item.end
    return found


def _runs(view: View, end: int) -> list[list[Item]]:
    """The stretches of whole rounds before an index, parted by what stays, where a summary may begin them."""
    cuts, apart = set(_cuts(view)), view.projection.dialect.apart
    runs: list[list[Item]] = [[]]
    before = ""
    stays = view.restored if view.trigger != "manual" else frozenset[str]()
    for index, item in enumerate(view.messages[:end]):
        if item.role == "system" or not stays.isdisjoint(item.covers):
            runs.append([])
        elif runs[-1] or (index in cuts and (before, "user") not in apart):
            runs[-1].append(item)
        before = item.role
    return runs
