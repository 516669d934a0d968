"""The newest round alone is too large: what is largest in it is shown by its start and its end."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from trimtab import Replace
from trimtab.texts import clean, clip, last, size

from trimtab_reactive_compact.media import without

if TYPE_CHECKING:
    from trimtab.conversation import Block, Message
    from trimtab.view import View

__all__ = ["FIRST", "LAST", "clamp"]

FIRST, LAST = 0.1, 0.02
"""Shares of the effective window that are left of each text: while other steps may follow, and when none does."""
HEAD = 0.75
"""Of what is shown, the part that is its start."""

REASON = "too large for the window"


def clamp(view: View, target: float, start: int, share: float) -> Generator[Replace, Any, None]:
    """Shorten what stands at or behind path position ``start``, the largest first, until the view is at ``target``.

    Results and files, then what the user said; never what the model said. ``share``: of the effective window, what is
    left of each at least.
    """
    found: list[tuple[bool, float, Message, Block]] = []
    for item in view.messages:
        if item.message is not None and item.end > start and item.role == "user":
            for block in item.message.blocks:
                if block.type in ("document", "image", "text", "tool_result"):
                    found.append((block.type == "text", -_tokens(view, item.message, block), item.message, block))
    least = share * view.window.effective
    for _, weight, message, block in sorted(found, key=lambda one: one[:2]):
        if view.tokens <= target:
            return
        if -weight > least:
            room = max(least, -weight - (view.tokens - target))
            yield Replace(block, _shorter(view, message, block, room), REASON)


def _tokens(view: View, message: Message, block: Block) -> float:
    """Calibrated tokens of a block as shown."""
    face = view.projection.state.faces.get(block.id)
    raw = message.sizes[int(block.id.rpartition(".")[2])] if face is None else face.tokens
    return view.context.meter.factor * raw


def _shorter(view: View, message: Message, block: Block, room: float) -> str:
    """A block's text in ``room`` tokens: its start, what is left out and where it stands, its end."""
    text = without(view, message, block, REASON) if block.media else clean(block.text)
    shown, characters = text, len(text)
    while (tokens := view.count(shown)) > room and characters > 1:
        characters = int(characters * min(0.9, room / tokens))
        start, end = _ends(text, characters)
        left = f"{size(text[len(start) : len(text) - len(end)])} left out here: {REASON}"
        shown = f"{start}\n[{left}. Full text: {view.stored(block)}]\n{end}"
    return shown


def _ends(text: str, characters: int) -> tuple[str, str]:
    """The start and the end of a text, at lines where there are any."""
    start = clip(text, int(HEAD * characters), characters)
    end = last(text, characters - int(HEAD * characters))
    line = end.find("\n") + 1
    return start, end[line:] if line < len(end) // 2 else end
