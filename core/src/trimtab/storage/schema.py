"""The ledger's table: how an SQLite file becomes a ledger or is brought up to date, and how one is recognised."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator

from trimtab.errors import StorageError

__all__ = ["PATIENCE", "STEPS", "shrink", "transaction", "upgrade", "use_wal", "version"]

APPLICATION = 0x7472696D
"""``trim``, kept in ``PRAGMA application_id``: tells our files from other SQLite files."""
PATIENCE = 5.0
"""Seconds to wait for another writer; an append takes milliseconds."""
STEPS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE ledger (session TEXT NOT NULL, seq INTEGER NOT NULL, row TEXT NOT NULL, "
        "PRIMARY KEY (session, seq))",
        f"PRAGMA application_id={APPLICATION}",
    ),
)
"""Statements that bring a file from version n (0: empty) to n + 1; what a released version did never changes.

The version is kept in ``PRAGMA user_version``. Whoever adds a step sees to it that `SqliteLedger.load` and
`SqliteLedger.sessions` still read files without it: only a write upgrades.
"""


def version(db: sqlite3.Connection, file: str) -> int:
    """Return the schema version, 0 for an empty database; refuse newer ones and what is not ours."""
    # In this order: another process may make the table, all at once, between two of the questions.
    tables, application, found = (
        int(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("schema_version", "application_id", "user_version")
    )
    if application != APPLICATION:
        if tables:
            raise StorageError("an SQLite database, but not a trimtab ledger; name another file", where=file)
        return 0
    if found > len(STEPS):
        text = f"written by a newer trimtab (schema {found}, this one knows {len(STEPS)}); upgrade trimtab"
        raise StorageError(text, where=file)
    return found


def upgrade(db: sqlite3.Connection, file: str) -> None:
    """Make or bring up to date the tables, as a part of the caller's transaction; refuses what `version` does."""
    found = version(db, file)
    if found < len(STEPS):
        for step in STEPS[found:]:
            for statement in step:
                db.execute(statement)
        db.execute(f"PRAGMA user_version={len(STEPS)}")


def shrink(db: sqlite3.Connection) -> None:
    """After a deletion: give back the file's free pages once they are half of it, and empty the write-ahead log.

    Where another process is in the way the space is used again later.
    """
    free, pages = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_count"))
    with contextlib.suppress(sqlite3.OperationalError):
        if 2 * free > pages:
            db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All of the block or nothing; no other process writes meanwhile."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # some errors have ended it already
            db.execute("ROLLBACK")
        raise


def use_wal(db: sqlite3.Connection) -> None:
    """Change the journal mode; SQLite's own patience does not cover that."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
