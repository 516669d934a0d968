"""A run as text for a model to read: made from what was said, round by round, clipped where it is long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trimtab.summary.prompt import FRAME
from trimtab.texts import answers, clean, first, last, name_of, neutral, speaker, spelled

if TYPE_CHECKING:
    from trimtab.conversation import Block, Message
    from trimtab.projection import Item
    from trimtab.view import View

__all__ = ["Transcript", "clipped", "transcript"]

LONGEST, SHORTEST = 16_000, 250
"""Characters of one text: what is longer is shown by head and tail; halved until all fits, down to the second."""

HEAD = 2 / 3
"""Of a clipped text, the share that is its head."""


SHED = 0.2
"""Of the rounds, the share left out where nobody says how much is too much."""


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
    blocks = (block for item in run if item.message is not None for block in item.message.blocks)
    names = {block.call: block.name for block in blocks if block.type == "tool_use"}
    while True:
        parts = [neutral(clean("\n".join(_messages(items, names, longest))), FRAME) for items in _rounds(view, run)]
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


def _messages(items: Sequence[Item], names: Mapping[str, str], longest: int) -> Iterator[str]:
    for item in items:
        if item.message is None:
            yield f"--- {'an earlier summary' if item.fold else 'inserted'}\n{_data(item.text)}"
            continue
        for block in item.message.blocks:
            if block.type != "thinking":
                yield "\n".join([f"--- {_title(item.message, block, names)}", *_content(block, longest)])


def _title(message: Message, block: Block, names: Mapping[str, str]) -> str:
    if block.type == "tool_use":
        return f"call of {name_of(block.name)}"
    if answers(block):
        return f"result of {name_of(names.get(block.call, ''))}{', failed' * block.error}"
    return speaker(message)


def _content(block: Block, longest: int) -> Iterator[str]:
    if block.type == "tool_use" and block.input:
        for key, value in block.input.items():
            yield _data(f"{key}: {clipped(spelled(value), longest)}")
    elif block.text:
        yield _data(clipped(block.text, longest))
    if block.media or not (block.text or answers(block) or block.input):
        yield f"[{'media' if answers(block) else block.type}]"


def clipped(text: str, longest: int) -> str:
    """At most about ``longest`` characters of a text: its head, how much is left out, its tail."""
    if len(text) <= longest:
        return text
    head = first(text, int(HEAD * longest))
    tail = last(text, longest - int(HEAD * longest))
    return f"{head}\n[{len(text) - len(head) - len(tail):,} characters are left out here]\n{tail}"


def _data(text: str) -> str:
    """A text no line of which can pass for a title."""
    return f"\n{text}".replace("\n---", "\n ---")[1:]
