"""For hooks with an option ``budget``: of many pins the newest that fit, and words on those that do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from trimtab.edits import Pin, Warn, block_id
from trimtab.texts import flat, last

if TYPE_CHECKING:
    from trimtab.view import View

__all__ = ["within"]

NAMED = 100
"""Pins that one warning names (chosen)."""

WORDS, PATH = 60, 40
"""Characters that it quotes of each, and how many of them may be the end of a file's path (chosen)."""


def within(view: View, pins: Iterable[Pin], budget: int | None) -> Iterator[Pin | Warn]:
    """Yield ``pins``, given oldest first, as they are; with a ``budget`` (tokens) only as many of the newest as fit.

    These are moving, and one `Warn` names the others, for the next call may have other pins: from the first on that
    does not fit, no older one is kept, so that what is kept is always the newest. A pin costs the calibrated tokens
    of its words, or of its block as said, media included.
    """
    pins = list(pins)
    if budget is None:
        yield from pins
        return
    first, left = len(pins), float(budget)
    while first and (cost := _tokens(view, pins[first - 1])) <= left:
        first, left = first - 1, left - cost
    yield from (replace(pin, moving=True) for pin in pins[first:])
    if first:
        yield Warn(_lost(view, pins, first, budget))


def _tokens(view: View, pin: Pin) -> float:
    """What a pin costs; one of words alone, of which the kernel finds the block, as much as these."""
    message, _, n = block_id(pin.block).partition(".")
    node = view.projection.conversation.nodes.get(message)
    if pin.text or node is None:
        return view.count(pin.text or str(pin.block))
    return view.context.meter.factor * node.sizes[int(n)]


def _lost(view: View, pins: list[Pin], count: int, budget: int) -> str:
    words = ", ".join(f"“{flat(_words(view, pin), WORDS)}”" for pin in pins[:count][-NAMED:])
    more = f", and {count - NAMED:,} older ones" if count > NAMED else ""
    return f"{count:,} of {len(pins):,} pins do not fit in {budget:,} tokens and may be lost, the oldest: {words}{more}"


def _words(view: View, pin: Pin) -> str:
    """What a pin is known by: its words, those of its block, and of a result the file in front of them."""
    if pin.text:
        return pin.text
    id = block_id(pin.block)
    try:
        block = view.projection.block(id)
    except KeyError:
        return str(pin.block)
    words = block.text if block.text.strip() else block.type
    if block.type != "tool_result":
        return words
    path = view.result(view.projection.conversation.nodes[id.partition(".")[0]], block).path
    return f"{last(path, PATH)}: {words}" if path else words
