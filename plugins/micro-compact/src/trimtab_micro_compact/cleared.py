"""``form: cleared``: old results become a line with the way back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trimtab import Replace
from trimtab.texts import name_of, worth

from trimtab_micro_compact import texts
from trimtab_micro_compact.media import known, large, marks
from trimtab_micro_compact.old import goes, places, waiting
from trimtab_micro_compact.options import MicroOptions

if TYPE_CHECKING:
    from trimtab.conversation import Message
    from trimtab.view import Result, View

__all__ = ["clear", "placeholder"]


def clear(view: View, options: MicroOptions) -> Iterator[Replace]:
    """What lies before the newest ``keep`` and was sent, oldest first."""
    edge = _edge(view, options)
    for message, n, shown in waiting(view, texts.CLEARED):
        if (message.depth, n) >= edge or message.answers >= view.answers:
            return
        if message.blocks[n].type == "tool_result":
            yield from _result(view, message, n, shown, options)
        elif large(view, message, n, options.media):
            (mark,) = marks(message.blocks[n])
            yield Replace(message.blocks[n], texts.attached(mark), "large and old")


def _edge(view: View, options: MicroOptions) -> tuple[float, int]:
    """Where the oldest of those lies that stay: results of tools whose results go, and large media."""
    edge, left = (math.inf, 0), options.keep
    for item in reversed(view.messages):
        for message, n in reversed([*places([item])]):
            if not left:
                return edge
            block = message.blocks[n]
            result = view.result(message, block) if block.type == "tool_result" else None
            if (result and options.goes(result.tool, result.tool_class)) or large(view, message, n, options.media):
                edge, left = (message.depth, n), left - 1
    return edge


def _result(view: View, message: Message, n: int, shown: str, options: MicroOptions) -> Iterator[Replace]:
    result, heavy = view.result(message, message.blocks[n]), large(view, message, n, options.media)
    reason = f"{name_of(result.tool)}: old"
    if text := placeholder(result, shown, options, heavy=heavy):
        yield Replace(result, text, reason)
    elif heavy and options.tools.get(result.tool) != "keep":
        yield Replace(result, texts.stripped(result, marks(result.block)), f"{reason}, large")


def placeholder(result: Result, shown: str, options: MicroOptions, *, heavy: bool) -> str:
    """The line that stands for a result, of which ``shown`` is the text now; empty where it stays.

    ``heavy``: it holds large images or documents.
    """
    media = result.media and not result.replaced
    if not goes(result, options, "cleared") or (media and not known(result.block)):
        return ""
    text = texts.cleared(result, marks(result.block) if media else ())
    return text if heavy or worth(text, shown) else ""
