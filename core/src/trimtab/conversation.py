"""What was said: messages and blocks with ids that never change, and the tree of all branches seen (R25)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from trimtab.dialect import Dialect

OVERHEAD = 4
"""Uncalibrated tokens that a message costs beside its blocks (role and separators)."""

AHEAD = 4
"""Messages looked at to tell for which of several runs a rendering of ours stands: a fold, its inserts, the next."""

__all__ = [
    "OVERHEAD",
    "Block",
    "BlockType",
    "Conversation",
    "Kind",
    "Location",
    "Message",
    "Role",
    "Wire",
    "digest",
    "tag",
    "tag_of",
]

Wire = Mapping[str, Any]
Kind = Literal["assistant", "mixed", "results", "system", "user"]
Role = Literal["assistant", "system", "user"]
BlockType = Literal["document", "image", "other", "text", "thinking", "tool_result", "tool_use"]


_TAG = re.compile(r"\n\[id:([0-9a-f]{6})\]\Z")


def tag_of(id: str) -> str:
    """The tag by which a model can name the message with this id: six hex digits."""
    return id[:6]


def tag(mark: str) -> str:
    """The end of a tagged message's text."""
    return f"\n[id:{mark}]"


def digest(*parts: object) -> str:
    """A 24-digit hex id of JSON-able parts; lone surrogates are escaped, key order does not matter."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One content block as said.

    ``text`` is what a reader sees: the text, the thinking, the arguments as JSON, or all text of a result.
    ``call`` pairs a tool_use with its tool_result; ``server`` marks calls that the provider ran itself.
    """

    id: str
    type: BlockType
    text: str = ""
    call: str = ""
    name: str = ""
    input: Mapping[str, Any] = field(default_factory=dict)
    error: bool = False
    server: bool = False
    media: bool = False
    wire: Any = None


@dataclass(slots=True, eq=False)
class Message:
    """One message as said: a node of the tree, under the message before it."""

    id: str
    parent: Message | None
    role: Role
    blocks: tuple[Block, ...]
    wire: Wire
    depth: int
    answers: int
    """How many answers, one or more assistant messages in a row, came before this one's own on its path."""
    sizes: tuple[int, ...]
    """Uncalibrated tokens of each block, counted once."""
    kind: Kind
    """``results`` holds nothing but tool results; ``mixed`` holds results and what the user said."""
    results: tuple[int, ...]
    """Positions of the tool results among the blocks."""
    children: list[Message] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """Uncalibrated tokens of the whole message."""
        return OVERHEAD + sum(self.sizes)


@dataclass(frozen=True, slots=True)
class Location:
    """Where a list of messages lies."""

    path: list[Message]
    handed: list[Any]
    """For each message of the path the object handed in; None where that was not what was said."""
    rendered: Mapping[int, Any]
    """Our own renderings that were handed back, by the position of the last message that they stand for."""
    straight: bool
    """Whether the list is the path, one for one, as said."""


class Conversation:
    """All messages ever seen under one session id, as a tree; `locate` finds or appends a list of them."""

    def __init__(self, dialect: Dialect, count: Callable[[str], int]) -> None:
        self.dialect = dialect
        self.count = count
        self.nodes: dict[str, Message] = {}
        self.roots: list[Message] = []
        self.aliases: Mapping[str, Sequence[Sequence[str]]] = {}
        """Id of a message that we rendered, to the ids of what it stands for (R25); newest first."""
        self.recall: Callable[[str], tuple[str, Wire] | None] = lambda id: None
        """Finds a stored original by id: (parent id, wire)."""
        self._path: list[Message] = []
        self._seen: list[Wire] = []
        self._ends: list[int] = []
        self._straight = True
        """Whether the last call's messages were its path, one for one, as said."""

    def locate(self, messages: Sequence[Any]) -> Location:
        """The path of ``messages``; what is new is parsed, hashed and counted once, a change makes a branch."""
        known = self._again(self._known(messages), len(messages))
        end = self._ends[known - 1] if known else 0
        path, seen, ends = self._path[:end], self._seen[:known], self._ends[:known]
        plains = [self.dialect.plain(message) for message in messages[known:]]
        for index, plain in enumerate(plains, 1):
            said = self._match(path, plain, plains[index : index + AHEAD])
            self._straight &= said
            seen.append(path[-1].wire if said else plain)
            ends.append(len(path))
        self._path, self._seen, self._ends = path, seen, ends
        if self._straight:
            return Location(list(path), list(messages), {}, straight=True)
        handed: list[Any] = [None] * len(path)
        rendered = {}
        for index, stop in enumerate(ends):
            if stop > (ends[index - 1] if index else 0):
                if path[stop - 1].wire == seen[index]:
                    handed[stop - 1] = messages[index]
                else:
                    rendered[stop - 1] = messages[index]
        self._straight = len(path) == len(seen) and None not in handed
        return Location(list(path), handed, rendered, straight=False)

    def _known(self, messages: Sequence[Any]) -> int:
        """How many messages equal those of the last call; one comparison in C when all do."""
        seen = self._seen
        size = min(len(seen), len(messages))
        step, start = 64, 0
        while start < size:
            stop = min(start + step, size)
            if list(messages[start:stop]) != seen[start:stop]:
                for index in range(start, stop):
                    if messages[index] != seen[index] and not self._same(
                        self.dialect.plain(messages[index]), seen[index]
                    ):
                        return index
            start = stop
        return size

    def _same(self, plain: Wire, known: Wire) -> bool:
        return plain == known or self.dialect.canonical(plain) == self.dialect.canonical(known)

    def id(self, parent: str, plain: Wire) -> str:
        """The id of a message behind the one with id ``parent``, in whatever spelling it comes (R25)."""
        return digest(parent, self.dialect.canonical(plain))

    def _again(self, known: int, size: int) -> int:
        """Before something new our renderings are read again: the same text may have come to stand for more."""
        for _ in range(AHEAD if known < size else 0):
            end = self._ends[known - 1] if known else 0
            said = end and self._seen[known - 1] is self._path[end - 1].wire
            if not known or (said and self._path[end - 1].id not in self.aliases):
                break
            known -= 1
        return known

    def _match(self, path: list[Message], plain: Wire, following: Sequence[Wire]) -> bool:
        """Walk one message on; whether it is one message as it was said."""
        parent = path[-1] if path else None
        node = next((child for child in (parent.children if parent else self.roots) if child.wire == plain), None)
        id = node.id if node else self.id(parent.id if parent else "", plain)
        node = node or self.nodes.get(id)
        runs = self._runs(parent, id, plain)
        if not runs:
            wire = plain if node else self._untagged(parent, plain)
            id = id if wire is plain else self.id(parent.id if parent else "", wire)
            path.append(node or self.nodes.get(id) or self.add(parent, wire, id))
            return wire is plain
        if node is not None:
            runs.insert(0, [node])
        elif id in self.nodes:  # a rendering may look like the first message that it stands for
            runs.append([self.nodes[id]])
        run = max(runs, key=lambda run: self._reach([*path, *run], following)) if runs[1:] else runs[0]
        path += run
        return run == [node]

    def _untagged(self, parent: Message | None, plain: Wire) -> Wire:
        """What was said, where a message ends with the tag that we would give it."""
        found = self.dialect.untag(plain, _TAG)
        ours = found and found[1] == tag(tag_of(self.id(parent.id if parent else "", found[0])))
        return found[0] if found and ours else plain

    def _runs(self, parent: Message | None, id: str, plain: Wire) -> list[list[Message]]:
        """What a rendering of ours may stand for, newest first; nothing of which an original cannot be had."""
        runs = []
        for ids in self.aliases.get(id, ()):
            run: list[Message] = []
            for id in ids:
                before = run[-1] if run else parent
                stored = None if id in self.nodes else self.recall(id)
                wire = stored[1] if stored else self._untagged(before, plain)
                if id not in self.nodes and self.id(before.id if before else "", wire) != id:
                    break
                run.append(self.nodes.get(id) or self.add(before, wire, id))
            else:
                runs.append(run)
        return runs

    def _reach(self, path: list[Message], plains: Sequence[Wire]) -> int:
        """How many messages in a row are known behind a path."""
        for count, plain in enumerate(plains):
            parent = path[-1] if path else None
            id = self.id(parent.id if parent else "", plain)
            runs = [[self.nodes[id]]] if id in self.nodes else self._runs(parent, id, plain)
            if not runs:
                return count
            path += runs[0]
        return len(plains)

    def add(self, parent: Message | None, plain: Wire, id: str) -> Message:
        """Append ``plain`` under ``parent``."""
        role, blocks = self.dialect.parse(plain, id)
        node = Message(
            id,
            parent,
            role,
            blocks,
            plain,
            depth=parent.depth + 1 if parent else 0,
            answers=parent.answers + (parent.role == "assistant" != role) if parent else 0,
            sizes=tuple(self.dialect.size(block, self.count) for block in blocks),
            kind=_kind(role, blocks),
            results=tuple(n for n, block in enumerate(blocks) if block.type == "tool_result"),
        )
        self.nodes[id] = node
        (parent.children if parent else self.roots).append(node)
        return node

    def on(self, path: Sequence[Message], ids: Iterable[str]) -> bool:
        """Whether all messages (or blocks, as ``message.n``) with these ids lie on ``path``."""
        for id in ids:
            node = self.nodes.get(id.partition(".")[0])
            if node is None or node.depth >= len(path) or path[node.depth] is not node:
                return False
        return True


def _kind(role: Role, blocks: Sequence[Block]) -> Kind:
    if role != "user":
        return role
    results = sum(block.type == "tool_result" for block in blocks)
    return "user" if not results else "results" if results == len(blocks) else "mixed"
