"""`trimtab gc`, as a person runs it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from trimtab.cli import app, stored
from trimtab.cli.gc import complain
from trimtab.storage.files import FileBlobs
from trimtab.storage.gc import Amount, Swept
from trimtab.storage.sqlite import SqliteLedger
from typer.testing import CliRunner, Result

Run = Callable[..., Result]
DAY = 86_400


@pytest.fixture
def data(home: Path) -> Path:
    """Two sessions, 40 days and 5 days old, of one row and one original of 1,000 bytes each."""
    data = home / ".local/share/trimtab"
    ledger, blobs = SqliteLedger(f"sqlite://{data}/ledger.db"), FileBlobs(f"file://{data}/blobs")
    for name, days in (("old", 40), ("new", 5)):
        key = blobs.put(name.encode() * 1_000, ".txt")
        row = {"v": 1, "time": time.time() - days * DAY, "originals": {"m": key}}
        ledger.append(name, 0, [json.dumps(row)])
        age(Path(blobs.path(key)), days)
    ledger.close()
    return data


def age(path: Path, days: float) -> None:
    """Make a file look as if it was written so many days ago."""
    then = time.time() - days * DAY
    os.utime(path, (then, then))


def sessions(data: Path) -> list[str]:
    """What is stored."""
    ledger = SqliteLedger(f"sqlite://{data}/ledger.db")
    try:
        return ledger.sessions()
    finally:
        ledger.close()


@pytest.fixture
def run(work: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `trimtab gc` in the working directory."""
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return lambda *words: CliRunner().invoke(app, ["gc", *words])


def test_nothing_is_removed_unless_said(run: Run, data: Path) -> None:
    """Without limits every session stays, and that is said."""
    told = run()
    assert (told.exit_code, told.stderr) == (0, "neither keep_days nor max_bytes is said: every session is kept\n")
    assert told.stdout.splitlines()[0] == "removed 0 sessions, 0 decisions, 0 originals, 0 bytes"
    assert told.stdout.splitlines()[1].startswith("kept 2 sessions, 2 decisions, 2 originals, 6,")
    assert sessions(data) == ["new", "old"]


def test_keep_days(run: Run, data: Path) -> None:
    """First what would go, then it goes."""
    tried = run("--keep-days", "30", "--dry-run")
    assert tried.stdout.startswith("would remove 1 session, 1 decision, 1 original, 3,0")
    assert "\nwould keep 1 session, 1 decision, 1 original, 3,0" in tried.stdout
    assert sessions(data) == ["new", "old"]
    done = run("--keep-days", "30")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == tried.stdout.replace("would remove", "removed").replace("would keep", "kept")
    assert sessions(data) == ["new"]


def test_the_profile_says_how_long(run: Run, data: Path, work: Path) -> None:
    """`storage:` holds the limits; an option is stronger than it."""
    (work / "trimtab.yaml").write_text("extends: default\nstorage: {keep_days: 3}\n")
    assert json.loads(run("--keep-days", "60", "--json").stdout)["gone"] == []
    told = json.loads(run("--json").stdout)
    assert (told["gone"], told["keep_days"], told["max_bytes"], told["dry_run"]) == (["new", "old"], 3, None, False)
    assert told["removed"]["sessions"] == 2
    assert sessions(data) == []


def test_max_bytes(run: Run, data: Path) -> None:
    """The older session goes; what cannot be met is said."""
    assert json.loads(run("--max-bytes", "4k", "--json").stdout)["gone"] == ["old"]
    key = FileBlobs(f"file://{data}/blobs").put(b"about to be pointed to", ".txt")
    told = run("--max-bytes", "0")
    assert told.stdout.endswith(
        "kept 0 sessions, 0 decisions, 1 original, 22 bytes (1 original of no session, still young)\n"
    )
    assert told.stderr == "still above 0 bytes: what was used in the last day is kept\n"
    assert (data / "blobs" / key[:2] / key).exists()


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--keep-days", "0"], "argument: storage.keep_days: '0' should be greater than or equal to 1\n"),
        (["--max-bytes", "lots"], "argument: storage.max_bytes: 'lots' is not a size; write a whole number such as "),
    ],
)
def test_limits_are_checked(run: Run, data: Path, words: list[str], error: str) -> None:
    """A limit that is none is answered with what one is, and nothing is removed."""
    told = run(*words)
    assert (told.exit_code, told.stdout) == (2, "")
    assert told.stderr.startswith(error)
    assert sessions(data) == ["new", "old"]


def test_a_ledger_that_was_moved_away(run: Run, data: Path) -> None:
    """Originals beside an empty ledger are not taken for rubbish."""
    (data / "ledger.db").rename(data / "moved.db")
    told = run("--keep-days", "30")
    assert (told.exit_code, told.stdout) == (2, "")
    assert "no session is in the ledger that the 2 originals could belong to; none was removed" in told.stderr


def test_nothing_stored(run: Run, home: Path) -> None:
    """Before anything was stored there is nothing to do, and no file is made."""
    assert run("--keep-days", "30").exit_code == 0
    assert not home.exists()


def test_a_bar_on_a_terminal(run: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where stderr is a terminal it shows how far the work is, and stdout stays as it is."""
    plain = run("--dry-run").stdout
    monkeypatch.setattr(stored, "_shown", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    told = run("--dry-run")
    assert told.stdout == plain
    assert "reading sessions" in told.stderr


def test_what_cannot_be_removed_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The run went on; what stays is said on stderr, and the exit status is 1."""
    none = Amount(0, 0, 0, 0)
    with pytest.raises(typer.Exit) as left:
        complain(Swept(removed=none, kept=none, young=0, gone=[], failed=["/b/x.txt: permission denied"]))
    assert left.value.exit_code == 1
    assert capsys.readouterr().err == "/b/x.txt: permission denied\n"
