"""Signed thinking: kept whole or removed whole, as one unbroken run, never in the open turn (R23)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trimtab.edits import Drop
from trimtab.neighbours import Refused, check_neighbours, latest, waiting
from trimtab.view import View

__all__ = ["check_emptied", "closed", "removed", "thinking"]


def thinking(view: View, depth: int) -> list[tuple[int, str]]:
    """Shown thinking behind ``path[depth]``: (position, block id)."""
    faces = view.projection.state.faces
    return [
        (item.message.depth, block.id)
        for item in view.projection.items
        if item.message is not None and item.message.depth > depth
        for block in item.message.blocks
        if block.type == "thinking" and block.id not in faces and not view.projection.repaired(block)
    ]


def removed(view: View, ids: Sequence[str], reason: str) -> Drop:
    """Whole messages' thinking, outside the open turn, leaving one unbroken run."""
    shown = thinking(view, -1)
    chosen = set(ids)
    if not chosen <= {id for _, id in shown}:
        raise Refused("not thinking that the view shows")
    start = closed(view)
    if any(depth >= start for depth, id in shown if id in chosen):
        raise Refused("thinking of the open turn or the latest answer")
    depths = {depth for depth, id in shown if id in chosen}
    if any(id not in chosen for depth, id in shown if depth in depths):
        raise Refused("part of a message's thinking")
    kept = [id not in chosen for _, id in shown]
    if True in kept and False in kept[kept.index(True) : len(kept) - kept[::-1].index(True)]:
        raise Refused("would break the run of thinking")
    path = view.projection.path
    if any(all(block.type == "thinking" for block in path[depth].blocks) for depth in depths):
        raise Refused("would leave an empty message")
    return Drop(tuple(id for _, id in shown if id in chosen), str(reason))


def check_emptied(view: View, gone: Iterable[str]) -> None:
    """Raise `Refused` where a message that loses all its blocks, thinking, leaves neighbours that may not be."""
    gone, faces = set(gone), view.projection.state.faces
    messages = (item.message for item in view.projection.items if item.message is not None)
    chosen = {
        message.depth
        for message in messages
        if not gone.isdisjoint(block.id for block in message.blocks)
        and all(block.id in gone or (block.id in faces and faces[block.id].text is None) for block in message.blocks)
    }
    if chosen:
        check_neighbours(view, chosen, folded=False)


def closed(view: View) -> int:
    """The position from which thinking is untouchable: the open turn, and an answer whose calls were just answered."""
    turns, start = view.projection.turns, latest(view)
    opened = turns[-1] if turns else 0
    if turns and view.projection.path[-1].role == "assistant" and not waiting(view):
        return len(turns)  # the answer that closes the turn is the last message
    calls = any(block.type == "tool_use" for message in view.projection.path[start:] for block in message.blocks)
    return min(opened, start) if calls else opened
