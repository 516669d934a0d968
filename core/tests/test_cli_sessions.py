"""`trimtab sessions`, as a person runs it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from play import Play, result, talk
from stages import Budget, FoldOld, KeepWords
from trimtab import Note
from trimtab.cli import app, sessions
from trimtab.storage.files import FileBlobs
from trimtab.storage.sqlite import SqliteLedger
from typer.testing import CliRunner, Result

Run = Callable[..., Result]
AT = 1_000_005.0
"""The clock of a `Play`'s first request: 12 January 1970, 13:46:45 UTC."""


@pytest.fixture
def play(home: Path) -> Iterator[Play]:
    """Sessions on the storage that the default profile names, their originals an hour old."""
    data = home / ".local/share/trimtab"
    stores = {"ledger": SqliteLedger(f"sqlite://{data}/ledger.db"), "blobs": FileBlobs(f"file://{data}/blobs")}
    fold = {"fold-old": {"keep": 2, "text": "Read.", "when": ["cold"]}}
    hooks = [{"keep-words": {"words": "Mend"}}]
    play = Play(Budget, FoldOld, KeepWords, stages=["budget", fold], hooks=hooks, **stores)
    yield play
    play.ledger.close()


def talked(play: Play, id: str, count: int, *, old: bool = True) -> None:
    """A session that decided something about ``count`` rounds."""
    play.session = play.open(id)
    play.send(talk(count))
    for path in Path(play.blobs.root).rglob("*.*") if old else ():
        os.utime(path, (time.time() - 3_600,) * 2)


@pytest.fixture
def run(work: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Run `trimtab sessions` in the working directory, in UTC."""
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield lambda *words, **more: CliRunner().invoke(app, ["sessions", *words], **more)
    monkeypatch.undo()
    time.tzset()


def stored(play: Play) -> int:
    """Bytes of all originals."""
    return sum(entry.size for entry in play.blobs.entries())


def test_list(play: Play, run: Run, home: Path) -> None:
    """The newest first: when, how many decisions, what they freed, what is stored; nothing yet is said."""
    told = run("list")
    assert (told.exit_code, told.stdout) == (0, "")
    assert told.stderr == f"sqlite:///{home}/.local/share/trimtab/ledger.db: no session yet\n"
    assert json.loads(run("list", "--json").stdout) == []
    talked(play, "first", 1)
    talked(play, "last\n", 2)
    play.ledger.append("newer", 0, ['{"v":2,"time":"?"}'])
    freed = [sum(one.freed for one in play.open(id).ledger.decisions) for id in ("last\n", "first")]
    head, *lines = run("list").stdout.splitlines()
    assert head.split("  ")[0] == "SESSION"
    assert lines[0].split() == ["newer", "?", "1", "?", "0"]
    assert lines[1].split()[:3] == ["last", "1970-01-12", "13:46:50+00:00"]
    assert lines[2].split()[:2] == ["first", "1970-01-12"]
    rows = json.loads(run("list", "--json").stdout)
    assert [row["session"] for row in rows] == ["newer", "last\n", "first"]
    assert [row["tokens_freed"] for row in rows] == [None, *freed]
    assert [row["last_used"] for row in rows] == [None, AT + 5, AT]
    sizes = [row["original_bytes"] for row in rows]
    assert sum(sizes) == stored(play)
    assert min(sizes[1:]) > 2_000


def test_show(play: Play, run: Run) -> None:
    """One session: its stages, boundaries, pins, notes and size."""
    talked(play, "s", 3)
    play.cold(talk(3))
    told = json.loads(run("show", "s", "--json").stdout)
    decisions = play.session.ledger.decisions
    assert told["decisions"] == len(decisions)
    assert told["stages"]["fold-old"]["decisions"] == told["boundaries"] == 1
    assert told["pins"] == 1
    assert told["tokens_freed"] == sum(one.freed for one in decisions)
    assert told["original_bytes"] == stored(play)
    assert told["originals"] == len(list(play.blobs.entries()))
    lines = run("show", "s").stdout.splitlines()
    assert lines[0] == f"session s: {len(decisions)} decisions, last used 1970-01-12 14:46:45+00:00"
    assert lines[1].split() == ["STAGE", "DECISIONS", "EDITS", "TOKENS", "FREED"]
    assert any(line.split()[:2] == ["fold-old", "1"] for line in lines)
    assert f"boundaries: 1, pins: 1, notes: {told['notes']}" in lines
    assert lines[-1].startswith(f"stored: decisions of {told['bytes']:,} bytes, {told['originals']} originals of ")


def test_show_breakers(play: Play, run: Run) -> None:
    """A breaker that is open is told with its reason; one that was shut again is not."""

    def note(key: str, data: Any) -> str:
        row = {"v": 1, "stage": "x", "trigger": "auto", "time": AT, "free": True, "boundary": False, "freed": 0}
        edit = {"kind": "note", "key": f"kernel:{key}:breaker", "data": data}
        return json.dumps({**row, "rewritten": 0, "turn": 1, "aliases": {}, "originals": {}, "edits": [edit]})

    play.ledger.append("s", 0, [note("fold", "failed"), note("snip", "failed"), note("snip", None)])
    assert json.loads(run("show", "s", "--json").stdout)["breakers"] == {"fold": "failed"}
    assert "breaker open: fold: failed\n" in run("show", "s").stdout


def test_export(play: Play, run: Run, work: Path) -> None:
    """One document holds every row and every original that a row names, to stdout or to a file."""
    talked(play, "other", 3)
    talked(play, "s", 1)
    told = run("export", "s")
    assert (told.exit_code, told.stderr) == (0, "")
    said = json.loads(told.stdout)
    decisions = play.session.ledger.decisions
    assert said["session"] == "s"
    assert said["decisions"] == [json.loads(row) for row in play.ledger.load("s")]
    assert set(said["originals"]) == {key for one in decisions for key in one.originals.values()}
    assert result("c0")["content"] in said["originals"].values()
    assert {"parent", "message"} in [value.keys() for value in said["originals"].values() if isinstance(value, dict)]
    assert run("export", "s", "--output", "out.json").stdout == ""
    assert json.loads((work / "out.json").read_text()) == said
    assert (work / "out.json").stat().st_mode & 0o777 == 0o600


def test_export_of_what_is_lost(play: Play, run: Run) -> None:
    """A lost original is null and named; the rest is written all the same."""
    talked(play, "s", 1)
    key = next(key for key in play.session.ledger.originals.values() if key.endswith(".txt"))
    Path(play.blobs.path(key)).unlink()
    told = run("export", "s")
    assert (told.exit_code, told.stderr) == (1, f"{play.blobs.path(key)}: no stored original\n")
    said = json.loads(told.stdout)["originals"]
    assert said[key] is None
    assert len(said) > 1


def test_delete(play: Play, run: Run) -> None:
    """The session goes with what only it points to; the others keep theirs."""
    talked(play, "a", 2)
    talked(play, "b", 1)
    before = stored(play)
    told = run("delete", "a", "--yes")
    assert (told.exit_code, told.stderr) == (0, "")
    assert told.stdout.startswith("removed 1 session, 2 decisions, 2 originals, ")
    assert play.ledger.sessions() == ["b"]
    assert 0 < stored(play) < before
    assert run("export", "b").exit_code == 0
    told = run("delete", "b", "-y", "--json")
    assert json.loads(told.stdout)["gone"] == ["b"]
    assert (play.ledger.sessions(), stored(play)) == ([], 0)


def test_delete_what_is_young(play: Play, run: Run) -> None:
    """Originals stored just now stay for now, and that is said."""
    talked(play, "s", 1, old=False)
    told = run("delete", "s", "--yes")
    assert told.exit_code == 0
    assert told.stderr.endswith(" stored in the last five minutes stay for now\n")
    assert play.ledger.sessions() == []


def test_delete_asks(play: Play, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal it asks; where nobody can answer it says what to say; no is no."""
    talked(play, "s", 1)
    told = run("delete", "s")
    assert (told.exit_code, told.stdout) == (2, "")
    assert told.stderr == "nobody can be asked whether to delete (stdin is no terminal); say --yes\n"
    monkeypatch.setattr(sessions, "_terminal", lambda: True)
    told = run("delete", "s", input="n\n")
    assert told.exit_code == 1
    assert "Delete s for ever? [y/N]:" in told.stderr
    assert play.ledger.sessions() == ["s"]
    assert run("delete", "s", input="y\n").exit_code == 0
    assert play.ledger.sessions() == []


def test_delete_what_is_used(play: Play, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that got a row meanwhile stays and is named, exit code 1."""
    talked(play, "s", 1)
    delete = SqliteLedger.delete

    def slow(self: SqliteLedger, session: str, expected: int) -> None:
        play.session.note("test", [Note("test", 1)], "manual")
        delete(self, session, expected)

    monkeypatch.setattr(SqliteLedger, "delete", slow)
    told = run("delete", "s", "--yes")
    assert (told.exit_code, told.stderr) == (1, "s: used just now, so it was kept; close it and try again\n")
    assert play.ledger.sessions() == ["s"]


@pytest.mark.parametrize("command", ["show", "export", "delete"])
def test_unknown(play: Play, run: Run, home: Path, command: str) -> None:
    """An id is whole or unknown: the error names the nearest and those that are there, and nothing is done."""
    talked(play, "ticket-4711", 1)
    talked(play, "ticket-47", 1)
    where = f"sqlite:///{home}/.local/share/trimtab/ledger.db"
    there = "(there: ticket-47, ticket-4711)"
    told = run(command, "ticket-471")
    assert (told.exit_code, told.stdout) == (2, "")
    assert told.stderr == f"{where}: no session 'ticket-471'; did you mean 'ticket-4711'? {there}\n"
    assert run(command, "x").stderr == f"{where}: no session 'x' {there}\n"
    assert len(play.ledger.sessions()) == 2


@pytest.mark.parametrize("command", ["show", "export"])
def test_a_newer_row_is_refused(play: Play, run: Run, command: str) -> None:
    """What a newer version wrote is not misread."""
    play.ledger.append("s", 0, ['{"v":2}'])
    told = run(command, "s")
    assert (told.exit_code, told.stdout) == (2, "")
    assert told.stderr == "decision 1 was written by a newer version of trimtab; upgrade to read it\n"
