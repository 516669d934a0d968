"""The ledger's table: how an SQLite file becomes a ledger, and how one is recognised."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator

from trimtab.errors import StorageError

__all__ = ["PATIENCE", "VERSION", "make", "transaction", "version"]

VERSION = 1
"""Of the schema, kept in ``PRAGMA user_version``; a higher one is refused."""
APPLICATION = 0x7472696D
"""``trim``, kept in ``PRAGMA application_id``: tells our files from other SQLite files."""
PATIENCE = 5.0
"""Seconds to wait for another writer; an append takes milliseconds."""
TABLE = """CREATE TABLE ledger (
    session TEXT NOT NULL, seq INTEGER NOT NULL, row TEXT NOT NULL, PRIMARY KEY (session, seq))"""


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
    if found > VERSION:
        text = f"written by a newer trimtab (schema {found}, this one knows {VERSION}); upgrade trimtab"
        raise StorageError(text, where=file)
    return found


def make(db: sqlite3.Connection, file: str) -> None:
    """Turn an empty database into a ledger with a write-ahead log, unless another process is quicker."""
    _use_wal(db)
    with transaction(db):
        if not version(db, file):
            db.execute(TABLE)
            db.execute(f"PRAGMA application_id={APPLICATION}")
            db.execute(f"PRAGMA user_version={VERSION}")


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


def _use_wal(db: sqlite3.Connection) -> None:
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
