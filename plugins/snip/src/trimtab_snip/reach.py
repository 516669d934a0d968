"""Mode ``model``: what a tag may take out of the view, and why the rest stays, in words that the model can act on."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from trimtab import Drop
from trimtab.neighbours import Refused, latest
from trimtab.rules import check

if TYPE_CHECKING:
    from trimtab.conversation import Message
    from trimtab.view import View

__all__ = ["Reach", "Stays"]

LEAST = 500
"""Tokens: a lighter round is not worth the call that names it."""


class Stays(Exception):  # noqa: N818 - an outcome that is told, not an error
    """A message may not go; the text says why, and what to do instead where there is something."""


class Reach:
    """What may go of a view, in units: a round, or a user message with its whole turn."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.path = view.projection.path
        self.rounds, self.turns = view.projection.rounds, view.projection.turns
        self.latest = latest(view)
        self.restored = view.restored
        self.pinned = {pin.block for pin in view.pins}

    def tagged(self, tag: str) -> Message:
        """The message with this tag; raises `Stays` where it is not one."""
        found = [item.message for item in self.view.tagged(tag) if item.message is not None]
        if not found:
            raise Stays("no message in the context ends with this tag; it may have gone already")
        if found[1:]:
            raise Stays("several messages end with this tag; name the round by the tag of another result, or leave it")
        return found[0]

    def unit(self, message: Message) -> tuple[str, ...]:
        """Ids of all messages that go with one, in order: its round, or the turn that a user message opens.

        Raises `Stays`, for what `whole` looks at and for all else that the kernel's rules would refuse.
        """
        ids = self.whole(message)
        try:
            check(self.view, Drop(ids))
        except Refused as refusal:
            raise Stays(f"it cannot go by itself: {refusal}") from None
        return ids

    def whole(self, message: Message) -> tuple[str, ...]:
        """What `unit` gives, looking at the messages themselves only; raises `Stays`."""
        if message.kind == "mixed":
            raise Stays("the user's own words stand in the same message as these results")
        groups = self.turns if message.kind == "user" else self.rounds
        start = groups[message.depth]
        if start < 0:
            raise Stays("the call that it answers is not part of this conversation")
        if groups is self.turns and start == self.turns[-1]:
            raise Stays("it is what the user wants now; of this turn only rounds can go, by the tags of their results")
        depths = list(_run(groups, start))
        self._free(depths)
        return tuple(self.path[depth].id for depth in depths)

    def _free(self, depths: list[int]) -> None:
        if self.turns[depths[0]] == self.turns[-1] and depths[0] in self._open:
            raise Stays("a call of its round still waits for its result")
        if depths[-1] >= self.latest:
            raise Stays("it holds the newest results; ask again after your next step")
        if any(self.path[depth].id in self.restored for depth in depths):
            raise Stays("the user brought it back")
        if any(block.id in self.pinned for depth in depths for block in self.path[depth].blocks):
            raise Stays("it is pinned")

    @cached_property
    def _open(self) -> set[int]:
        """Where the rounds begin in which a call has no result."""
        return {self.rounds[round.messages[0].end - 1] for round in self.view.rounds if round.open}

    @cached_property
    def shown(self) -> set[str]:
        """Ids of the messages that the view shows as such: no summary stands for them."""
        return {item.message.id for item in self.view if item.message is not None}

    def tokens(self, ids: Collection[str]) -> float:
        """Calibrated tokens of what the view shows of these messages."""
        shown = (item.tokens for item in self.view if item.covers and item.covers[0] in ids)
        return self.view.context.meter.factor * sum(shown)

    def largest(self, most: int, asked: Collection[str]) -> list[tuple[Message, float]]:
        """The heaviest rounds that may go and were not asked for: the last tagged message of each, and its tokens."""
        factor = self.view.context.meter.factor
        last: dict[int, Message] = {}
        sizes: dict[int, int] = {}
        for item in self.view:
            start = self.rounds[item.message.depth] if item.message is not None else -1
            if item.message is None or start < 0 or self.path[start].id in asked:
                continue
            sizes[start] = sizes.get(start, 0) + item.tokens
            if item.message.kind == "results" and self.view.tag(item):
                last[start] = item.message
        found: list[tuple[Message, float]] = []
        for start in sorted(last, key=lambda start: (-sizes[start], start)):
            tokens = factor * sizes[start]
            if tokens < LEAST or len(found) == most:
                break
            try:
                self.unit(last[start])
            except Stays:
                continue
            found.append((last[start], tokens))
        return found


def _run(groups: list[int], start: int) -> Iterator[int]:
    """The positions of the round or turn that begins at ``start``."""
    for depth in range(start, len(groups)):
        if groups[depth] == start:
            yield depth
        elif groups[depth] >= 0:
            return
