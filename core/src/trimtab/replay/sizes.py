"""Tokens of each message: recorded ones by the recorded usage, shown ones by what was changed in them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from trimtab.replay.reader import Reading

__all__ = ["Recorded", "shown_sizes"]


class Recorded:
    """Sizes in the recorded requests of one session; element 0 is system, tools and what no recording shows.

    A request weighs what its usage says. What it weighs more than the request before it on its branch is
    spread over the new messages; where usage falls although nothing was taken away (the recorded agent
    cleared something without a record), all sizes shrink in proportion. Without usage the meter's ``factor``
    decides.
    """

    def __init__(self) -> None:
        self._head: float | None = None
        self._branches: dict[object, list[float]] = {}
        self._measured: set[object] = set()

    def sizes(
        self, branch: object, said: Sequence[Reading], head: float, usage: float | None, factor: float
    ) -> list[float]:
        """The sizes of one request; ``head``: the meter's word on element 0, ``usage``: the recorded size."""
        counted = [factor * reading.raw for reading in said]
        known = self._branches.get(branch, [])[: len(said) + 1]
        if usage is None:
            sizes = [*(known or [head]), *counted[max(len(known) - 1, 0) :]]
        elif branch in self._measured:
            sizes = _grown(known, counted[len(known) - 1 :], usage)
        else:
            sizes = self._first(counted, usage)
            self._measured.add(branch)
        self._branches[branch] = sizes
        return list(sizes)

    def _first(self, counted: list[float], usage: float) -> list[float]:
        """The first measured request of a branch: what is not counted is the head, as far as that is known.

        Behind a recorded boundary the agent puts files and reminders back that no line shows: they go with
        the summary that the branch starts with.
        """
        rest = usage - sum(counted)
        if self._head is None:
            self._head = max(rest, 0.0)
        sizes = [min(self._head, max(rest, 0.0)), *counted]
        if rest < 0:
            return _scaled(sizes, usage)
        sizes[min(1, len(counted))] += rest - sizes[0]
        return sizes


def _grown(known: list[float], new: list[float], usage: float) -> list[float]:
    growth = usage - sum(known)
    if growth > 0 and sum(new) > 0:
        return [*known, *_scaled(new, growth)]
    return _scaled([*known, *new], usage)


def _scaled(sizes: list[float], total: float) -> list[float]:
    share = total / sum(sizes) if sum(sizes) > 0 else 0.0
    return [size * share for size in sizes]


def shown_sizes(
    said: Sequence[Reading], sizes: Sequence[float], shown: Sequence[Reading], factor: float
) -> list[float]:
    """Sizes of the messages of a request as shown: the recorded ones less the metered difference.

    A message with the same bytes keeps its size. Where some stand for others, their size is that of those
    others less ``factor`` times the difference in count, never less than nothing.
    """
    places: dict[str, list[int]] = {}
    for index, reading in enumerate(said):
        places.setdefault(reading.key, []).append(index)
    found = [sizes[0]]
    run: list[Reading] = []
    at = 0
    for reading in shown:
        where = places.get(reading.key, [])
        next_ = bisect_left(where, at)
        if next_ == len(where):
            run.append(reading)
            continue
        found += _replaced(said[at : where[next_]], sizes[at + 1 : where[next_] + 1], run, factor)
        found.append(sizes[where[next_] + 1])
        run, at = [], where[next_] + 1
    return found + _replaced(said[at:], sizes[at + 1 :], run, factor)


def _replaced(said: Sequence[Reading], sizes: Sequence[float], shown: Sequence[Reading], factor: float) -> list[float]:
    """Sizes of a run that is shown instead of another; message by message where they are as many."""
    if len(said) != len(shown):
        counted = sum(reading.raw for reading in shown)
        total = max(sum(sizes) - factor * (sum(reading.raw for reading in said) - counted), 0.0)
        return [total * reading.raw / counted for reading in shown]
    pairs = zip(said, sizes, shown, strict=True)
    return [max(size - factor * (old.raw - new.raw), 0.0) for old, size, new in pairs]
