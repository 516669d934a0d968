"""Looks at every request of a session, and fails where a promise of docs/design.md is broken.

It believes the kernel nothing but what it recorded: it compares what was handed in, what came out, what came out
before, and what the stores hold.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from play import bare
from trimtab import Request, Session
from trimtab.conversation import Block
from trimtab.dialects.anthropic import validate
from trimtab.edits import Drop, Edit, Fold, Pin, Repair, Replace, Restore, targets
from trimtab.ledger import Decision, Ledger
from trimtab.projection import Item, Projection
from trimtab.rules import NAMING

__all__ = ["Witness", "packed"]

Shown = Sequence[tuple[Item, Any]]
"""The messages of a request, each with the item of the view that it was made from."""

Key = tuple[tuple[str, ...], str]
"""What a message stands for: ids of messages; of an insert the id that it follows, and its words."""


class Witness:
    """Call it with every request of one conversation.

    ``bound``: the model binds thinking to all before it. ``alone``: no other process decides in this session.
    """

    def __init__(self, *, bound: bool, alone: bool = True) -> None:
        self.bound = bound
        self.alone = alone
        self.last: list[str] = []
        """The last request, message by message; empty where what comes next does not continue it."""
        self.known: dict[Key, str] = {}
        """The same by what its messages stand for."""
        self.size = 0
        """How many messages were said when it was made."""
        self.answered: dict[str, list[str]] = {}
        """Id of an answer to the request that it answered; without thinking, which may go from the start."""
        self.gone: set[str] = set()
        """Ids of thinking that was removed from an answer that stayed."""

    def __call__(self, session: Session, handed: Sequence[Any], request: Request) -> None:
        """Check one request, made of the messages that were ``handed`` in."""
        projection, report = session.view.projection, request.report
        shown: Shown = list(zip(projection.items, request.messages, strict=True))
        if self.last and len(projection.path) > self.size:
            self.answered[projection.path[self.size].id] = list(map(_unthinking, self.last))
        assert not [failure for failure in report.failures if "nothing was decided" in failure]
        assert [found for found in validate(request.messages) if found.certain] == []
        _as_said(projection, handed, shown)
        decisions = [session.ledger.decisions[outcome.seq - 1] for outcome in report.decisions]
        for decision in decisions:
            _shrinks(decision)
            for edit in decision.edits:
                _stored(session, edit)
        _pins(session, request)
        if self.alone:
            _full_replay(session, projection)
            self._stable(projection, shown, _explained(session, decisions))
            self._thinking(projection, excused=any("the window was full" in words for words in report.warnings))
        self.size = len(projection.path)
        for item, wire in shown:
            if item.wire is not None:
                wire["content"] = "a caller may do to our copies what it wants"

    def branch(self) -> None:
        """The agent changed its history: the next request does not continue the last one."""
        self.last, self.known = [], {}

    def _stable(self, projection: Projection, shown: Shown, explained: set[str]) -> None:
        """Sent bytes change only where a decision of this pass speaks of them; without one, messages are added."""
        last, known = self.last, self.known
        self.last = [packed(wire) for _, wire in shown]
        if not explained:
            assert self.last[: len(last)] == last, "sent bytes changed without a decision"
        self.known = {
            (item.covers, "") if item.covers else ((projection.path[item.end - 1].id,), item.text): said
            for (item, _), said in zip(shown, self.last, strict=True)
        }
        for (ids, words), said in known.items():
            if self.known.get((ids, words)) != said:
                assert explained.issuperset(ids), "bytes changed of which no decision speaks"

    def _thinking(self, projection: Projection, *, excused: bool) -> None:
        """Kept whole or removed whole, never put back, the latest answer's left alone; bound to what it followed."""
        answers = [(at, item) for at, item in enumerate(projection.items) if item.message and item.role == "assistant"]
        newest = next((start for start in reversed(projection.rounds) if start >= 0), 0)
        for at, item in answers:
            assert item.message is not None
            said = [block for block in item.message.blocks if block.type == "thinking"]
            kept = [block for block in said if packed(block.wire) in self.last[at]]
            lost = {block.id for block in said} - {block.id for block in kept}
            mended = item.message.id in projection.state.repairs
            assert mended or not kept or not lost, "a part of an answer's thinking was removed"
            assert self.gone.isdisjoint(block.id for block in kept), "removed thinking came back"
            self.gone |= lost
            if self.bound and kept and item.message.id in self.answered:
                prefix = list(map(_unthinking, self.last[:at]))
                allowed = excused and item.message.depth >= newest
                assert allowed or self.answered[item.message.id] == prefix, "thinking behind a prefix that changed"
                self.answered[item.message.id] = prefix
        latest = next((message for message in reversed(projection.path) if message.role == "assistant"), None)
        if latest is not None and latest.id not in projection.state.repairs:
            assert [item.wire for _, item in answers if item.message is latest] == [None]


def packed(wire: Any) -> str:
    """The bytes of a message or block as the provider understands it: no cache markers, a string is one text block."""
    plain = bare(wire)
    return json.dumps({**plain, "content": _blocks(plain["content"])} if "role" in plain else plain, sort_keys=True)


def _unthinking(message: str) -> str:
    """A packed message without its thinking."""
    wire = json.loads(message)
    return packed({**wire, "content": [block for block in wire["content"] if "thinking" not in block["type"]]})


def _as_said(projection: Projection, handed: Sequence[Any], shown: Shown) -> None:
    """What was said never changes; a message that no edit touches is the very object that was handed in."""
    assert [packed(message.wire) for message in projection.path] == [packed(message) for message in handed]
    for item, wire in shown:
        if item.wire is None:
            assert item.message is not None
            assert wire is handed[item.message.depth]


def _full_replay(session: Session, projection: Projection) -> None:
    """What grew edit by edit is what the rows in the store say."""
    stored = Ledger(session.ledger.store, session.ledger.blobs, session.id)
    full = Projection(projection.conversation, projection.path, stored.rows())
    for mine, theirs in zip(projection.items, full.items, strict=True):
        assert all(getattr(mine, name) == getattr(theirs, name) for name in Item.__slots__)
    assert (full.raw, full.state, full.results) == (projection.raw, projection.state, projection.results)


# ------------------------------------------------------------------ decisions


def _shrinks(decision: Decision) -> None:
    """Shortening frees tokens; the one exception names an empty result."""
    naming = any(isinstance(edit, Replace) and len(edit.text) <= NAMING for edit in decision.edits)
    if not naming and all(isinstance(edit, (Drop, Fold, Replace)) for edit in decision.edits):
        assert decision.freed > 0, decision


def _stored(session: Session, edit: Edit) -> None:
    """The original of all that an edit hides can be read, and is what was said."""
    if not isinstance(edit, (Drop, Fold, Repair, Replace)):
        return
    for id in targets(edit):
        message = session.conversation.nodes[id.partition(".")[0]]
        parent = message.parent.id if message.parent else ""
        kept = session.ledger.original(message.id)
        assert kept is not None
        assert (kept[0], packed(kept[1])) == (parent, packed(message.wire))
        if isinstance(edit, Replace) and (words := message.blocks[int(id.partition(".")[2])].text):
            assert session.ledger.blobs.get(session.ledger.originals[id]) == words.encode("utf-8", "replace")


def _explained(session: Session, decisions: Sequence[Decision]) -> set[str]:
    """The messages whose sent bytes these decisions may change, because a `when` let them through."""
    ids: set[str] = set()
    for decision in (one for one in decisions if not one.free):
        ids |= decision.touches()
        for edit in decision.edits:
            if isinstance(edit, Restore):
                ids = ids.union(*(session.ledger.decisions[seq - 1].touches() for seq in edit.decisions))
    return ids


# ------------------------------------------------------------------ pins


def _pins(session: Session, request: Request) -> None:
    """All that was ever pinned on this path stands in the request, verbatim; behind a summary once, in order."""
    projection = session.view.projection
    rows = [edit for _, edit in session.ledger.rows() if isinstance(edit, Pin) and session.view.on(edit.block)]
    pinned = {(edit.block, edit.text) for edit in rows}
    assert pinned == {(pin.block, pin.text) for pin in request.report.pins}
    blocks = [block for wire in request.messages for block in _blocks(wire["content"])]
    texts, parts = list(map(_text, blocks)), [part for block in blocks for part in _media(block)]
    for id, words in pinned:
        block = projection.block(id)
        assert any((words or block.text) in text for text in texts), "pinned words were lost"
        assert words or all(part in parts for part in _media(block.wire)), "a pinned image was lost"
    for fold in (item.fold for item in projection.items if item.fold is not None):
        inside = [block for id in fold.run for block in projection.conversation.nodes[id].blocks]
        carried = [part for block in inside for part in _carried(block, [w for id, w in pinned if id == block.id])]
        assert [part.get("text") or part for part in fold.carried] == carried


def _carried(block: Block, words: list[str]) -> list[Any]:
    """What a fold must carry of a block: itself if it is pinned, else the words in it that are, in their order."""
    if "" not in words:
        return sorted(words, key=lambda part: (block.text.index(part), part))
    return [*([block.text] if block.text.strip() else []), *_media(block.wire)]


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text(wire: Any) -> str:
    """What a wire block says: its text, or all text of a result."""
    said = wire.get("content") if wire["type"] == "tool_result" else wire.get("text")
    return "\n".join(part["text"] for part in said if part["type"] == "text") if isinstance(said, list) else said or ""


def _media(wire: Any) -> list[Any]:
    """The images and documents that a wire block is or holds."""
    inside = wire.get("content") if wire["type"] == "tool_result" else [wire]
    return [part for part in inside if part["type"] in ("document", "image")] if isinstance(inside, list) else []
