"""Whether an edit is safe: local checks of its targets and their neighbours (R7, R23, R24, R27).

`check` reduces what a stage yielded to ids and frozen data, or raises `Refused` with the rule in words. Nothing here
knows when an edit is wanted; that is `trimtab.when`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from trimtab.conversation import Block
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
    Replace,
    Restore,
    lasting,
    message_ids,
    targets,
)
from trimtab.errors import plain
from trimtab.neighbours import (
    NoRoom,
    Refused,
    block_of,
    check_neighbours,
    check_whole,
    depths_of,
    latest,
    message_of,
    positions,
    waiting,
)
from trimtab.pinning import SHOWABLE, carried
from trimtab.projection import Pinned
from trimtab.thinking import removed
from trimtab.view import View

__all__ = ["NAMING", "check", "data", "position"]

NAMING = 100
"""Characters that may stand for an empty result: the one replacement that may grow."""

DEPTH = 100
"""Levels that arguments and notes may be nested."""

_REPLACEABLE = (*SHOWABLE, "tool_use")


def check(view: View, edit: Any) -> Edit:
    """The edit as it can be recorded; raises `Refused`."""
    match edit:
        case Replace():
            return _replace(view, edit)
        case Drop():
            ids = message_ids(edit.what)
            return removed(view, ids, edit.reason) if any("." in id for id in ids) else _drop(view, ids, edit.reason)
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


def _text(text: Any) -> str:
    plain: str = str.__str__(text) if isinstance(text, str) else ""  # not a subclass that answers as it likes
    if not plain.strip():
        raise Refused("empty text")
    if not plain.isascii() and any("\ud800" <= char <= "\udfff" for char in plain):
        raise Refused("lone surrogate")
    return plain


def _replace(view: View, edit: Replace) -> Replace:
    block, text = block_of(view, edit.block), _text(edit.text)
    message = message_of(view, block)
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


def _pinned(view: View, blocks: Iterable[str]) -> list[Pinned]:
    wanted = set(blocks)
    state = view.projection.state
    return [pin for pins in (state.pins, *state.moving.values()) for pin in pins.values() if pin.block in wanted]


def _drop(view: View, ids: Sequence[str], reason: str) -> Drop:
    chosen = set(depths_of(view, ids))
    check_whole(view, chosen, turns=True)
    check_neighbours(view, chosen, folded=False)
    path = view.projection.path
    if _pinned(view, (block.id for index in chosen for block in path[index].blocks)):
        raise Refused("pinned")
    if not any(item.end - 1 in chosen and item.covers for item in view.projection.items):
        raise Refused("not in the view")
    return Drop(tuple(path[index].id for index in sorted(chosen)), str(reason))


def _fold(view: View, edit: Fold) -> Fold:
    text, depths = _text(edit.text), depths_of(view, message_ids(edit.run))
    projection = view.projection
    path = projection.path
    shown = {index for item in projection.items if item.covers for index in positions(item)}
    run = range(depths[0], depths[-1] + 1)
    if depths[0] not in shown or any(index in shown and index not in depths for index in run):
        raise Refused("not one run of the view")
    chosen = set(run)
    check_whole(view, chosen, turns=False)
    check_neighbours(view, chosen, folded=True)
    ids, (wires, pins) = tuple(path[index].id for index in run), carried(view, run)
    fold = Fold(ids, text, plain(edit.reason), wires, pins, _native(view, ids, edit.block), plain(edit.full))
    freed = sum(item.tokens for item in projection.items if item.end - 1 in chosen)
    if projection.fold_tokens(fold) >= freed:
        raise Refused("does not shrink")
    return fold


def _native(view: View, ids: tuple[str, ...], block: Any) -> Any:
    """The provider's block for a run: only one that it gave in this pass, only where the view starts."""
    if block is None:
        return None
    first = next((item for item in view.projection.items if item.covers), None)
    if view.context.native.get(ids) != block or first is None or ids[0] not in first.covers:
        raise Refused("a block that the provider did not give for this run")
    return data(block)


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
        if waiting(view):
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


def _restore(view: View, edit: Restore) -> Restore:
    projection = view.projection
    known = {seq for seq, _ in projection.rows if seq}
    if not edit.decisions or not set(edit.decisions) <= known:
        raise Refused("no such decision")
    depths = depths_of(view, [id.partition(".")[0] for one in _undone(view, edit) for id in targets(one)])
    return Restore(tuple(map(int, edit.decisions)), plain(edit.reason), projection.path[depths[0]].id)


def _undone(view: View, edit: Restore) -> list[Edit]:
    """The edits on this path that a `Restore` takes back."""
    projection = view.projection
    here = [(seq, one) for seq, one in projection.rows if projection.conversation.on(projection.path, targets(one))]
    gone = {seq for _, one in here if isinstance(one, Restore) for seq in one.decisions}
    return [one for seq, one in here if seq in set(edit.decisions) - gone and not lasting(one)]


def _evict(view: View, edit: Evict) -> Evict:
    """A result that the provider's cache surely holds: it is deleted there when the next user message is sent."""
    block, text = block_of(view, edit.block), _text(edit.text)
    message, path = message_of(view, block), view.projection.path
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
    if view.projection.state.params.get(feature) == settings or (feature == "drop_block" and not settings):
        raise Refused("already so" if settings else "what is bound to something else stays so")
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
