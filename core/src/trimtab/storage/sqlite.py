"""The ledger in one SQLite file, shared by the threads and processes of one machine."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from trimtab.errors import Lost, StorageError
from trimtab.storage import schema
from trimtab.storage.checks import check_text, location
from trimtab.storage.disk import doing, make_folder, sync_folder

__all__ = ["SqliteLedger"]

_NEW = "move it away and a new one is begun (stored originals are not in it)"
_RIGHTS = "check the permissions of the file and its folder"
REASONS = {
    "BUSY": "locked by another process; try again when that one is done",
    "CANTOPEN": f"cannot be opened; {_RIGHTS}",
    "CORRUPT": f"damaged; {_NEW}",
    "FULL": "the disk is full",
    "NOTADB": f"damaged, or no ledger at all; {_NEW}",
    "READONLY": f"cannot be written; {_RIGHTS}",
}
"""What SQLite's result codes (sqlite.org/rescode.html, here without ``SQLITE_``) mean to the reader."""


class SqliteLedger:
    """A `LedgerStore` in ``sqlite:///file``: WAL, each append fsynced; the first makes the file (0600)."""

    def __init__(self, url: str) -> None:
        self.file = location(url, "sqlite")
        self._db: sqlite3.Connection | None = None
        self._inode: tuple[int, int] | None = None
        """Of the file that the connection is on: it may be deleted or replaced under us."""
        self._lock = threading.Lock()
        _ledgers.add(self)

    def load(self, session: str, after: int = 0) -> list[str]:
        """See `LedgerStore.load`."""
        check_text([session], self.file)
        with self._open() as db:
            query = "SELECT row FROM ledger WHERE session = ? AND seq > ? ORDER BY seq"
            return [row for (row,) in db.execute(query, (session, after))] if db else []

    def append(self, session: str, expected: int, rows: Sequence[str]) -> None:
        """See `LedgerStore.append`."""
        check_text([session, *rows], self.file)
        with self._behind(session, expected) as db:
            numbered = ((session, seq, row) for seq, row in enumerate(rows, expected + 1))
            db.executemany("INSERT INTO ledger VALUES (?, ?, ?)", numbered)

    def sessions(self) -> list[str]:
        """See `LedgerStore.sessions`."""
        with self._open() as db:
            query = "SELECT session FROM ledger GROUP BY session ORDER BY max(rowid) DESC"
            return [session for (session,) in db.execute(query)] if db else []

    def delete(self, session: str, expected: int) -> None:
        """See `LedgerStore.delete`; the rows are overwritten with zeros."""
        check_text([session], self.file)
        with self._behind(session, expected) as db:
            db.execute("DELETE FROM ledger WHERE session = ?", (session,))
        with self._open() as left:
            if left:
                schema.shrink(left)

    @contextlib.contextmanager
    def _behind(self, session: str, expected: int) -> Iterator[sqlite3.Connection]:
        """One transaction on a session whose last row is ``expected``, the tables up to date; else raise `Lost`."""
        with self._open(create=True) as db:
            assert db
            with schema.transaction(db):
                schema.upgrade(db, self.file)  # also: another process may have a newer version
                query = "SELECT coalesce(max(seq), 0) FROM ledger WHERE session = ?"
                (last,) = db.execute(query, (session,)).fetchone()
                if last != expected:
                    raise Lost(f"session {session!r} has {last} rows, not {expected}", where=self.file)
                yield db

    def close(self) -> None:
        """See `LedgerStore.close`."""
        with self._lock:
            self._drop()

    def __del__(self) -> None:
        """Close the connection now: left to the garbage collector it may outlive a fork, which breaks SQLite."""
        if db := getattr(self, "_db", None):
            db.close()

    def _drop(self) -> None:
        db, self._db = self._db, None
        if db:
            db.close()

    @contextlib.contextmanager
    def _open(self, *, create: bool = False) -> Iterator[sqlite3.Connection | None]:
        """Hold the connection, one thread at a time (None: no ledger yet); drop it after an error."""
        with self._lock, doing("open the ledger", self.file):
            try:
                if self._db and self._inode != self._look():
                    self._drop()
                self._db = self._db or self._connect(create)
                yield self._db
            except Lost:
                raise
            except sqlite3.Error as error:
                self._drop()
                raise StorageError(_reason(error), where=self.file) from error
            except BaseException:
                self._drop()
                raise

    def _connect(self, create: bool) -> sqlite3.Connection | None:
        if create:
            self._make_file()
        self._inode = self._look()
        if self._inode is None:
            return None
        # mode=rw: a file that SQLite made would have the permissions that the umask leaves.
        uri = f"file:{quote(os.fsencode(self.file))}?mode=rw"
        with contextlib.ExitStack() as undo:
            db = sqlite3.connect(uri, uri=True, timeout=schema.PATIENCE, isolation_level=None, check_same_thread=False)
            undo.callback(db.close)
            db.execute("PRAGMA synchronous=FULL")
            db.execute("PRAGMA secure_delete=ON")
            if not schema.version(db, self.file):
                if not create:
                    return None
                schema.use_wal(db)
                with schema.transaction(db):
                    schema.upgrade(db, self.file)
            undo.pop_all()
            return db

    def _look(self) -> tuple[int, int] | None:
        """What now lies under our file's name: device and inode; None for nothing."""
        try:
            found = os.stat(self.file)
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def _make_file(self) -> None:
        folder = os.path.dirname(self.file)
        make_folder(folder)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            sync_folder(folder)


def _reason(error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorname", "")  # absent where Python, not SQLite, complains
    primary = code.removeprefix("SQLITE_").partition("_")[0]
    return f"{REASONS.get(primary, str(error))} ({code or type(error).__name__})"


_ledgers: weakref.WeakSet[SqliteLedger] = weakref.WeakSet()
_held: list[SqliteLedger] = []
_forking = threading.Lock()
"""One fork at a time: threads share `_held`."""


def _before_fork() -> None:
    """Close all connections: SQLite's locks break when one lives on in a child, even to be closed."""
    _forking.acquire()
    ledgers = sorted(_ledgers, key=id)  # one order for all threads, or two that fork wait for each other
    for ledger in ledgers:
        ledger._lock.acquire()
        with contextlib.suppress(sqlite3.Error):
            ledger._drop()
    _held[:] = ledgers


def _after_fork() -> None:
    while _held:
        _held.pop()._lock.release()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
