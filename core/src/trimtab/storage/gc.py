"""Retention: sessions go by age and by size, then the originals that no session points to.

Safe beside running sessions, in this order:

1. A session's rows are deleted only while its last row is the one that was looked at; one used meanwhile stays.
2. Rows go before originals, so that a crash between the two leaves originals without rows, never the reverse; the
   next run finds them.
3. An original goes only if no row that was read points to it and its last `BlobStore.put` is older than a grace
   period. A row that was not read yet comes from a pass that put each of its originals anew (`BlobStore.put` makes
   also what is there young, and `BlobStore.delete` looks at the time and deletes under one lock): so it stays, as long
   as a pass takes less than that period from its first put to its append.
4. An open session whose rows were deleted notices with its next request (`Ledger.reload`) and decides nothing more.

A row points to whatever key is written in it, whatever its format: also rows of a newer version, or damaged ones,
hold what they name. A session with a row that cannot be read goes only by `forget`.
One ledger to a place for originals: what another ledger points to cannot be known here.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from trimtab.errors import Lost, StorageError, Unknown, told
from trimtab.ledger import VERSION
from trimtab.stores import BlobStore, Entry, LedgerStore

__all__ = ["DAY", "GRACE", "SETTLED", "Amount", "Holding", "Swept", "collect", "forget", "holdings"]

DAY = 86_400.0
GRACE = DAY
"""Seconds for which `collect` leaves alone what was used. A pass takes seconds from put to append; a day is also more
than a suspended machine or a debugger holds one up, and waiting costs nothing but space."""
SETTLED = 300.0
"""Seconds for `forget`, which someone waits for: a pass with 1,000 originals at three fsyncs of 30 ms (a slow disk),
and its ten attempts to append at five seconds each, take 140."""
POINTER = re.compile(r"[0-9a-f]{32}(?=\.)")
"""The hash in a blob key, wherever it stands in a row."""

Progress = Callable[[str, int, int], object]
"""Called with what is being done, how many are done, and of how many."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Holding:
    """What the ledger holds of one session."""

    session: str
    rows: int
    bytes: int
    """Of the rows, as UTF-8."""
    time: float
    """Of the last decision, in epoch seconds by the session's clock; infinite where a row cannot be read."""
    pointers: frozenset[str]
    """Hashes of the originals that its rows name."""


@dataclass(slots=True)
class Amount:
    """How much was removed, or is there."""

    sessions: int
    rows: int
    originals: int
    bytes: int
    """Of rows and originals."""


@dataclass(slots=True)
class Swept:
    """What a run removed (or would remove), and what is left."""

    removed: Amount
    kept: Amount
    gone: list[str]
    """Ids of the removed sessions."""
    young: int
    """Originals that nothing points to, but too young to remove."""
    failed: list[str]
    """What could not be removed, and why; the next run tries again."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return asdict(self)


def collect(
    ledger: LedgerStore,
    blobs: BlobStore,
    *,
    keep_days: float | None = None,
    max_bytes: int | None = None,
    dry_run: bool = False,
    now: float | None = None,
    progress: Progress = lambda *_: None,
) -> Swept:
    """Remove sessions whose last decision is more than ``keep_days`` days ago, then those used longest ago.

    The latter until rows and originals together are at most ``max_bytes`` bytes, none that was used in the last day:
    it may be open. Then all originals that no session points to, if nobody put them in the last day. ``now`` is in
    epoch seconds; with ``dry_run`` nothing is removed. Raises `StorageError`, also where there are originals but no
    session at all: that is rather the wrong ledger, or one that was moved away.
    """
    now = time.time() if now is None else now
    before = now - GRACE
    held, entries = list(holdings(ledger, progress)), list(blobs.entries())
    if entries and not held:
        text = f"no session is in the ledger that the {len(entries):,} originals could belong to; none was removed"
        raise StorageError(text, where=blobs.path(entries[0].key))
    oldest = sorted(held, key=lambda one: one.time)
    cut = -math.inf if keep_days is None else now - keep_days * DAY
    chosen = [one for one in oldest if one.time < cut]
    if max_bytes is not None:
        chosen += _largest(oldest[len(chosen) :], entries, max_bytes, before)
    return _remove(ledger, blobs, held, chosen, entries, before=before, dry_run=dry_run, progress=progress)


def forget(
    ledger: LedgerStore,
    blobs: BlobStore,
    sessions: Collection[str],
    *,
    now: float | None = None,
    progress: Progress = lambda *_: None,
) -> Swept:
    """Remove sessions, and their originals that no other session points to and nobody put in the last five minutes.

    Raises `Unknown` for a session that is not there, before anything is removed, and `StorageError`.
    """
    held = list(holdings(ledger, progress))
    for session in sessions:
        if not any(one.session == session for one in held):
            raise Unknown(f"no session {session!r}", given=session, available=[one.session for one in held])
    chosen = [one for one in held if one.session in sessions]
    theirs = {pointer for one in chosen for pointer in one.pointers}
    entries = [entry for entry in blobs.entries() if _hash(entry) in theirs]
    before = (time.time() if now is None else now) - SETTLED
    return _remove(ledger, blobs, held, chosen, entries, before=before, dry_run=False, progress=progress)


def holdings(ledger: LedgerStore, progress: Progress = lambda *_: None) -> Iterator[Holding]:
    """Look at every session, the one written last first."""
    for session in _told(ledger.sessions(), "reading sessions", progress):
        rows = ledger.load(session)
        if rows:  # else deleted meanwhile
            texts = [_text(row) for row in rows]
            pointers = frozenset(hash for text in texts for hash in POINTER.findall(text))
            size = sum(len(text.encode(errors="surrogatepass")) for text in texts)
            yield Holding(session, len(rows), size, _time(rows), pointers)


def _text(row: object) -> str:
    """A row to look for keys in; SQLite holds, and gives, also what is no text."""
    return row.decode(errors="replace") if isinstance(row, bytes) else str(row)


def _time(rows: Sequence[str]) -> float:
    """When the last row was decided; infinite, which keeps all, where this version cannot read one or tell."""
    try:
        for row in rows:
            said = json.loads(row) if isinstance(row, str) else None
            if not isinstance(said, dict):
                return math.inf
        time = float(said["time"]) if said["v"] <= VERSION else math.inf
        return time if math.isfinite(time) else math.inf
    except (KeyError, OverflowError, RecursionError, TypeError, ValueError):
        return math.inf


def _largest(oldest: Sequence[Holding], entries: Sequence[Entry], max_bytes: int, before: float) -> Iterator[Holding]:
    """The sessions to remove, in order, for what is then left to fit."""
    pointers = Counter(pointer for one in oldest for pointer in one.pointers)
    free: Counter[str] = Counter()
    left = sum(one.bytes for one in oldest)
    for entry in entries:
        old = entry.time < before
        free[_hash(entry)] += entry.size * old
        left += entry.size if _hash(entry) in pointers or not old else 0
    for one in oldest:
        if left <= max_bytes or one.time >= before:
            return
        pointers -= Counter(one.pointers)
        left -= one.bytes + sum(free[pointer] for pointer in one.pointers if pointer not in pointers)
        yield one


def _remove(
    ledger: LedgerStore,
    blobs: BlobStore,
    held: Sequence[Holding],
    chosen: Sequence[Holding],
    entries: Sequence[Entry],
    *,
    before: float,
    dry_run: bool,
    progress: Progress,
) -> Swept:
    """Rows first; then those of ``entries`` that nothing points to and that were put before ``before``."""
    gone = {one.session for one in _told(chosen, "removing sessions", progress) if dry_run or _deleted(ledger, one)}
    kept = [one for one in held if one.session not in gone]
    pointed = {pointer for one in kept for pointer in one.pointers}
    loose = [entry for entry in entries if _hash(entry) not in pointed]
    removed: list[Entry] = []
    failed: list[str] = []
    for entry in _told(loose, "removing originals", progress):
        try:
            if entry.time < before if dry_run else blobs.delete(entry.key, before):
                removed.append(entry)
        except StorageError as error:
            failed.append(told(error))
    rest = set(entries) - set(removed)
    return Swept(
        removed=_amount([one for one in held if one.session in gone], removed),
        kept=_amount(kept, rest),
        gone=sorted(gone),
        young=len(loose) - len(removed) - len(failed),
        failed=failed,
    )


def _deleted(ledger: LedgerStore, one: Holding) -> bool:
    """Delete a session's rows, unless it was used since we looked."""
    try:
        ledger.delete(one.session, one.rows)
    except Lost:
        return False
    return True


def _amount(held: Collection[Holding], entries: Collection[Entry]) -> Amount:
    rows, size = sum(one.rows for one in held), sum(one.bytes for one in held)
    return Amount(len(held), rows, len(entries), size + sum(entry.size for entry in entries))


def _hash(entry: Entry) -> str:
    return entry.key.partition(".")[0]


def _told(items: Sequence[T], what: str, progress: Progress) -> Iterator[T]:
    for done, item in enumerate(items, 1):
        yield item
        progress(what, done, len(items))
