"""Spans: runs of the view that are old enough for a summary, and those that have one and wait to be folded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, islice, zip_longest
from typing import TYPE_CHECKING

from trimtab import Note
from trimtab.summary import unpinned

if TYPE_CHECKING:
    from trimtab.projection import Item
    from trimtab.view import View

    from trimtab_context_collapse.options import CollapseOptions

__all__ = ["Span", "due", "remembered", "staged", "weight"]

STAGED = "context-collapse"
"""The note of the spans that wait."""


@dataclass(frozen=True, slots=True)
class Span:
    """A run of the view with its summary. An id tells all messages before it, so that the first and the last do."""

    first: str
    last: str
    folds: tuple[str, ...]
    """Keys of the folds in it, which the summary was made of."""
    summary: str

    @classmethod
    def of(cls, run: Sequence[Item], summary: str) -> Span:
        """What is remembered of a run."""
        last = next(item.covers[-1] for item in reversed(run) if item.covers)
        return cls(run[0].id, last, _folds(run), summary)

    def run(self, view: View) -> list[Item]:
        """Its items; none where the view no longer shows them all as they were, or starts with them."""
        items = view.messages
        start = next((n for n, item in enumerate(items) if item.id == self.first), 0)
        end = next((n for n, item in enumerate(items[start:], start + 1) if self.last in item.covers), 0)
        if not end or items[end - 1].covers[-1] != self.last or all(item.role == "system" for item in items[:start]):
            return []
        while end < len(items) and not items[end].covers:  # an insert stands with the message before it
            end += 1
        run = list(items[start:end])
        same = _folds(run) == self.folds and view.restored.isdisjoint(item.id for item in run)
        return run if same else []


def _folds(run: Sequence[Item]) -> tuple[str, ...]:
    return tuple(item.key for item in run if item.fold is not None)


def staged(view: View) -> list[Span]:
    """What the note says, without the spans that the view no longer shows, or shows shorter than their summaries."""
    count = view.projection.conversation.count
    noted = [Span(**{**one, "folds": tuple(one["folds"])}) for one in view.notes(STAGED) or ()]
    return [span for span in noted if (run := span.run(view)) and count(span.summary) < weight(view, run)]


def remembered(view: View, spans: Sequence[Span]) -> Note:
    """The note about these spans; it holds where one of them is on the path."""
    nodes = view.projection.conversation.nodes
    oldest = min((span.last for span in spans), key=lambda id: nodes[id].depth)
    return Note(STAGED, [asdict(span) for span in spans], oldest)


def due(view: View, options: CollapseOptions, taken: Iterable[Item]) -> list[list[Item]]:
    """The runs to summarise: whole rounds, the oldest first, then rows of folds that have grown to a span.

    Left out are the first message of the view, for a fold there would be a boundary, the ``tail``, what came back when
    a fold was undone, and what is ``taken``.
    """
    factor = view.context.meter.factor
    size, free = view.window.tokens(options.span) / factor, unpinned(view)
    old = _old(view, view.window.tokens(options.tail) / factor)
    apart = {item.id for item in taken if item.covers} | view.restored
    apart |= {item.id for item in islice((item for item in old if item.role != "system"), 1)}

    def kind(item: Item) -> str:
        return "" if item.role == "system" or item.id in apart else "fold" if item.fold is not None else "said"

    rounds: list[list[Item]] = []
    rows: list[list[Item]] = []
    ends = {start: at for at, start in enumerate(view.projection.rounds)}
    for name, items in groupby(old, kind):
        stretch = list(items)
        if name == "said":
            rounds += _cut(stretch, size, free, view.projection.rounds, ends)
        elif name == "fold" and len(stretch) > 1 and sum(map(free, stretch)) >= size:
            rows.append(stretch)
    return rounds + rows


def weight(view: View, run: Sequence[Item]) -> int:
    """Uncalibrated tokens of a run that a fold of it would not have to carry: all that is not pinned."""
    return sum(map(unpinned(view), run))


def _old(view: View, tail: float) -> list[Item]:
    items = list(view.messages)
    while items and tail > 0:
        tail -= items.pop().tokens
    return items


def _cut(
    stretch: Sequence[Item], size: float, free: Callable[[Item], int], rounds: Sequence[int], ends: Mapping[int, int]
) -> Iterator[list[Item]]:
    """Runs of whole rounds in a stretch, each of ``size`` uncalibrated tokens or more; what is left over waits.

    ``rounds``: where the round of each path position starts; ``ends``: where it ends, by its start.
    """
    run: list[Item] = []
    tokens = 0
    for item, following in zip_longest(stretch, stretch[1:]):
        at = item.end - 1
        if 0 <= rounds[at] < (run[0].end - 1 if run else at):  # the rest of a round that began outside
            run, tokens = [], 0
            continue
        if not run and item.message is None:
            continue
        run.append(item)
        tokens += free(item)
        inserted = following is not None and following.message is None  # it stands with the message before it
        if tokens >= size and rounds[at] >= 0 and ends[rounds[at]] == at and not inserted:
            yield run
            run, tokens = [], 0
