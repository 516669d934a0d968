"""A run as text for a model to read: made from what was said, round by round, clipped where it is long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from trimtab.summary.prompt import FRAME
from trimtab.texts import brief, clean, neutral, titled, told

if TYPE_CHECKING:
    from trimtab.projection import Item
    from trimtab.view import View

__all__ = ["SHED", "Transcript", "transcript"]

LONGEST, SHORTEST = 16_000, 250
"""Characters of one text: what is longer is shown by head and tail; halved until all fits, down to the second."""

SHED = 0.2
"""The share by which a question is made shorter where nobody says how much is too much (chosen)."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """How the run begins (the earlier summary, or the task), and its rounds with their sizes, oldest first."""

    begin: str
    rounds: tuple[str, ...]
    sizes: tuple[float, ...]
    """Calibrated tokens of each round."""
    shed: int = 0
    """How many of the oldest rounds were left out."""

    @property
    def text(self) -> str:
        """All of it, for the frame."""
        gap = [f"--- {self.shed} rounds are left out here"] if self.shed else []
        return "\n".join([self.begin, *gap, *self.rounds])

    def lighter(self, tokens: float) -> Transcript | None:
        """Without the oldest rounds that weigh ``tokens`` together (0: a fifth of them); None where none is left."""
        count, freed = 0, 0.0
        while freed < tokens and count < len(self.rounds):
            freed += self.sizes[count]
            count += 1
        count = count or max(1, int(SHED * len(self.rounds)))
        if count >= len(self.rounds):
            return None
        return Transcript(self.begin, self.rounds[count:], self.sizes[count:], self.shed + count)


def transcript(view: View, run: Sequence[Item], room: float) -> Transcript | None:
    """The run in ``room`` tokens: long texts are clipped first, then the oldest rounds left out; None if none fits."""
    longest = LONGEST
    tools: dict[str, str] = {}
    while True:
        parts = [neutral(clean("\n".join(_messages(items, tools, longest))), FRAME) for items in _rounds(view, run)]
        sizes = [view.count(part) for part in parts]
        made = Transcript(parts[0], tuple(parts[1:]), tuple(sizes[1:]))
        over = sum(sizes) - room
        if over <= 0:
            return made
        if longest <= SHORTEST:
            return made.lighter(over)
        longest //= 2


def _rounds(view: View, run: Sequence[Item]) -> list[list[Item]]:
    """The first message by itself, then rounds with what was said before each; an earlier summary stands alone."""
    found: list[list[Item]] = [[run[0]], []]
    rounds, open = view.projection.rounds, -1
    for item in run[1:]:
        at = rounds[item.message.depth] if item.message is not None else -1
        if open >= 0 and at != open and item.covers:
            found.append([])
            open = -1
        open = at if at >= 0 else open
        found[-1].append(item)
    return [items for items in found if items]


def _messages(items: Sequence[Item], tools: dict[str, str], longest: int) -> Iterator[str]:
    for item in items:
        if item.message is None:
            yield titled("an earlier summary" if item.fold else "inserted", item.text)
        else:
            yield from told(item.message, tools, partial(brief, most=longest))
