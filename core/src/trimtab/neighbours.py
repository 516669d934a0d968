"""What all rules look at: targets on the path, whole rounds, and roles that may not become neighbours (R24)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trimtab.conversation import Block, Message
from trimtab.edits import block_id
from trimtab.projection import Item
from trimtab.view import View

__all__ = [
    "NoRoom",
    "Refused",
    "block_of",
    "check_neighbours",
    "check_whole",
    "depths_of",
    "latest",
    "message_of",
    "positions",
    "waiting",
]


class Refused(Exception):  # noqa: N818 - an outcome that is counted, not an error
    """An edit breaks a rule; the text is a short, countable reason."""


class NoRoom(Refused):
    """What was to be inserted would not fit."""


def block_of(view: View, target: Any) -> Block:
    """The block that a target names, on this path; raises `Refused`."""
    id = block_id(target)
    try:
        block = view.projection.block(id)
    except KeyError:
        raise Refused("no such block") from None
    if not view.on(id):
        raise Refused("not on this path")
    return block


def message_of(view: View, block: Block) -> Message:
    """The message of a block, if the view shows it as a message."""
    item = view.projection.covering(block.id.partition(".")[0])
    if item is None or item.message is None:
        raise Refused("not in the view")
    return item.message


def latest(view: View) -> int:
    """Where the latest round starts: from here on nothing is dropped or folded."""
    return next((at for at in reversed(view.projection.rounds) if at >= 0), 0)


def depths_of(view: View, ids: Sequence[str]) -> list[int]:
    """The path positions of messages, in order; raises `Refused`."""
    if not ids:
        raise Refused("no targets")
    nodes = view.projection.conversation.nodes
    if any(id not in nodes for id in ids) or not view.projection.conversation.on(view.projection.path, ids):
        raise Refused("not on this path")
    return sorted({nodes[id].depth for id in ids})


def check_whole(view: View, chosen: set[int], *, turns: bool) -> None:
    """Rounds whole; with ``turns`` also user messages with their turn (R24)."""
    projection = view.projection
    path, newest = projection.path, latest(view)
    if max(chosen) >= newest:
        raise Refused("latest round")
    for index in chosen:
        if path[index].role == "system":
            raise Refused("system message")
        starts = [(projection.rounds, projection.rounds[index])]
        if turns and path[index].kind in ("user", "mixed"):
            starts.append((projection.turns, index))
        for groups, start in starts:
            at = start
            while start >= 0 and at < len(path) and (groups[at] == start or groups[at] < 0):
                if groups[at] == start and at not in chosen:
                    raise Refused("not whole")
                at += 1
    calls = {call for index in chosen for call in _calls(view, path[index])}
    first, end = min(chosen), max(chosen) + 1
    while first and path[first].role != "assistant":
        first -= 1
    while first and path[first - 1].role == "assistant":
        first -= 1
    while end < len(path) and path[end].role != "assistant":
        end += 1
    for index in range(first, end):
        if index not in chosen and not calls.isdisjoint(_calls(view, path[index])):
            raise Refused("splits a call and its result")


def _calls(view: View, message: Message) -> set[str]:
    """The ids of the calls and results that a message holds as it is sent: a repair may have moved them."""
    projection = view.projection
    repair, blocks = projection.state.repairs.get(message.id), message.blocks
    if repair is not None:
        _, blocks = projection.dialect.parse(projection.dialect.rebuild(message, repair.blocks, {}), message.id)
    return {block.call for block in blocks if block.call}


def check_neighbours(view: View, chosen: set[int], *, folded: bool) -> None:
    """Nobody gets a neighbour of a role that may not stand there; no fold is cut."""
    items, apart = view.projection.items, view.projection.dialect.apart
    before: str | None = None
    gap = False
    for item in items:
        own = positions(item)
        taken = own & chosen
        if taken and taken != own and item.fold:
            raise Refused("crosses a fold")
        if taken or (item.message is None and item.fold is None and item.end - 1 in chosen):
            if folded and not gap and (before, "user") in apart:
                raise Refused("the summary would follow a system message")
            gap = True
            continue
        if gap and not folded and (before, item.role) in apart:
            raise Refused("would leave messages side by side whose roles may not be")
        gap, before = False, item.role


def positions(item: Item) -> set[int]:
    """The path positions that an item shows."""
    length = len(item.covers)
    return set(range(item.end - length, item.end))


def waiting(view: View) -> bool:
    """Whether a call of the latest round, also one that the provider runs, has no result that was said."""
    blocks = [block for message in view.projection.path[latest(view) :] for block in message.blocks if block.call]
    answered = {block.call for block in blocks if block.type != "tool_use"}
    return any(block.type == "tool_use" and block.call not in answered for block in blocks)
