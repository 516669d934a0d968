"""The append-only ledger of decisions: what every pass decided, one row each, and the originals it hides."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trimtab.edits import BOUNDARY, Edit, Fold, Insert, Note, Pin, Restore, from_row, lasting, targets, to_row
from trimtab.errors import Lost, StorageError
from trimtab.report import Boundary
from trimtab.stores import BlobStore, LedgerStore

__all__ = ["Decision", "Ledger"]

VERSION = 1
"""Of a row's format; a newer one is refused rather than misread."""

TRIES = 10
"""Attempts to append while other processes write to the same session: chosen."""

FULL = ".full"
"""Behind the id of a fold's first message: the key of the text of the whole run among the originals."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The edits of one stage in one pass."""

    stage: str
    trigger: str
    time: float
    edits: tuple[Edit, ...]
    free: bool
    boundary: bool
    freed: float
    rewritten: float
    turn: int
    """User messages on the path when it was decided."""
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Ids of messages as rendered by it, to the ids of what they stand for."""
    originals: dict[str, str] = field(default_factory=dict)
    """Message id (its whole original), block id (its text) or the id of a fold's text, to blob key."""
    seq: int = 0

    def touches(self) -> set[str]:
        """The ids of all messages it speaks of."""
        return {id.partition(".")[0] for edit in self.edits for id in targets(edit)}

    def to_json(self) -> str:
        """One ledger row."""
        row: dict[str, Any] = {"v": VERSION}
        row.update((name, getattr(self, name)) for name in self.__slots__ if name not in ("edits", "seq"))
        return json.dumps({**row, "edits": [to_row(edit) for edit in self.edits]}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str, seq: int) -> Decision:
        """Read a row; raises `StorageError` on a newer format, and on what is no row."""
        try:
            row = json.loads(text)
            if row.pop("v") > VERSION:
                raise StorageError(f"decision {seq} was written by a newer version of trimtab; upgrade to read it")
            row["edits"] = tuple(from_row(edit) for edit in row["edits"])
            row["aliases"] = {id: tuple(map(str, ids)) for id, ids in row["aliases"].items()}
            row["originals"] = {id: str(key) for id, key in row["originals"].items()}
            one = cls(**row, seq=seq)
            one.touches()  # its targets are ids
            return one
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise StorageError(f"decision {seq} is damaged ({type(error).__name__}: {error})") from error


class Ledger:
    """One session's decisions, in memory and in its store; originals go to the blob store first (R9)."""

    def __init__(self, store: LedgerStore, blobs: BlobStore, session: str) -> None:
        self.store = store
        self.blobs = blobs
        self.session = session
        self.decisions: list[Decision] = []
        self.originals: dict[str, str] = {}
        self.touched: set[str] = set()
        """Ids of all messages that any decision speaks of."""
        self.aliases: dict[str, list[tuple[str, ...]]] = {}
        """What messages as rendered may stand for, newest first: one text may be used again for another run."""
        self._last: list[str] = []
        """The text of the last row."""
        self._gone = ""
        """What is wrong once the rows were deleted in the store: others may have begun anew there."""
        self.reload()

    def reload(self) -> list[Decision]:
        """Read rows that others appended; returns them. Raises `StorageError`, also where ours are there no more."""
        last = len(self.decisions)
        rows = self.store.load(self.session, after=last - 1)
        if rows[: len(self._last)] != self._last:
            self._gone = f"the decisions of session {self.session!r} were deleted under it; open it anew"
        if self._gone:
            raise StorageError(self._gone)
        news = [Decision.from_json(row, last + n + 1) for n, row in enumerate(rows[len(self._last) :])]
        self._take(news)
        self._last = rows[-1:]
        return news

    def append(self, decisions: Sequence[Decision]) -> list[Decision]:
        """Append all or none; raises `Lost` where another process was first, `StorageError`."""
        if self._gone:
            raise StorageError(self._gone)
        last = len(self.decisions)
        rows = [decision.to_json() for decision in decisions]
        self.store.append(self.session, last, rows)
        self._last = rows[-1:] or self._last
        written = [replace(decision, seq=last + n + 1) for n, decision in enumerate(decisions)]
        self._take(written)
        return written

    def insist(self, make: Callable[[], Sequence[Decision]]) -> list[Decision]:
        """Append what ``make`` gives, anew each time that another process was first; raises `StorageError`."""
        for _ in range(TRIES):
            try:
                return self.append(make())
            except Lost:
                self.reload()
        raise StorageError(f"other processes keep writing to session {self.session!r}; nothing was recorded")

    def _take(self, decisions: Sequence[Decision]) -> None:
        for decision in decisions:
            self.decisions.append(decision)
            self.originals.update(decision.originals)
            for id, ids in decision.aliases.items():
                others = [other for other in self.aliases.get(id, ()) if other != ids]
                self.aliases[id] = [ids, *others]
            self.touched |= decision.touches()

    def rows(self) -> list[tuple[int, Edit]]:
        """All edits with the number of their decision."""
        return [(decision.seq, edit) for decision in self.decisions for edit in decision.edits]

    def boundaries(self) -> list[Boundary]:
        """The boundaries that were recorded, the oldest first; an undone one too. Raises `StorageError`."""
        found = []
        for one in self.decisions:
            for edit in (edit for edit in one.edits if isinstance(edit, Note) and edit.key == BOUNDARY):
                try:
                    found.append(Boundary.of(edit.data, one.seq, one.time))
                except (KeyError, TypeError) as error:
                    raise StorageError(f"decision {one.seq} is damaged ({type(error).__name__}: {error})") from error
        return found

    def explain(self) -> list[dict[str, Any]]:
        """Each recorded edit: its decision, why, what is shown now, and where the originals lie (``way_back``)."""
        undone = {seq for _, edit in self.rows() if isinstance(edit, Restore) for seq in edit.decisions}
        return [
            {
                "decision": decision.seq,
                "stage": decision.stage,
                "time": decision.time,
                "trigger": decision.trigger,
                "free": decision.free,
                "freed": decision.freed,
                "kind": edit.kind,
                "targets": list(targets(edit)),
                "why": getattr(edit, "reason", "") or getattr(edit, "key", ""),
                "shown": getattr(edit, "text", "") or getattr(edit, "quote", ""),
                "pins": [_pinned(pin) for pin in getattr(edit, "pins", ())],
                "undone": decision.seq in undone and not lasting(edit),
                "way_back": self._way_back(edit, decision.originals),
            }
            for decision in self.decisions
            for edit in decision.edits
        ]

    def _way_back(self, edit: Edit, own: Mapping[str, str]) -> list[str]:
        """Paths of the originals: of a block its text, of a fold all its text, else the whole messages.

        ``own`` are those that the decision itself recorded: of two folds that begin alike each has its text.
        """
        if isinstance(edit, (Insert, Note, Pin, Restore)):
            return []
        full = [f"{edit.run[0]}{FULL}"] if isinstance(edit, Fold) else []
        ids = [(id, id.partition(".")[0]) for id in (*full, *targets(edit))]
        keys = (own.get(id) or self.originals.get(id) or self.originals.get(message) for id, message in ids)
        return [self.blobs.path(key) for key in dict.fromkeys(keys) if key]

    def stored(self, path: str) -> str | None:
        """The text at a path (or under its last part) of the originals that this session hides; None for another.

        Raises `StorageError`.
        """
        key = self.blobs.owns(path) or path
        if key not in self.originals.values() or not key.endswith(".txt"):
            return None
        return self.blobs.get(key).decode("utf-8", "replace")

    def original(self, id: str) -> tuple[str, Any] | None:
        """A stored message: (its parent's id, its wire form); None where it was never hidden."""
        key = self.originals.get(id)
        if key is None:
            return None
        stored = json.loads(self.blobs.get(key))
        return stored["parent"], stored["message"]


def _pinned(pin: Pin) -> dict[str, str]:
    """A pin that a fold carries, as `Ledger.explain` tells it."""
    return {"block": pin.block, "shown": pin.text or pin.quote, "why": pin.reason}
