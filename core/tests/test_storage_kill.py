"""A process killed at any storage step, or a power cut there, leaves the old state or the new (promise 7)."""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from trimtab.errors import Lost
from trimtab.storage.files import LEFT_BEHIND, FileBlobs
from trimtab.storage.sqlite import SqliteLedger
from trimtab.testing.crash import crash_at, crash_everywhere, crash_points, in_child

COMMITS = 2


def stores(folder: Path) -> tuple[SqliteLedger, FileBlobs]:
    """The stores of one scenario, opened as a new process would."""
    return SqliteLedger(f"sqlite://{folder}/state/ledger.db"), FileBlobs(f"file://{folder}/state/blobs")


def original(row: int, part: int) -> bytes:
    """What the ``row``-th row hides."""
    return f"{row} {part} ".encode() * 2_000


def work(folder: Path, commits: int = COMMITS) -> None:
    """Go on from what is there: originals first, then the row that names them, then an acknowledgement."""
    ledger, blobs = stores(folder)
    with closing(ledger):
        for row in range(len(ledger.load("s")), commits):
            keys = [blobs.put(original(row, part), ".txt") for part in range(2)]
            ledger.append("s", row, [json.dumps({"row": row, "keys": keys})])
            with open(folder / f"done-{row}", "w"):  # the world outside: neither a step nor lost
                pass


def check(folder: Path) -> int:
    """What a new process sees: whole rows, at least the acknowledged ones, and every original they name."""
    ledger, blobs = stores(folder)
    with closing(ledger):
        rows = [json.loads(row) for row in ledger.load("s")]
    assert [row["row"] for row in rows] == list(range(len(rows)))
    assert len(rows) >= len(list(folder.glob("done-*")))
    for row in rows:
        assert [blobs.get(key) for key in row["keys"]] == [original(row["row"], part) for part in range(2)]
    return len(rows)


def check_retry_and_leftovers(folder: Path) -> None:
    """After a crash: the state is sound, the work can be finished, and what was left behind goes in time."""
    (folder / f"saw-{check(folder)}").touch()
    work(folder)
    assert check(folder) == COMMITS
    _, blobs = stores(folder)
    temporary = Path(blobs.root, "tmp")
    for left in temporary.iterdir():
        os.utime(left, (0, left.stat().st_mtime - LEFT_BEHIND - 1))
    blobs.put(b"later", ".txt")
    assert list(temporary.iterdir()) == []


WAYS = (pytest.param(False, id="killed"), pytest.param(True, id="power cut", marks=pytest.mark.slow))


@pytest.mark.parametrize("lose_unsynced", WAYS)
def test_killed_at_every_step(tmp_path: Path, lose_unsynced: bool) -> None:
    """From an empty folder to two rows: at every single step, old state or new, and a retry succeeds."""

    def folder(n: int) -> Path:
        return tmp_path / str(n)

    folder(0).mkdir()
    with crash_points() as steps:
        work(folder(0))
    for n in range(1, len(steps) + 2):
        folder(n).mkdir()  # not by the child: a power cut would take it
    deaths = list(crash_everywhere(lambda n: work(folder(n)), lose_unsynced=lose_unsynced))
    assert deaths == list(range(1, len(steps) + 1))
    for n in deaths:
        assert in_child(partial(check_retry_and_leftovers, folder(n))) == 0
    assert {path.name for path in tmp_path.glob("*/saw-*")} == {"saw-0", "saw-1", "saw-2"}


@pytest.mark.parametrize("lose_unsynced", WAYS)
def test_killed_again_and_again(tmp_path: Path, lose_unsynced: bool) -> None:
    """One folder in which every attempt dies a few steps later than the last still comes to its end."""
    for n in crash_everywhere(lambda n: work(tmp_path), lose_unsynced=lose_unsynced):
        assert in_child(lambda: check(tmp_path)) == 0
        assert n < 200
    assert in_child(lambda: check_retry_and_leftovers(tmp_path)) == 0


def test_killed_at_any_moment(tmp_path: Path) -> None:
    """A timer kills writers also in the middle of what SQLite does inside a statement."""
    clock = random.Random(20)

    def write(delay: float) -> Callable[[], None]:
        def run() -> None:
            signal.setitimer(signal.ITIMER_REAL, delay)
            work(tmp_path, commits=10_000)

        return run

    for n in range(25):
        longest = 0.03 * 1.5 ** (n // 10)  # in which a busy machine commits something too
        assert in_child(write(clock.uniform(0.001, longest))) == -signal.SIGALRM
        assert in_child(lambda: check(tmp_path)) == 0
    assert len(list(tmp_path.glob("done-*"))) > 0


def test_a_killed_writer_does_not_hold_up_others(tmp_path: Path) -> None:
    """Killed inside its transaction, a writer leaves no lock: a store that was open all along appends."""
    ledger, _ = stores(tmp_path)
    with closing(ledger):
        ledger.append("s", 0, ["1"])

        def die_before_commit() -> None:
            with crash_points() as steps, closing(stores(tmp_path)[0]) as other, pytest.raises(Lost):
                other.append("s", 0, ["x"])
            with crash_at(steps.index("BEGIN IMMEDIATE") + 7):  # behind its INSERT
                stores(tmp_path)[0].append("s", 1, ["x"])

        assert in_child(die_before_commit) == -signal.SIGKILL
        ledger.append("s", 1, ["2"])
        assert ledger.load("s") == ["1", "2"]


def test_an_unsynced_write_is_lost_in_a_power_cut(tmp_path: Path) -> None:
    """Without a file's own fsync its bytes are gone, without its folder's its name: so the tests can fail."""
    file = tmp_path / "file"

    def write(*sync: Path) -> None:
        handle = os.open(file, os.O_CREAT | os.O_WRONLY)
        os.write(handle, b"bytes")
        for path in sync:
            os.fsync(os.open(path, os.O_RDONLY))
        os.mkdir(tmp_path / "next")

    def after(*sync: Path, lose_unsynced: bool = True) -> bytes | None:
        def run() -> None:
            with crash_at(4 + 2 * len(sync), lose_unsynced=lose_unsynced):
                write(*sync)

        file.unlink(missing_ok=True)
        assert in_child(run) == -signal.SIGKILL
        assert not (tmp_path / "next").exists()
        return file.read_bytes() if file.exists() else None

    assert after(lose_unsynced=False) == b"bytes"
    assert after() is None
    assert after(tmp_path) == b""
    assert after(file) is None
    assert after(file, tmp_path) == b"bytes"


def test_steps_are_named_in_order(tmp_path: Path) -> None:
    """A blob becomes visible only when its bytes are on the disk, and is promised only when its name is."""
    _, blobs = stores(tmp_path)
    blobs.put(b"make the folders", ".txt")
    with crash_points() as steps:
        key = blobs.put(b"make the folders too 57", ".txt")
    verbs = [step.split()[0] for step in steps]
    at = verbs.index("write")
    assert verbs[at - 1 : at + 4] == ["open", "write", "half", "fsync", "replace"]
    assert steps[-3:-2] == [f"fsync {Path(blobs.path(key)).parent}"]
    assert steps[-1] == f"fsync {blobs.root}"


def test_a_failing_child_is_told_from_a_killed_one() -> None:
    """An exception in the work is not taken for a crash."""

    def work(n: int) -> None:
        raise ValueError(n)

    assert in_child(lambda: None) == 0
    with pytest.raises(AssertionError, match="the child ended with 1 instead of dying at step 1"):
        list(crash_everywhere(work))
