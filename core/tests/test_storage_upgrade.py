"""A ledger of an older version: read as it is, upgraded by the first write, whole or not at all."""

from __future__ import annotations

import sqlite3
import sys
import threading
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from trimtab.errors import StorageError
from trimtab.storage import schema
from trimtab.storage.sqlite import SqliteLedger
from trimtab.testing.crash import crash_everywhere, crash_points, in_child

VERSION_1 = """
PRAGMA journal_mode=WAL;
CREATE TABLE ledger (
    session TEXT NOT NULL, seq INTEGER NOT NULL, row TEXT NOT NULL, PRIMARY KEY (session, seq));
PRAGMA application_id=1953655149;
PRAGMA user_version=1;
INSERT INTO ledger VALUES ('a', 1, 'one'), ('a', 2, 'two'), ('b', 1, 'three');
"""
"""What version 0.1.0 wrote."""
NEXT = ("CREATE TABLE more (session TEXT PRIMARY KEY)", "INSERT INTO more SELECT DISTINCT session FROM ledger")
"""A step that a later version might take."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder with a ledger of version 1."""
    make(tmp_path)
    return tmp_path


def make(folder: Path) -> None:
    """Write a ledger of version 1."""
    with closing(sqlite3.connect(folder / "ledger.db")) as db:
        db.executescript(VERSION_1)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that knows one version more."""
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, NEXT))


def ledger_in(folder: Path) -> SqliteLedger:
    """A ledger as a new process opens it."""
    return SqliteLedger(f"sqlite://{folder}/ledger.db")


def state(folder: Path) -> tuple[int, list[str], list[str]]:
    """The version, and the sessions in both tables."""
    with closing(sqlite3.connect(folder / "ledger.db")) as db:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        more = (
            "SELECT session FROM more ORDER BY 1"
            if version == 2
            else "SELECT name FROM sqlite_master WHERE 'more'=name"
        )
        sessions = "SELECT DISTINCT session FROM ledger ORDER BY 1"
        return version, *([name for (name,) in db.execute(query)] for query in (sessions, more))


def test_a_file_of_version_1_is_ours(old: Path) -> None:
    """What 0.1.0 wrote is read and written as ever: no released step was changed."""
    with closing(ledger_in(old)) as ledger:
        assert (ledger.load("a"), ledger.sessions()) == (["one", "two"], ["b", "a"])
        ledger.append("a", 2, ["three"])
        assert ledger.sessions() == ["a", "b"]
    new = old / "new"
    new.mkdir()
    with closing(ledger_in(new)) as ledger:
        ledger.append("a", 0, ["one"])
    tables = "SELECT replace(replace(sql, '\n    ', ''), '( ', '(') FROM sqlite_master WHERE sql NOT NULL"
    with closing(sqlite3.connect(old / "ledger.db")) as one, closing(sqlite3.connect(new / "ledger.db")) as two:
        assert one.execute(tables).fetchall() == two.execute(tables).fetchall()


@pytest.mark.usefixtures("later")
def test_reading_does_not_upgrade(old: Path) -> None:
    """A look leaves an older file as it is; the first write upgrades it, also on a connection that began by reading."""
    with closing(ledger_in(old)) as ledger:
        assert ledger.load("a") == ["one", "two"]
        assert state(old) == (1, ["a", "b"], [])
        ledger.append("c", 0, ["four"])
    assert state(old) == (2, ["a", "b", "c"], ["a", "b"])


@pytest.mark.usefixtures("later")
def test_a_new_file_takes_all_steps(tmp_path: Path) -> None:
    """A file that is made now has the newest tables."""
    with closing(ledger_in(tmp_path)) as ledger:
        ledger.append("a", 0, ["one"])
    assert state(tmp_path) == (2, ["a"], [])


def test_a_program_that_was_open_refuses_what_a_newer_one_upgraded(
    old: Path, later: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upgrade under an older program's open connection stops its writes, with the text of a newer file."""
    with closing(ledger_in(old)) as ledger:
        ledger.append("a", 2, ["three"])
        monkeypatch.setattr(schema, "STEPS", schema.STEPS[:1])
        with pytest.raises(StorageError, match=r"newer trimtab \(schema 2, this one knows 1\); upgrade trimtab$"):
            ledger.append("a", 3, ["four"])
    assert state(old)[0] == 2


@pytest.mark.usefixtures("later")
def test_killed_at_every_step_of_an_upgrade(tmp_path: Path) -> None:
    """Old tables or new ones with all rows, never half of it, and the next write succeeds."""

    def folder(n: int) -> Path:
        return tmp_path / str(n)

    def work(n: int) -> None:
        with closing(ledger_in(folder(n))) as ledger:
            ledger.append("c", 0, ["four"])

    def check(n: int) -> None:
        seen = state(folder(n))
        assert seen in [(1, ["a", "b"], []), (2, ["a", "b", "c"], ["a", "b"])]
        (folder(n) / f"saw-{seen[0]}").touch()
        with closing(ledger_in(folder(n))) as ledger:
            ledger.append("a", 2, ["three"])
        assert state(folder(n))[0] == 2

    folder(0).mkdir()
    make(folder(0))
    with crash_points() as steps:
        work(0)
    for n in range(1, len(steps) + 2):
        folder(n).mkdir()
        make(folder(n))
    for n in crash_everywhere(work):
        assert in_child(partial(check, n)) == 0, steps[n - 1]
    assert {path.name for path in tmp_path.glob("*/saw-*")} == {"saw-1", "saw-2"}


@pytest.mark.usefixtures("later")
def test_two_that_upgrade_at_once(tmp_path: Path) -> None:
    """Of several first writers one upgrades, the others find it done; every row is there."""

    def write(folder: Path, name: str, gate: threading.Barrier) -> None:
        with closing(ledger_in(folder)) as ledger:
            assert ledger.load("a") == ["one", "two"]
            gate.wait()
            ledger.append(name, 0, ["x"])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for n in range(10):
            folder = tmp_path / str(n)
            folder.mkdir()
            make(folder)
            gate = threading.Barrier(3)
            threads = [threading.Thread(target=write, args=(folder, f"c{i}", gate)) for i in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert state(folder) == (2, ["a", "b", "c0", "c1", "c2"], ["a", "b"])
    finally:
        sys.setswitchinterval(interval)
