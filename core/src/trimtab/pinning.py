"""Pins: what can be one, where it stands, and what a fold carries of it (R10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trimtab.conversation import Block
from trimtab.edits import Pin
from trimtab.errors import plain
from trimtab.neighbours import Refused, block_of, message_of
from trimtab.view import View

__all__ = ["SHOWABLE", "carried", "pin"]

QUOTED = 60
"""Characters of a pinned block that its row repeats."""

SPEAKERS = {"assistant": "[The assistant said:]", "tool": "[A tool returned:]", "user": "[The user said:]"}
"""What stands before pinned content behind a summary that another one said than what is before it."""

SHOWABLE = ("document", "image", "text", "tool_result")


def pin(view: View, edit: Pin) -> Pin | None:
    """A hook's pin with the id of its block; words alone are looked up, oldest block first. Raises `Refused`.

    A moving one may also be of what a fold hides, where the fold carries it. None: it is held already.
    """
    text = edit.text
    if not isinstance(text, str):
        raise Refused("the words are no text")
    words = isinstance(edit.block, str) and edit.block.partition(".")[0] not in view.projection.conversation.nodes
    if words:
        text = edit.block
        held = [one for one in view.pins if text in (one.text or view.projection.block(one.block).text)]
        if text.strip() and not all(one.moving for one in held):
            return None
        block = _holding(view, text) if text.strip() else None
        if block is None:
            raise Refused("these words are nowhere")
    else:
        block = block_of(view, edit.block)
    made = Pin(block.id, plain(edit.reason), plain(text), bool(edit.moving), _quote(block, text))
    if made.key in view.projection.state.pins:
        return None
    if view.holds(block, text) == "carried" and (made.moving or words):
        return made if made.moving else None
    message_of(view, block)
    if block.type not in SHOWABLE:
        raise Refused(f"{block.type} cannot be pinned")
    if block.id in view.projection.state.evicts:
        raise Refused("already evicted")
    if text and (text not in block.text or not text.strip()):
        raise Refused("the block does not hold these words")
    if view.holds(block, text) != "shown":
        raise Refused("repaired" if view.projection.repaired(block) else "already replaced")
    return made


def carried(view: View, run: range) -> tuple[tuple[Any, ...], tuple[Pin, ...]]:
    """The pinned content of a run in its order, each piece once, and the pins that it is.

    A fold speaks with the user's voice, so where others said a piece, a line in front of it says who.
    """
    projection, speaker = view.projection, "user"
    wires: list[Any] = []
    pins: list[Pin] = []
    held = {(pin.block, pin.text): pin.reason for pin in projection.state.pinned}
    texts: dict[str, list[str]] = {}
    for id, text in held:
        texts.setdefault(id, []).append(text)
    for index in run if held else ():
        for block in projection.path[index].blocks:
            for text in _pieces(block, texts.get(block.id, [])):
                who = "tool" if block.type == "tool_result" else projection.path[index].role
                if who != speaker:
                    wires.append(SPEAKERS[who])
                    speaker = who
                wires += projection.dialect.carry(block, text)
                pins.append(Pin(block.id, held[block.id, text], text, quote=_quote(block, text)))
    return tuple(wires), tuple(pins)


def _pieces(block: Block, words: Sequence[str]) -> list[str]:
    """The pinned words of a block in their order, without those that stand in others; all of it where it is pinned."""
    if "" in words:
        return [""]
    own = [one for one in words if not any(one in other and one != other for other in words)]
    return sorted(own, key=lambda text: (block.text.find(text), text))


def _holding(view: View, words: str) -> Block | None:
    """The oldest text or result of which the view holds these words, in a message or behind a fold."""
    block = view.projection.block
    for item in view.projection.items:
        if item.fold is not None:
            found = [block(one.block) for one in item.fold.pins if words in (one.text or block(one.block).text)]
        else:
            blocks = item.message.blocks if item.message is not None else ()
            found = [one for one in blocks if one.type in ("text", "tool_result") and words in one.text]
        if found:
            return found[0]
    return None


def _quote(block: Block, text: str) -> str:
    """How a block begins that is pinned whole, for who reads the ledger without the conversation."""
    return "" if text else " ".join(block.text[: 2 * QUOTED].split())[:QUOTED]
