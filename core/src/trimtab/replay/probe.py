"""Pins for measuring whether pins hold: a hook that pins blocks by a seeded draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from trimtab.conversation import Block, digest
from trimtab.edits import Pin
from trimtab.hookspecs import Trigger, hookimpl
from trimtab.projection import Pinned
from trimtab.replay.reader import Reader, Reading
from trimtab.stage import Hook, HookOptions
from trimtab.view import View

__all__ = ["ProbePins", "lost"]

EVERY = 20
"""One block in so many is pinned: enough to be met by every strategy, too few to keep it from working."""


class ProbePins(Hook):
    """Pins one text or result in 20, chosen by the seed and the block's id alone."""

    name: ClassVar[str] = "probe-pins"

    class Options(HookOptions):
        """What decides the draw."""

        seed: int = 0
        """Another seed pins other blocks."""

    @hookimpl
    def pre_compact(self, view: View, trigger: Trigger) -> Iterator[Pin]:
        """Yield the chosen blocks that are not pinned yet."""
        pinned = {pin.block for pin in view.pins}
        for message in (item.message for item in view.messages if item.message is not None):
            for block in message.blocks:
                if block.id not in pinned and self._chosen(block):
                    yield Pin(block, "probe")

    def _chosen(self, block: Block) -> bool:
        pinnable = block.type in ("text", "tool_result") and block.text.strip()
        return bool(pinnable) and int(digest(self.options.seed, block.id), 16) % EVERY == 0


def lost(pins: Sequence[Pinned], view: View, reader: Reader, shown: Sequence[Reading]) -> set[tuple[str, str]]:
    """Give the pins whose text no block of the request holds verbatim: (block id, text; "" for all of it)."""
    numbers = {part.text for reading in shown for part in reading.parts}
    texts = [reader.texts[number] for number in numbers]
    gone = set()
    for pin in pins:
        text = pin.text or view.projection.block(pin.block).text
        if reader.texts.add(text) not in numbers and not any(text in other for other in texts):
            gone.add((pin.block, pin.text))
    return gone
