"""`project(conversation, ledger)`: what is shown, as one list of items. Pure: no clock, no disk, no plugin.

The state is what the recorded edits say; the items are the path seen through it. New messages append items, a changed
face renews one item, and only what changes the structure (drop, fold, insert, restore) lays the list anew.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trimtab.conversation import OVERHEAD, Block, Conversation, Message, Wire, digest, tag, tag_of
from trimtab.edits import (
    UNTAKEN,
    Drop,
    Edit,
    Evict,
    Fold,
    Insert,
    Note,
    Param,
    Pin,
    Repair,
    Replace,
    Restore,
    Tag,
    lasting,
    targets,
)

__all__ = ["Face", "Item", "Pinned", "Projection", "State"]


@dataclass(frozen=True, slots=True)
class Face:
    """What a block shows instead of what was said; ``text`` None: it is left out (thinking)."""

    text: str | None
    tokens: int


@dataclass(frozen=True, slots=True)
class Pinned:
    """Content that stays: a block, or ``text`` in it."""

    block: str
    text: str
    reason: str
    moving: bool = False
    """Whether it holds only until its hook is asked again."""


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """One message of the view. Equal ``key``s in a row mean equal bytes.

    It covers ``path[start:end]``: hidden messages in front of it, then its own (of a fold: its whole run; of an
    insert: nothing). ``wire`` None: the message as it was handed in.
    """

    key: str
    role: str
    tokens: int
    start: int
    end: int
    wire: Wire | None = None
    message: Message | None = None
    fold: Fold | None = None
    text: str = ""
    covers: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The message's id; of a fold the id of its first message."""
        return self.covers[0] if self.covers else ""


@dataclass(slots=True)
class State:
    """What the edits that apply on this path say, newest winning."""

    faces: dict[str, Face] = field(default_factory=dict)
    dropped: dict[str, None] = field(default_factory=dict)
    folds: dict[str, Fold] = field(default_factory=dict)
    """By the id of the first message; what contains another covers it."""
    inserts: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    repairs: dict[str, Repair] = field(default_factory=dict)
    pins: dict[tuple[str, str], Pinned] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    evicts: dict[str, Evict] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    """Messages from which on others are tagged, with their position."""
    moving: dict[str, dict[tuple[str, str], Pinned]] = field(default_factory=dict)
    """The moving pins of each hook: of no row, so they hold only as long as this state does."""

    @property
    def pinned(self) -> list[Pinned]:
        """All that must stay, each once."""
        moving = (pin for pins in self.moving.values() for pin in pins.items())
        return list({**dict(moving), **self.pins}.values())

    def copy(self) -> State:
        """Independent of this one; values are immutable."""
        return State(*(dict(getattr(self, name)) for name in self.__slots__))


class Projection:
    """The path, the state and the items; `copy` before changing what others hold."""

    def __init__(self, conversation: Conversation, path: list[Message], rows: Sequence[tuple[int, Edit]]) -> None:
        self.conversation = conversation
        self.dialect = conversation.dialect
        self.path = path
        self.rows = list(rows)
        self.version = 0
        self.mended = 0
        """Messages of the path up to which repairs are recorded."""
        self.rounds: list[int] = []
        """For each message of the path the index at which its round starts; -1 outside rounds."""
        self.turns: list[int] = []
        """For each message of the path the index of the user message that opened its turn; -1 before the first."""
        for message in path:
            self._place(message)
        self.state = State()
        self._replay()

    def copy(self) -> Projection:
        """A second projection to try edits on."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.state = self.state.copy()
        for name in ("rows", "items", "keys", "weights", "results", "path", "rounds", "turns"):
            setattr(other, name, list(getattr(self, name)))
        other.wired = dict(self.wired)
        return other

    def extend(self, messages: Iterable[Message]) -> None:
        """New messages at the end of the path, which no recorded edit speaks of."""
        for message in messages:
            self.path.append(message)
            self._place(message)
            self._add(self._item(message, self.items[-1].end if self.items else 0))
        self.version += 1

    def apply(self, edit: Edit) -> None:
        """Record one more edit, whose targets lie on the path; it has no number before it is in the ledger."""
        self.rows.append((0, edit))
        self.version += 1
        if isinstance(edit, Restore):
            self._replay()
            return
        self._absorb(edit)
        if isinstance(edit, Replace):
            self._renew(edit.block.partition(".")[0])
        elif isinstance(edit, Drop) and "." in edit.what[0]:
            ids = {id.partition(".")[0] for id in edit.what}
            if any(self._empty(self.conversation.nodes[id]) for id in ids):
                self._lay()
            else:
                for id in ids:
                    self._renew(id)
        elif isinstance(edit, Evict):
            self._renew(edit.block.partition(".")[0])
        elif not isinstance(edit, (Note, Param, Pin)) or getattr(edit, "key", "") == UNTAKEN:
            self._lay()

    def _place(self, message: Message) -> None:
        index = len(self.rounds)
        before = self.path[index - 1].kind if index else ""
        last = self.rounds[-1] if index else -1
        round = -1
        if message.kind == "assistant":
            round = last if before == "assistant" else index
        elif message.kind in ("results", "mixed"):
            round = next((at for at in reversed(self.rounds) if at >= 0), -1)
        self.rounds.append(round)
        opens = message.kind in ("user", "mixed")
        self.turns.append(index if opens else self.turns[-1] if index else -1)

    # ------------------------------------------------------------------ state

    def _replay(self) -> None:
        self.state = State(moving=self.state.moving)
        rows = [(seq, here) for seq, edit in self.rows if (here := self._here(edit)) is not None]
        undone = {seq for _, edit in rows if isinstance(edit, Restore) for seq in edit.decisions}
        for seq, edit in rows:
            if seq not in undone or lasting(edit):
                self._absorb(edit)
        self._lay()

    def _here(self, edit: Edit) -> Edit | None:
        """The edit if it applies on this path; of removed thinking what lies on it, for that may never come back."""
        on, path = self.conversation.on, self.path
        if isinstance(edit, Drop) and "." in edit.what[0]:
            ids = tuple(id for id in edit.what if on(path, (id,)))
            return Drop(ids, edit.reason) if ids else None
        return edit if on(path, targets(edit)) else None

    def _absorb(self, edit: Edit) -> None:
        state = self.state
        match edit:
            case Replace():
                state.faces[edit.block] = Face(edit.text, self.count(edit.block, edit.text))
                state.evicts.pop(edit.block, None)
            case Drop():
                for id in edit.what:
                    if "." in id:
                        state.faces[id] = Face(None, 0)
                    else:
                        state.dropped[id] = None
            case Fold():
                state.folds[edit.run[0]] = edit
            case Insert():
                state.inserts[edit.key] = (*state.inserts.get(edit.key, ()), (edit.text, edit.reason))
            case Repair():
                state.repairs[edit.message] = edit
            case Pin():
                state.pins[edit.key] = Pinned(edit.block, edit.text, edit.reason)
            case Note():
                state.notes[edit.key] = edit.data
            case Evict():
                state.evicts.setdefault(edit.block, edit)  # where it was first sent, also after a rewind
            case Param():
                state.params[edit.feature] = edit.settings
            case Tag():
                state.tags[edit.at] = self.conversation.nodes[edit.at].depth

    def count(self, id: str, text: str) -> int:
        """Uncalibrated tokens of ``text`` in the place of a block."""
        return self.dialect.size(replace(self.block(id), text=text, type="text", media=False), self.conversation.count)

    def block(self, id: str) -> Block:
        """The block with this id; `KeyError` where there is none."""
        message, _, n = id.partition(".")
        try:
            return self.conversation.nodes[message].blocks[int(n)]
        except (ValueError, IndexError):
            raise KeyError(id) from None

    # ------------------------------------------------------------------ items

    def _lay(self) -> None:
        self.items: list[Item] = []
        self.keys: list[str] = []
        self.weights: list[int] = []
        self.results: list[tuple[Message, int]] = []
        """Where the results that the view holds stand: message and position."""
        self.wired: dict[int, Item] = {}
        """Items that show something else than was handed in, by position."""
        self.raw = 0
        for item in self._items():
            self._add(item)
        self.straight = len(self.items) == len(self.path) and all(item.message for item in self.items)
        """Whether the view shows each message of the path as one message."""

    def _add(self, item: Item) -> None:
        if item.wire is not None:
            self.wired[len(self.items)] = item
        self.items.append(item)
        self.keys.append(item.key)
        self.weights.append(item.tokens)
        self.raw += item.tokens
        if item.message is not None:
            self.results += [(item.message, n) for n in item.message.results]

    def _items(self) -> Iterator[Item]:
        state, path = self.state, self.path
        outer = self._outermost()
        index = start = 0
        lead = next((n for n, message in enumerate(path) if message.role != "system"), len(path))
        while index < len(path):
            message = path[index]
            if index == lead:
                yield from self._inserted("system", start, index)
                start = index
            if index in outer:
                fold, end = outer[index]
                yield self._fold(fold, start, end)
                start = index = end
                yield from self._inserted(f"after_boundary:{path[end - 1].id}", start, end)
                continue
            index += 1
            if message.id in state.dropped:
                continue
            if not self._empty(message):
                yield self._item(message, start)
                start = index
            if f"tail:{message.id}" in state.inserts:
                yield from self._inserted(f"tail:{message.id}", start, index)
                start = index
        if lead == len(path):
            yield from self._inserted("system", start, index)

    @property
    def boundary(self) -> Fold | None:
        """The fold that stands where the view starts, behind system messages."""
        return next((item.fold for item in self.items if item.role != "system"), None)

    def _outermost(self) -> dict[int, tuple[Fold, int]]:
        spans: dict[int, tuple[Fold, int]] = {}
        for fold in self.state.folds.values():
            first = self.conversation.nodes[fold.run[0]].depth
            spans[first] = (fold, first + len(fold.run))
        reach = 0
        for first in sorted(spans):
            end = spans[first][1]
            if end <= reach:
                del spans[first]
            reach = max(reach, end)
        return {first: span for first, span in spans.items() if self.path[first].id not in self.state.dropped}

    def _empty(self, message: Message) -> bool:
        """Whether nothing of a message is left: a repair took all of it, or all was thinking that is gone."""
        repair, faces = self.state.repairs.get(message.id), self.state.faces
        if repair is not None:
            return not repair.blocks
        return bool(message.blocks) and all(b.id in faces and faces[b.id].text is None for b in message.blocks)

    def _inserted(self, key: str, start: int, end: int) -> Iterator[Item]:
        for text, _ in self.state.inserts.get(key, ()):
            wire = self.dialect.instruction(text) if key == "system" else self.dialect.user([text])
            if wire is not None:
                role, tokens = str(wire["role"]), OVERHEAD + self.conversation.count(text)
                yield Item(digest(wire), role, tokens, start, end, wire, text=text)
                start = end

    def _fold(self, fold: Fold, start: int, end: int) -> Item:
        wire = self.dialect.user([fold.block if self.native(fold) else fold.text, *fold.carried])
        return Item(
            digest(wire),
            "user",
            self.fold_tokens(fold),
            start,
            end,
            wire,
            fold=fold,
            text=fold.text,
            covers=fold.run,
        )

    def native(self, fold: Fold) -> bool:
        """Whether the provider's own block stands in the place of a fold's text: it takes it, as far as is known."""
        return fold.block is not None and not self.state.notes.get(UNTAKEN)

    def fold_tokens(self, fold: Fold) -> int:
        """Uncalibrated tokens of the message that stands for a run."""
        return self._size(self.dialect.user([fold.text, *fold.carried]))

    def _size(self, wire: Wire) -> int:
        _, blocks = self.dialect.parse(wire, "")
        return OVERHEAD + sum(self.dialect.size(block, self.conversation.count) for block in blocks)

    def _item(self, message: Message, start: int) -> Item:
        faces = {
            n: self.state.faces[block.id] for n, block in enumerate(message.blocks) if block.id in self.state.faces
        }
        repair = self.state.repairs.get(message.id)
        end, covers = message.depth + 1, (message.id,)
        wire, tokens = None, message.tokens
        if repair is not None:
            wire = self.dialect.rebuild(message, repair.blocks, {n: face.text for n, face in faces.items()})
            tokens = self._size(wire)
        elif faces:
            wire = self.dialect.render(message, {n: face.text for n, face in faces.items()})
            tokens += sum(face.tokens - message.sizes[n] for n, face in faces.items())
        if self.state.evicts:
            tokens -= sum(message.sizes[n] for n in message.results if message.blocks[n].id in self.state.evicts)
        if mark := self.tag(message):
            tagged = self.dialect.tag(message.wire if wire is None else wire, tag(mark))
            if tagged is not None:
                wire, tokens = tagged, tokens + self.conversation.count(tag(mark))
        key = message.id if wire is None else digest(wire)
        return Item(key, message.role, tokens, start, end, wire, message, covers=covers)

    def tag(self, message: Message) -> str:
        """The tag that a message ends with; empty where it has none."""
        tagged = message.role == "user" and any(message.depth >= depth for depth in self.state.tags.values())
        return tag_of(message.id) if tagged else ""

    def _ends(self) -> list[int]:
        """Of each run of user-role messages, which a provider may merge, the position of the last that holds results.

        Where none does, of its last message.
        """
        ends: list[int] = []
        last: Message | None = None
        for n, item in enumerate(self.items):
            if item.role != "user":
                last = None
            elif item.message is not None and (last is None or item.message.results or not last.results):
                ends[len(ends) - (last is not None) :] = [n]
                last = item.message
        return ends

    def deletions(self) -> dict[int, list[str]]:
        """Where the deletions of evicted results are sent: position of a user message to the calls they answer.

        A deletion stays where it was first sent; if that message is hidden, it moves to the next user message.
        """
        shown = {item.message.id for item in self.items if item.message is not None}
        users = self._ends()
        found: dict[int, list[str]] = {}
        for id, evict in self.state.evicts.items():
            at = self.conversation.nodes[evict.at].depth
            place = next((n for n in users if self.items[n].end > at), None)
            if place is not None and id.partition(".")[0] in shown:
                found.setdefault(place, []).append(self.block(id).call)
        return found

    def _at(self, depth: int) -> int:
        """Which item shows, or hides, the path message at a position; as many as there are where it is none."""
        return bisect_right(self.items, depth, key=lambda item: item.end)

    def covering(self, id: str) -> Item | None:
        """The item that shows a message of the path, alone or in a fold; None where it is hidden."""
        at = self._at(self.conversation.nodes[id].depth)
        item = self.items[at] if at < len(self.items) else None
        return item if item is not None and id in item.covers else None

    def repaired(self, block: Block) -> bool:
        """Whether a repair took the block out of its message, or changed it."""
        message, _, n = block.id.partition(".")
        repair = self.state.repairs.get(message)
        if repair is None:
            return False
        alike = self.conversation.nodes[message].blocks[: int(n)]  # of several that say the same, the first stay
        return bool(repair.blocks.count(block.wire) <= sum(other.wire == block.wire for other in alike))

    def _renew(self, id: str) -> None:
        """Render one message again, where it stands."""
        low = self._at(self.conversation.nodes[id].depth)
        old = self.items[low]
        if old.message is not None and old.message.id == id:
            item = self.items[low] = self._item(old.message, old.start)
            self.keys[low], self.weights[low] = item.key, item.tokens
            self.raw += item.tokens - old.tokens
            if item.wire is not None:
                self.wired[low] = item
