"""Which runs of rounds are old enough to be folded."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from trimtab.projection import Item
    from trimtab.view import View

    from trimtab_context_collapse.options import CollapseOptions

__all__ = ["Run", "runs"]


class Run(NamedTuple):
    """Items of the view that one note shall stand for."""

    items: list[Item]
    age: int
    """The age in requests that all of it is older than."""


def runs(view: View, options: CollapseOptions) -> list[Run]:
    """What is due, the oldest first: whole rounds between notes, older than ``age``; ``cold_age`` where all is cold.

    Left out are the first message of the view, for a fold there would be a boundary, and what the user said behind the
    last round, which is not answered in it.
    """
    held, cold = view.held, options.cold_age
    warm_end, cold_end = _due(view, options.age), _due(view, cold)
    if held >= cold_end and not warm_end:
        return []
    found = []
    for stretch in _stretches(view, max(warm_end, cold_end)):
        done = 0
        for start, end, age in ((0, warm_end, options.age), (held, cold_end, cold)):
            run = _whole(view.projection.rounds, stretch, max(start, done), end)
            if not run or (age > cold and run[0].end > held):
                continue  # nothing, or all of it is cold
            if len({view.projection.rounds[item.end - 1] for item in run} - {-1}) >= options.rounds:
                found.append(Run(run, age))
                done = run[-1].end
    return found


def _due(view: View, age: int) -> int:
    """The first path position that was first sent ``age`` requests ago or later."""
    return bisect_left(view.projection.path, view.answers - age, key=lambda message: message.answers)


def _stretches(view: View, end: int) -> Iterator[list[Item]]:
    """What stands before path position ``end``, without the first message.

    Parted by folds, by system messages, and by what came back when a fold was undone.
    """
    stretch: list[Item] = []
    first, restored = True, view.restored
    for item in view.messages:
        if item.end > end:
            break
        if item.role == "system" or item.fold is not None or first or item.id in restored:
            yield stretch
            stretch = []
            first = first and item.role == "system"
        elif stretch or item.message is not None:  # an insert stands with the message before it
            stretch.append(item)
    yield stretch


def _whole(rounds: Sequence[int], stretch: list[Item], start: int, end: int) -> list[Item]:
    """The part of a stretch at path positions ``start`` to ``end`` that holds whole rounds and ends with one."""
    inside = [item.end - 1 for item in stretch if start <= item.end - 1 < end]
    if not inside:
        return []
    start, end = inside[0], inside[-1] + 1
    for at in range(start, end):
        if 0 <= rounds[at] < start:
            start = at + 1
    end = min(end, next((at for at in islice(rounds, end, None) if at >= 0), end))
    while end > start and rounds[end - 1] < 0:
        end -= 1
    return [item for item in stretch if start <= item.end - 1 < end]
