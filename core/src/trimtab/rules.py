"""Whether an edit is safe: local checks of its targets and their neighbours (R7, R23, R24, R27).

`check` reduces what a stage yielded to ids and frozen data, or raises `Refused` with the rule in words. Nothing here
knows when an edit is wanted; that is `trimtab.when`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from trimtab.conversation import Block, Message
from trimtab.edits import (
    KERNEL,
    Anchor,
    Drop,
    Edit,
    Evict,
    Fold,
    Insert,
    Note,
    Param,
    Pin,
    Replace,
    Restore,
    block_id,
    lasting,
    message_ids,
    targets,
)
from trimtab.errors import plain
from trimtab.projection import Item, Pinned
from trimtab.view import View

__all__ = ["NoRoom", "Refused", "check", "check_emptied", "closed", "data", "latest", "pin", "position", "thinking"]

QUOTED = 60
"""Characters of a pinned block that its row repeats."""

SPEAKERS = {"assistant": "[The assistant said:]", "tool": "[A tool returned:]", "user": "[The user said:]"}
"""What stands before pinned content behind a summary that another one said than what is before it."""

NAMING = 100
"""Characters that may stand for an empty result: the one replacement that may grow."""

DEPTH = 100
"""Levels that arguments and notes may be nested."""

_SHOWABLE = ("document", "image", "text", "tool_result")

_REPLACEABLE = (*_SHOWABLE, "tool_use")


class Refused(Exception):  # noqa: N818 - an outcome that is counted, not an error
    """An edit breaks a rule; the text is a short, countable reason."""


class NoRoom(Refused):
    """What was to be inserted would not fit."""


def check(view: View, edit: Any) -> Edit:
    """The edit as it can be recorded; raises `Refused`."""
    match edit:
        case Replace():
            return _replace(view, edit)
        case Drop():
            ids = message_ids(edit.what)
            return _thinking(view, ids, edit.reason) if any("." in id for id in ids) else _drop(view, ids, edit.reason)
        case Fold():
            return _fold(view, edit)
        case Insert():
            return _insert(view, edit)
        case Evict():
            return _evict(view, edit)
        case Param():
            return _param(view, edit)
        case Restore():
            return _restore(view, edit)
        case Note():
            return _note(view, edit)
    raise Refused(f"a stage may not yield {type(edit).__name__}")


def _block(view: View, target: Any) -> Block:
    id = block_id(target)
    try:
        block = view.projection.block(id)
    except KeyError:
        raise Refused("no such block") from None
    if not view.on(id):
        raise Refused("not on this path")
    return block


def _shown(view: View, block: Block) -> Message:
    """The message of a block, if the view shows it as a message."""
    item = view.projection.covering(block.id.partition(".")[0])
    if item is None or item.message is None:
        raise Refused("not in the view")
    return item.message


def _text(text: Any) -> str:
    plain: str = str.__str__(text) if isinstance(text, str) else ""  # not a subclass that answers as it likes
    if not plain.strip():
        raise Refused("empty text")
    if not plain.isascii() and any("\ud800" <= char <= "\udfff" for char in plain):
        raise Refused("lone surrogate")
    return plain


def _replace(view: View, edit: Replace) -> Replace:
    block, text = _block(view, edit.block), _text(edit.text)
    message = _shown(view, block)
    if block.type not in _REPLACEABLE or block.server or message.role == "system":
        raise Refused(f"{block.type} of {message.role} cannot be replaced")
    if block.type == "tool_use" and not _arguments(block, text):
        raise Refused("not a JSON object with the call's keys")
    if message.role == "assistant" and message.depth >= latest(view):
        raise Refused("latest assistant message")
    state = view.projection.state
    if view.projection.repaired(block):
        raise Refused("repaired")
    if block.id in state.evicts and text != state.evicts[block.id].text:
        raise Refused("evicted")
    for pinned in _pinned(view, [block.id]):
        if (pinned.text or block.text) not in text or (block.media and not pinned.text):
            raise Refused("pinned")
    face = state.faces.get(block.id)
    shown = block.text if face is None else face.text or ""
    size = message.sizes[int(block.id.partition(".")[2])] if face is None else face.tokens
    names_empty = block.type == "tool_result" and not block.media and not shown.strip() and len(text) <= NAMING
    if not names_empty and view.projection.count(block.id, text) >= size:
        raise Refused("does not shrink")
    return Replace(block.id, text, plain(edit.reason))


def _arguments(block: Block, text: str) -> bool:
    """Whether a text is other arguments of a call: an object with the same keys."""
    try:
        said = json.loads(text)
        json.dumps(said, ensure_ascii=False, allow_nan=False).encode()  # half of a character may hide in an escape
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and bool(said) and said.keys() == block.input.keys() and not _deep(said)


def _deep(data: Any) -> bool:
    """Whether JSON data is nested deeper than anything sane: what copies and packs it later would give up."""
    level = [data]
    for _ in range(DEPTH):
        parts = [part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list)]
        level = [one for part in parts for one in part]
        if not level:
            return False
    return True


def latest(view: View) -> int:
    """Where the latest round starts: from here on nothing is dropped or folded."""
    return next((at for at in reversed(view.projection.rounds) if at >= 0), 0)


def _pinned(view: View, blocks: Iterable[str]) -> list[Pinned]:
    wanted = set(blocks)
    state = view.projection.state
    return [pin for pins in (state.pins, *state.moving.values()) for pin in pins.values() if pin.block in wanted]


def _depths(view: View, ids: Sequence[str]) -> list[int]:
    if not ids:
        raise Refused("no targets")
    nodes = view.projection.conversation.nodes
    if any(id not in nodes for id in ids) or not view.projection.conversation.on(view.projection.path, ids):
        raise Refused("not on this path")
    return sorted({nodes[id].depth for id in ids})


def _whole(view: View, chosen: set[int], *, turns: bool) -> None:
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


def _neighbours(view: View, chosen: set[int], *, folded: bool) -> None:
    """Nobody gets a neighbour of a role that may not stand there; no fold is cut."""
    items, apart = view.projection.items, view.projection.dialect.apart
    before: str | None = None
    gap = False
    for item in items:
        own = _own(item)
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


def _own(item: Item) -> set[int]:
    """The path positions that an item shows."""
    length = len(item.covers)
    return set(range(item.end - length, item.end))


def _drop(view: View, ids: Sequence[str], reason: str) -> Drop:
    chosen = set(_depths(view, ids))
    _whole(view, chosen, turns=True)
    _neighbours(view, chosen, folded=False)
    path = view.projection.path
    if _pinned(view, (block.id for index in chosen for block in path[index].blocks)):
        raise Refused("pinned")
    if not any(item.end - 1 in chosen and item.covers for item in view.projection.items):
        raise Refused("not in the view")
    return Drop(tuple(path[index].id for index in sorted(chosen)), str(reason))


def _fold(view: View, edit: Fold) -> Fold:
    text, depths = _text(edit.text), _depths(view, message_ids(edit.run))
    projection = view.projection
    path = projection.path
    shown = {index for item in projection.items if item.covers for index in _own(item)}
    run = range(depths[0], depths[-1] + 1)
    if depths[0] not in shown or any(index in shown and index not in depths for index in run):
        raise Refused("not one run of the view")
    chosen = set(run)
    _whole(view, chosen, turns=False)
    _neighbours(view, chosen, folded=True)
    ids, (carried, pins) = tuple(path[index].id for index in run), _carried(view, run)
    fold = Fold(ids, text, plain(edit.reason), carried, pins, plain(edit.full))
    freed = sum(item.tokens for item in projection.items if item.end - 1 in chosen)
    if projection.fold_tokens(fold) >= freed:
        raise Refused("does not shrink")
    return fold


def _carried(view: View, run: range) -> tuple[tuple[Any, ...], tuple[Pin, ...]]:
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


def _insert(view: View, edit: Insert) -> Insert:
    text, path = _text(edit.text), view.projection.path
    edit = Insert(plain(edit.anchor), edit.text, edit.reason)  # type: ignore[arg-type]
    if edit.anchor not in get_args(Anchor):
        raise Refused(f"no anchor {edit.anchor[:20]!r}; it is one of {', '.join(get_args(Anchor))}")
    if edit.anchor == "system":
        if view.answers:
            raise Refused("system text is fixed after the first request")
        at = next((message for message in path if message.role != "system"), path[-1]).id
    elif edit.anchor == "tail":
        if path[-1].role != "user":
            raise Refused("the conversation does not end with a user message")
        if _waiting(view):
            raise Refused("a call still waits for its result")
        at = path[-1].id
    else:
        boundary = view.projection.boundary
        if boundary is None:
            raise Refused("no boundary")
        at = boundary.run[-1]
    tokens = view.tokens + view.context.meter.factor * view.projection.conversation.count(text)
    if edit.anchor != "after_boundary" and tokens > view.window.auto:
        raise NoRoom("no room")
    edit = Insert(edit.anchor, text, plain(edit.reason), at)
    inserted = view.projection.state.inserts.get(edit.key, ())
    if any(text == other for other, _ in inserted):
        raise Refused("already inserted")
    return edit


def _waiting(view: View) -> bool:
    """Whether a call of the latest round, also one that the provider runs, has no result that was said."""
    blocks = [block for message in view.projection.path[latest(view) :] for block in message.blocks if block.call]
    answered = {block.call for block in blocks if block.type != "tool_use"}
    return any(block.type == "tool_use" and block.call not in answered for block in blocks)


def _restore(view: View, edit: Restore) -> Restore:
    projection = view.projection
    known = {seq for seq, _ in projection.rows if seq}
    if not edit.decisions or not set(edit.decisions) <= known:
        raise Refused("no such decision")
    depths = _depths(view, [id.partition(".")[0] for one in _undone(view, edit) for id in targets(one)])
    return Restore(tuple(map(int, edit.decisions)), plain(edit.reason), projection.path[depths[0]].id)


def _undone(view: View, edit: Restore) -> list[Edit]:
    """The edits on this path that a `Restore` takes back."""
    projection = view.projection
    here = [(seq, one) for seq, one in projection.rows if projection.conversation.on(projection.path, targets(one))]
    gone = {seq for _, one in here if isinstance(one, Restore) for seq in one.decisions}
    return [one for seq, one in here if seq in set(edit.decisions) - gone and not lasting(one)]


def _evict(view: View, edit: Evict) -> Evict:
    """A result that the provider's cache surely holds: it is deleted there when the next user message is sent."""
    block, text = _block(view, edit.block), _text(edit.text)
    message, path = _shown(view, block), view.projection.path
    if not view.offers("cache_edits"):
        raise Refused("the provider deletes nothing from its cache")
    if block.type != "tool_result" or block.server:
        raise Refused(f"{block.type} cannot be evicted")
    if path[-1].role != "user":
        raise Refused("the conversation does not end with a user message")
    if not view.sent(message.depth) or message.depth >= view.held:
        raise Refused("not in the cache")
    if block.id in view.projection.state.faces or view.projection.repaired(block):
        raise Refused("already replaced")
    if block.id in view.projection.state.evicts:
        raise Refused("already evicted")
    if _pinned(view, [block.id]):
        raise Refused("pinned")
    if view.projection.count(block.id, text) >= message.sizes[int(block.id.partition(".")[2])]:
        raise Refused("does not shrink")
    return Evict(block.id, text, plain(edit.reason), path[-1].id)


def _param(view: View, edit: Param) -> Param:
    feature, settings = plain(edit.feature), data(edit.settings)
    if not view.offers(feature):
        raise Refused(f"the provider has no {feature}")
    if view.projection.state.params.get(feature) == settings:
        raise Refused("already so")
    return Param(feature, settings, plain(edit.reason), view.projection.path[0].id)


def _note(view: View, edit: Note) -> Note:
    key, upto = plain(edit.key), message_ids(edit.upto)[-1] if edit.upto else view.projection.path[-1].id
    if not view.on(upto):
        raise Refused("the note's message is not on this path")
    if key.startswith(KERNEL):
        raise Refused("a note of the kernel")
    return Note(key, data(edit.data), upto)


def data(said: Any) -> Any:
    """A copy of JSON data: the ledger's and ours stay one."""
    try:
        made = json.loads(json.dumps(said))
    except (TypeError, ValueError, RecursionError):
        raise Refused("data must be JSON") from None
    if _deep(made):
        raise Refused("data is nested too deeply")
    return made


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
        block = _block(view, edit.block)
    made = Pin(block.id, plain(edit.reason), plain(text), bool(edit.moving), _quote(block, text))
    if made.key in view.projection.state.pins:
        return None
    if view.holds(block, text) == "carried" and (made.moving or words):
        return made if made.moving else None
    _shown(view, block)
    if block.type not in _SHOWABLE:
        raise Refused(f"{block.type} cannot be pinned")
    if block.id in view.projection.state.evicts:
        raise Refused("already evicted")
    if text and (text not in block.text or not text.strip()):
        raise Refused("the block does not hold these words")
    if view.holds(block, text) != "shown":
        raise Refused("repaired" if view.projection.repaired(block) else "already replaced")
    return made


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


# ------------------------------------------------------------------ thinking


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


def _thinking(view: View, ids: Sequence[str], reason: str) -> Drop:
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
        _neighbours(view, chosen, folded=False)


def closed(view: View) -> int:
    """The position from which thinking is untouchable: the open turn, and an answer whose calls were just answered."""
    turns, start = view.projection.turns, latest(view)
    opened = turns[-1] if turns else 0
    if turns and view.projection.path[-1].role == "assistant" and not _waiting(view):
        return len(turns)  # the answer that closes the turn is the last message
    calls = any(block.type == "tool_use" for message in view.projection.path[start:] for block in message.blocks)
    return min(opened, start) if calls else opened


def position(view: View, edit: Edit) -> int | None:
    """The first path position at which an edit changes bytes (of an insert: behind which); None: nothing ever sent."""
    projection = view.projection
    nodes = projection.conversation.nodes
    match edit:
        case Replace(block=id):
            depth = nodes[id.partition(".")[0]].depth
            return 0 if view.sent(depth) and projection.dialect.breaks_all(projection.block(id)) else depth
        case Drop(what=ids) | Fold(run=ids):
            blocks = [block for id in ids if "." not in id for block in nodes[id].blocks]
            if any(projection.dialect.breaks_all(block) for block in blocks):
                return 0
            return min(nodes[id.partition(".")[0]].depth for id in ids)
        case Insert(anchor="after_boundary", at=id):
            return nodes[id].depth
        case Restore():
            places = [_restored(view, one) for one in _undone(view, edit)]
            return min((place for place in places if place is not None), default=None)
    return None


def _restored(view: View, edit: Edit) -> int | None:
    """The first path position whose bytes change when an edit is taken back."""
    if isinstance(edit, (Evict, Insert)):
        id = edit.block.partition(".")[0] if isinstance(edit, Evict) else edit.at
        return view.projection.conversation.nodes[id].depth
    return position(view, edit)
