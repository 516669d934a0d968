"""The fold: everything that the memory covers, but for a tail, becomes the memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING

from trimtab import Fold
from trimtab.summary import Keep, boundary, span, unpinned

from trimtab_session_memory.document import shown
from trimtab_session_memory.memory import Memory

if TYPE_CHECKING:
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
    made = boundary(view, run, shown(memory.sections), "the session's memory stands for them")
    freed = view.context.meter.factor * sum(map(unpinned(view), run))
    if view.tokens - freed + view.count(made.text) < goal:
        yield made
