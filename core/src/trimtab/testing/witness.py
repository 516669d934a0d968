"""Looks at every request of a session, and fails where a promise of the design is broken.

It believes the kernel nothing but what it recorded: it compares what was handed in, what came out, what came out
before, and what the stores hold. Of a dialect it uses how messages are read, never how they are changed.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trimtab.conversation import Block
from trimtab.dialect import Dialect
from trimtab.edits import Drop, Edit, Evict, Fold, Pin, Repair, Replace, Restore, hidden
from trimtab.ledger import Decision, Ledger
from trimtab.projection import Item, Projection
from trimtab.report import Report
from trimtab.request import Request
from trimtab.rules import NAMING
from trimtab.session import Session

__all__ = ["Witness", "packed"]

Key = tuple[tuple[str, ...], str]
"""What a message stands for: ids of messages; of an insert the id that it follows, and its words."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One message of a request, with the item of the view that it was made from."""

    item: Item
    wire: Any
    packed: str
    blocks: tuple[Block, ...]

    @property
    def words(self) -> str:
        """All but its thinking, as one string."""
        return _words(self.blocks)


def packed(dialect: Dialect, wire: Any) -> str:
    """The bytes of a message as the provider understands it: no cache markers, one spelling."""
    return json.dumps(dialect.canonical(dialect.plain(wire)), sort_keys=True)


def _words(blocks: Sequence[Block]) -> str:
    return json.dumps([block.wire for block in blocks if block.type != "thinking"], sort_keys=True)


def _read(dialect: Dialect, wire: Any) -> tuple[Block, ...]:
    return dialect.parse(dialect.canonical(dialect.plain(wire)), "")[1]


class Witness:
    """Call it with every request of one conversation; raises `AssertionError`.

    ``bound``: the model binds thinking to all before it. ``alone``: no other process decides in this session.
    """

    def __init__(self, *, bound: bool, alone: bool = True) -> None:
        self.bound = bound
        self.alone = alone
        self.last: list[str] = []
        """The last request, message by message; empty where what comes next does not continue it."""
        self.words: list[str] = []
        """The same without thinking."""
        self.known: dict[Key, str] = {}
        """The same by what its messages stand for."""
        self.size = 0
        """How many messages were said when it was made."""
        self.answered: dict[str, list[str]] = {}
        """Id of an answer to the request that it answered; without thinking, which may go from the start."""
        self.gone: set[str] = set()
        """Ids of thinking that was removed from an answer that stayed."""
        self.thought: set[str] = set()
        """Ids of the thinking that the last request held."""

    def __call__(
        self, session: Session, handed: Sequence[Any], request: Request, earlier: Report | None = None
    ) -> None:
        """Check one request, made of the messages that were ``handed`` in.

        ``earlier``: the report of a request that the provider refused, so that this one takes its place.
        """
        projection, report, dialect = session.view.projection, request.report, session.dialect
        told = [report] if earlier is None else [earlier, report]
        shown = [
            Shown(item, wire, packed(dialect, wire), _read(dialect, wire))
            for item, wire in zip(projection.items, request.messages, strict=True)
        ]
        if self.last and len(projection.path) > self.size:
            self.answered[projection.path[self.size].id] = self.words
        assert not [failure for failure in report.failures if "nothing was decided" in failure]
        assert [found for found in dialect.validate(request.messages) if found.certain] == []
        _as_said(projection, handed, shown, copies=session.view.offers("cache_edits"))
        decisions = [session.ledger.decisions[outcome.seq - 1] for one in told for outcome in one.decisions]
        for decision in decisions:
            _shrinks(decision)
            for edit in decision.edits:
                _stored(session, edit)
        _pins(session, request, shown)
        if self.alone:
            _full_replay(session, projection)
            self._stable(projection, shown, _explained(session, decisions))
            full = any("the window was full" in words for one in told for words in one.warnings)
            removed = self.thought.intersection(_open_thinking(projection, decisions))
            assert full or not removed, "thinking of the open turn was removed"
            self._thinking(projection, shown, excused=full)
        self.size = len(projection.path)
        for one in shown:
            if one.item.wire is not None:
                one.wire["content"] = "a caller may do to our copies what it wants"

    def mark(self) -> Callable[[], None]:
        """Remember this moment; the returned call goes back to it."""
        known = {name: copy.copy(value) for name, value in vars(self).items()}
        return lambda: vars(self).update(known)

    def branch(self) -> None:
        """The agent changed its history: the next request does not continue the last one."""
        self.last, self.words, self.known, self.thought = [], [], {}, set()

    def _stable(self, projection: Projection, shown: Sequence[Shown], explained: set[str]) -> None:
        """Sent bytes change only where a decision of this pass speaks of them; without one, messages are added."""
        last, known = self.last, self.known
        self.last, self.words = [one.packed for one in shown], [one.words for one in shown]
        if not explained:
            assert self.last[: len(last)] == last, "sent bytes changed without a decision"
        self.known = {_stands(projection, one.item): one.packed for one in shown}
        for (ids, words), said in known.items():
            if self.known.get((ids, words)) != said:
                assert explained.issuperset(ids), "bytes changed of which no decision speaks"

    def _thinking(self, projection: Projection, shown: Sequence[Shown], *, excused: bool) -> None:
        """Kept whole or removed whole, never put back, the latest answer's left alone; bound to what it followed.

        ``excused``: the window was full.
        """
        self.thought = set()
        for at, (item, blocks) in enumerate((one.item, one.blocks) for one in shown):
            if item.message is None or item.role != "assistant":
                continue
            said = [block for block in item.message.blocks if block.type == "thinking"]
            there = [block.wire for block in blocks if block.type == "thinking"]
            kept = [block for block in said if block.wire in there]
            lost = {block.id for block in said} - {block.id for block in kept}
            mended = item.message.id in projection.state.repairs
            assert mended or not kept or not lost, "a part of an answer's thinking was removed"
            assert self.gone.isdisjoint(block.id for block in kept), "removed thinking came back"
            self.gone |= lost
            self.thought |= {block.id for block in kept}
            if self.bound and kept and item.message.id in self.answered:
                assert self.answered[item.message.id] == self.words[:at], "thinking behind a prefix that changed"
                self.answered[item.message.id] = self.words[:at]
        self._latest(projection, shown, excused=excused)

    def _latest(self, projection: Projection, shown: Sequence[Shown], *, excused: bool) -> None:
        """The latest answer is there, untouched; once its turn is closed, or ``excused``, its thinking may be gone."""
        latest = next((message for message in reversed(projection.path) if message.role == "assistant"), None)
        if latest is None or latest.id in projection.state.repairs:
            return
        found = next((one for one in shown if one.item.message is latest), None)
        if found is None:  # nothing but thinking
            assert excused or latest.depth < projection.turns[-1], "the latest answer is gone"
            assert all(block.type == "thinking" for block in latest.blocks), "the latest answer is gone"
            return
        if found.item.wire is not None:
            assert excused or latest.depth < projection.turns[-1], "the latest answer was changed"
            said = _read(projection.dialect, latest.wire)
            assert found.words == _words(said), "more than the thinking of the latest answer was changed"


def _stands(projection: Projection, item: Item) -> Key:
    if item.covers:
        return item.covers, ""
    at = item.end - (item.role != "system")  # system text goes with the message that it stands before
    return (projection.path[at].id,), item.text


def _as_said(projection: Projection, handed: Sequence[Any], shown: Sequence[Shown], *, copies: bool) -> None:
    """What was said never changes; a message that no edit touches is the very object that was handed in.

    ``copies``: it may be one with marks by which a provider knows what to delete from its cache.
    """
    dialect = projection.dialect
    assert [packed(dialect, message.wire) for message in projection.path] == [packed(dialect, one) for one in handed]
    for one in shown:
        if one.item.wire is None:
            assert one.item.message is not None
            said = handed[one.item.message.depth]
            assert one.wire is said or (copies and one.packed == packed(dialect, said))


def _full_replay(session: Session, projection: Projection) -> None:
    """What grew edit by edit is what the rows in the store say."""
    stored = Ledger(session.ledger.store, session.ledger.blobs, session.id)
    full = Projection(projection.conversation, projection.path, stored.rows())
    for mine, theirs in zip(projection.items, full.items, strict=True):
        assert all(getattr(mine, name) == getattr(theirs, name) for name in Item.__slots__)
    full.state.moving = projection.state.moving  # of no row
    assert (full.raw, full.state, full.results) == (projection.raw, projection.state, projection.results)


# ------------------------------------------------------------------ decisions


def _shrinks(decision: Decision) -> None:
    """Shortening frees tokens; exceptions are the name of an empty result, and what stands for an evicted one."""
    naming = decision.stage == "evict" or any(
        isinstance(edit, Replace) and len(edit.text) <= NAMING for edit in decision.edits
    )
    if not naming and all(isinstance(edit, (Drop, Fold, Replace)) for edit in decision.edits):
        assert decision.freed > 0, decision


def _stored(session: Session, edit: Edit) -> None:
    """The original of all that an edit hides can be read, and is what was said."""
    for id in (edit.message,) if isinstance(edit, Repair) else hidden(edit):
        message = session.conversation.nodes[id.partition(".")[0]]
        parent = message.parent.id if message.parent else ""
        kept = session.ledger.original(message.id)
        assert kept is not None
        assert (kept[0], packed(session.dialect, kept[1])) == (parent, packed(session.dialect, message.wire))
        if isinstance(edit, (Evict, Replace)) and (words := message.blocks[int(id.partition(".")[2])].text):
            assert session.ledger.blobs.get(session.ledger.originals[id]) == words.encode("utf-8", "replace")


def _open_thinking(projection: Projection, decisions: Sequence[Decision]) -> list[str]:
    """Ids of thinking that these decisions remove from messages of the open turn that stay."""
    opened = projection.turns[-1]
    stay = {item.id for item in projection.items if item.message and item.message.depth > opened}
    ids = [id for one in decisions for edit in one.edits if isinstance(edit, Drop) for id in edit.what if "." in id]
    return [id for id in ids if id.partition(".")[0] in stay]


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


def _pins(session: Session, request: Request, shown: Sequence[Shown]) -> None:
    """All that was ever pinned on this path stands in the request, verbatim; behind a summary once, in order."""
    projection, dialect = session.view.projection, session.dialect
    rows = [edit for _, edit in session.ledger.rows() if isinstance(edit, Pin) and session.view.on(edit.block)]
    fixed = {(edit.block, edit.text) for edit in rows}
    assert fixed == {(pin.block, pin.text) for pin in request.report.pins if not pin.moving}
    pinned = {(pin.block, pin.text) for pin in request.report.pins}
    texts = [block.text for one in shown for block in one.blocks]
    parts = [part for one in shown for part in _objects(one.wire)] if pinned else []
    for id, words in pinned:
        block = projection.block(id)
        assert any((words or block.text) in text for text in texts), "pinned words were lost"
        media = [part for part in dialect.carry(block, words) if part.get("type") != "text"]
        assert all(part in parts for part in media), "a pinned image was lost"
    for fold in (item.fold for item in projection.items if item.fold is not None):
        inside = [block for id in fold.run for block in projection.conversation.nodes[id].blocks]
        own = {pin.key for pin in fold.pins}
        for id, words in fixed:
            covered = any(one == id and (not other or (words and words in other)) for one, other in own)
            assert covered or not any(block.id == id for block in inside), "a fold does not carry a pin"
        carried = [part for block in inside for part in _carried(dialect, block, own)]
        assert [part for part in fold.carried if not isinstance(part, str)] == carried  # texts say who said it


def _carried(dialect: Dialect, block: Block, pinned: set[tuple[str, str]]) -> list[Any]:
    """What a fold must carry of a block: itself if it is pinned, else the words in it that are, in their order."""
    words = [text for id, text in pinned if id == block.id]
    if "" in words:
        return dialect.carry(block, "")
    ordered = sorted(words, key=lambda part: (block.text.index(part), part))
    return [part for text in ordered for part in dialect.carry(block, text)]


def _objects(wire: Any) -> Iterator[Any]:
    """Every object inside a wire value."""
    if isinstance(wire, Mapping):
        yield wire
        for value in wire.values():
            yield from _objects(value)
    elif isinstance(wire, list):
        for value in wire:
            yield from _objects(value)
