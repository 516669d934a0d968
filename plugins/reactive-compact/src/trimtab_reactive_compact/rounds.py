"""What may be folded, in rounds, and how little of it is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trimtab.neighbours import latest
from trimtab.summary import mended, unpinned

if TYPE_CHECKING:
    from trimtab.projection import Item
    from trimtab.view import View

__all__ = ["Group", "enough", "groups", "runs"]


@dataclass(frozen=True, slots=True)
class Group:
    """A round with what was said before it, or an earlier summary: folded whole or kept whole."""

    items: tuple[Item, ...]
    tokens: float
    """What folding it frees: without the pins in it, for these are carried."""
    stays: bool
    """In no fold: a system message, or what came back when a decision was undone."""

    @property
    def summary(self) -> str:
        """The text of what is a fold already; else empty."""
        return self.items[0].text if self.items[0].fold is not None else ""


def groups(view: View) -> list[Group]:
    """All before the latest round and what the user said just before that, in order."""
    projection = view.projection
    rounds = projection.rounds
    end = latest(view)
    items = [item for item in projection.items if item.end <= end]
    last = {rounds[item.message.depth]: n for n, item in enumerate(items) if item.message is not None}
    restored, free, apart = view.restored, unpinned(view), mended(view)
    found: list[Group] = []
    group: list[Item] = []
    reach, complete = -1, True
    for n, item in enumerate(items):
        stays = item.role == "system" or not restored.isdisjoint(item.covers)
        alone = stays or item.fold is not None
        if n > reach and (complete or alone) and item.start not in apart:
            found += _group(view, group, restored, free)
            group, complete = [], False
        group.append(item)
        round = rounds[item.message.depth] if item.message is not None else -1
        reach = max(reach, last[round]) if round >= 0 else reach
        complete = complete or round >= 0 or alone
    return [*found, *(_group(view, group, restored, free) if complete else ())]


def _group(view: View, items: Sequence[Item], restored: frozenset[str], free: Callable[[Item], int]) -> Iterator[Group]:
    if items:
        stays = any(item.role == "system" or not restored.isdisjoint(item.covers) for item in items)
        yield Group(tuple(items), 0.0 if stays else view.context.meter.factor * sum(map(free, items)), stays)


def enough(groups: Sequence[Group], tokens: float) -> int:
    """How many of the oldest must be folded to free so many tokens; all of them where they do not suffice."""
    freed = 0.0
    for n, group in enumerate(groups):
        if freed >= tokens:
            return n
        freed += group.tokens
    return len(groups)


def runs(view: View, groups: Sequence[Group]) -> list[list[Item]]:
    """The runs of the view that these are, parted by what stays; none begins where no user's voice may stand."""
    apart = view.projection.dialect.apart
    found: list[list[Item]] = [[]]
    before = ""
    for group in groups:
        if group.stays:
            found.append([])
        elif found[-1] or (before, "user") not in apart:
            found[-1] += group.items
        before = group.items[-1].role
    return [run for run in found if run]
