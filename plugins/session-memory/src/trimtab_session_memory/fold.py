"""The fold: everything that the memory covers, but for a tail, becomes the memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from trimtab import Fold
from trimtab.summary import Keep, boundary, span

from trimtab_session_memory.document import shown
from trimtab_session_memory.memory import Memory

if TYPE_CHECKING:
    from trimtab.projection import Item
    from trimtab.view import View

__all__ = ["fold"]


def fold(view: View, goal: float) -> Iterator[Fold]:
    """The fold that leaves the view below ``goal`` tokens, or nothing: no memory, or one that covers too little."""
    if view.compacted or view.instructions:
        return
    memory = Memory.of(view)
    if not memory.sections:
        return
    run = list(takewhile(lambda item: item.end <= memory.start, span(view, Keep.of(view.keep))))
    if all(item.message is None for item in run):
        return  # nothing that the memory does not stand for already
    kept = [item for item in view.messages if item.start >= run[-1].end]
    made = boundary(view, run, shown(memory.sections), kept, "the session's memory stands for them")
    freed = view.context.meter.factor * sum(item.tokens for item in run) - _pinned(view, run)
    if view.tokens - freed + view.count(made.text) < goal:
        yield made


def _pinned(view: View, run: Sequence[Item]) -> float:
    """Tokens that pins of a run will take behind the memory."""
    depths = range(run[0].start, run[-1].end)
    tokens = 0.0
    for pin in view.pins:
        message = view.projection.conversation.nodes[pin.block.partition(".")[0]]
        if message.depth in depths:
            size = message.sizes[int(pin.block.partition(".")[2])]
            tokens += view.count(pin.text) if pin.text else view.context.meter.factor * size
    return tokens
