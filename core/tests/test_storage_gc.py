"""Retention: what goes, what stays, that a crash or another process never leaves a row without its originals."""

from __future__ import annotations

import json
import math
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trimtab.errors import StorageError, Unknown
from trimtab.storage import gc
from trimtab.storage.files import FileBlobs
from trimtab.storage.gc import DAY, collect, forget, holdings
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.storage.sqlite import SqliteLedger
from trimtab.stores import BlobStore, LedgerStore
from trimtab.testing.crash import crash_everywhere, crash_points, in_child

Stores = tuple[LedgerStore, BlobStore]
NOW = time.time()


def disk(folder: Path) -> tuple[SqliteLedger, FileBlobs]:
    """The stores of a folder, opened as a new process would."""
    return SqliteLedger(f"sqlite://{folder}/ledger.db"), FileBlobs(f"file://{folder}/blobs")


@pytest.fixture(params=["memory", "disk"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    """Both kinds of stores, empty."""
    ledger, blobs = disk(tmp_path) if request.param == "disk" else (MemoryLedger("memory:"), MemoryBlobs("memory:"))
    with closing(ledger):
        yield ledger, blobs


def put(blobs: BlobStore, data: bytes, days: float) -> str:
    """Store an original, last put so many days ago."""
    key = blobs.put(data, ".txt")
    then = NOW - days * DAY
    if isinstance(blobs, FileBlobs):
        os.utime(blobs.path(key), (then, then))
    elif isinstance(blobs, MemoryBlobs):
        blobs._data[key] = data, then
    return key


def decide(stores: Stores, session: str, days: float, *data: bytes, rows: int = 1, **more: Any) -> None:
    """Rows of a session, the last so many days ago, that point to originals of that age."""
    ledger, blobs = stores
    keys = {f"m{n}": put(blobs, one, days) for n, one in enumerate(data)}
    for _ in range(rows):
        row = {"v": 1, "time": NOW - days * DAY, "originals": keys, **more}
        ledger.append(session, len(ledger.load(session)), [json.dumps(row)])


def left(stores: Stores) -> tuple[set[str], int]:
    """The sessions, and the number of originals."""
    return set(stores[0].sessions()), len(list(stores[1].entries()))


def assert_whole(ledger: LedgerStore, blobs: BlobStore, but: Collection[str] = ()) -> None:
    """No row points to an original that is not there, but for some sessions."""
    for session in {*ledger.sessions()} - {*but}:
        for row in ledger.load(session):
            for key in json.loads(row)["originals"].values():
                blobs.get(key)


def test_H67_without_limits_every_session_stays(stores: Stores) -> None:
    """However old and big: only an original that nothing points to goes, and only when it is a day old."""
    decide(stores, "old", 4_000, b"a" * 1_000)
    put(stores[1], b"orphan", 1.1)
    put(stores[1], b"about to be pointed to", 0.9)
    swept = collect(*stores, now=NOW)
    assert left(stores) == ({"old"}, 2)
    assert (swept.gone, swept.young) == ([], 1)
    assert (swept.removed.sessions, swept.removed.originals, swept.removed.bytes) == (0, 1, 6)


def test_H67_old_sessions_go_with_all_that_only_they_need(stores: Stores) -> None:
    """The last decision counts, not the first; what a kept session shares stays."""
    decide(stores, "old", 31, b"only old's", b"shared", rows=3)
    decide(stores, "used again", 31, b"first")
    decide(stores, "used again", 29)
    decide(stores, "young", 2, b"shared")
    put(stores[1], b"shared", 31)
    before = sum(one.bytes for one in holdings(stores[0]) if one.session == "old")
    swept = collect(*stores, keep_days=30, now=NOW)
    assert left(stores) == ({"used again", "young"}, 2)
    assert swept.gone == ["old"]
    assert vars_of(swept.removed) == (1, 3, 1, before + len(b"only old's"))
    assert (swept.kept.sessions, swept.kept.rows, swept.kept.originals) == (2, 3, 2)
    assert_whole(*stores)


def vars_of(amount: gc.Amount) -> tuple[int, int, int, int]:
    """An amount as a tuple."""
    return amount.sessions, amount.rows, amount.originals, amount.bytes


def test_H67_the_oldest_go_until_the_rest_fits(stores: Stores) -> None:
    """No more than needed goes, and what is shared is only freed with the last that needs it."""
    for n in range(5):
        decide(stores, f"s{n}", 10 - n, bytes([n]) * 10_000, b"shared" * 5_000)
    put(stores[1], b"shared" * 5_000, 10)
    swept = collect(*stores, max_bytes=62_000, now=NOW)
    assert swept.gone == ["s0", "s1"]
    assert 50_000 < swept.kept.bytes <= 62_000
    assert collect(*stores, max_bytes=62_000, now=NOW).gone == []
    assert collect(*stores, max_bytes=35_000, now=NOW).gone == ["s2", "s3", "s4"]
    assert left(stores) == (set(), 0)


def test_H67_what_was_used_in_the_last_day_stays(stores: Stores) -> None:
    """A session that may be open does not go for its size."""
    decide(stores, "old", 2, b"a" * 1_000)
    decide(stores, "open", 0.5, b"b" * 1_000)
    swept = collect(*stores, max_bytes=0, now=NOW)
    assert swept.gone == ["old"]
    assert left(stores) == ({"open"}, 1)


@pytest.mark.parametrize("more", [{"v": 2}, {"time": None}, {"time": math.nan}, {"time": 10**400}])
def test_what_cannot_be_read_is_kept(stores: Stores, more: dict[str, Any]) -> None:
    """A session with rows of a newer version, or without a time, stays, with all that its rows name."""
    decide(stores, "old", 99, b"old")
    ledger, blobs = stores
    key = put(blobs, b"kept", 99)
    ledger.append("newer", 0, [json.dumps({"v": 1, "time": 5.0, "elsewhere": f"é{blobs.path(key)} is it", **more})])
    assert collect(ledger, blobs, keep_days=30, max_bytes=0, now=NOW).gone == ["old"]
    assert left(stores) == ({"newer"}, 1)


@pytest.mark.parametrize(
    "bad",
    [
        b"\xff\xfe %s",
        "[" * 100_000 + "%s",
        '["%s"]',
        "%s",
    ],
    ids=["bytes", "deep", "no object", "no JSON"],
)
@pytest.mark.parametrize("last", [True, False])
def test_a_damaged_row_holds_its_session_and_what_it_names(tmp_path: Path, bad: str | bytes, last: bool) -> None:
    """Whatever lies in the ledger, and wherever in its session: the run goes on with the others."""
    ledger, blobs = stores = disk(tmp_path)
    decide(stores, "old", 99, b"old")
    key = put(blobs, b"kept", 99)
    row = bad % key.encode() if isinstance(bad, bytes) else bad % key
    good = json.dumps({"v": 1, "time": 5.0})
    with closing(ledger), closing(sqlite3.connect(tmp_path / "ledger.db")) as db, db:
        for seq, one in enumerate((good, row) if last else (row, good), 1):
            db.execute("INSERT INTO ledger VALUES ('bad', ?, ?)", (seq, one))
        db.commit()
        swept = collect(ledger, blobs, keep_days=30, max_bytes=0, now=NOW)
        assert (swept.gone, left(stores)) == (["old"], ({"bad"}, 1))


def test_only_files_are_originals(tmp_path: Path) -> None:
    """A folder or a link with the name of a key stays and stops nothing, nor does what lies behind a linked folder."""
    stores = disk(tmp_path)
    blobs = stores[1]
    decide(stores, "new", 3, b"kept")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    names = [f"{two}{'0' * 30}.txt" for two in ("a0", "a1", "a2")]
    (theirs / names[2]).write_text("x")
    folder, link, behind = (Path(blobs.path(name)) for name in names)
    folder.mkdir(parents=True)
    link.parent.mkdir()
    link.symlink_to(theirs / names[2])
    behind.parent.symlink_to(theirs)
    for path in (folder, theirs / names[2]):
        os.utime(path, (1, 1))
    os.utime(link, (1, 1), follow_symlinks=False)
    assert len(list(blobs.entries())) == 1
    assert not any(blobs.delete(name, NOW) for name in names)
    swept = collect(*stores, now=NOW)
    assert (swept.removed.originals, swept.kept.originals, swept.failed) == (0, 1, [])
    assert folder.is_dir()
    assert link.is_symlink()
    assert behind.read_text() == "x"


def test_an_original_that_cannot_be_removed_is_told(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run goes on with the others, and counts it as kept."""
    decide(stores, "new", 3, b"kept")
    keys = {put(stores[1], b"%d" % n, 9) for n in range(3)}
    bad, delete = min(keys), stores[1].delete

    def failing(key: str, before: float) -> bool:
        if key == bad:
            raise StorageError("cannot remove a stored original: not permitted", where=key)
        return delete(key, before)

    monkeypatch.setattr(stores[1], "delete", failing)
    swept = collect(*stores, now=NOW)
    assert swept.failed == [f"StorageError: {bad}: cannot remove a stored original: not permitted"]
    assert (swept.removed.originals, swept.kept.originals, swept.young) == (2, 2, 0)


def test_a_ledger_without_sessions_owns_no_originals(stores: Stores) -> None:
    """Beside a ledger that is empty, thus rather the wrong one, nothing is removed."""
    put(stores[1], b"of another ledger", 99)
    with pytest.raises(StorageError, match="no session is in the ledger that the 1 originals could belong to"):
        collect(*stores, now=NOW)
    assert left(stores) == (set(), 1)


def test_dry_run_removes_nothing_and_tells_the_same(stores: Stores) -> None:
    """It says what the run behind it does."""
    decide(stores, "old", 31, b"a", b"b")
    decide(stores, "new", 3, b"b", b"c")
    put(stores[1], b"orphan", 5)
    tried = collect(*stores, keep_days=30, now=NOW, dry_run=True)
    assert left(stores) == ({"old", "new"}, 4)
    assert tried == collect(*stores, keep_days=30, now=NOW)
    assert left(stores) == ({"new"}, 2)


def test_a_session_that_is_used_meanwhile_stays(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look and the deletion a row came: the session stays with all that it points to."""
    decide(stores, "old", 31, b"a")
    ledger, blobs = stores
    delete = ledger.delete

    def slow(session: str, expected: int) -> None:
        decide(stores, "old", 0, b"b")
        delete(session, expected)

    monkeypatch.setattr(ledger, "delete", slow)
    swept = collect(ledger, blobs, keep_days=30, now=NOW)
    assert (swept.gone, left(stores)) == ([], ({"old"}, 2))


def test_forget(stores: Stores) -> None:
    """Named sessions go at once with what only they point to; other sessions' and nobody's originals stay."""
    decide(stores, "a", 0.1, b"a", b"shared")
    decide(stores, "b", 0.1, b"b", b"shared")
    put(stores[1], b"orphan", 99)
    swept = forget(*stores, ["a"], now=NOW)
    assert (swept.gone, swept.removed.originals, left(stores)) == (["a"], 1, ({"b"}, 3))
    decide(stores, "c", 0, b"just now")
    swept = forget(*stores, ["b", "c"], now=NOW)
    assert (swept.young, left(stores)) == (1, (set(), 2))
    with pytest.raises(Unknown, match="no session 'd'"):
        forget(*stores, ["d"])


SESSION = st.tuples(st.floats(0, 60), st.lists(st.integers(0, 5), max_size=4), st.integers(1, 3))


@settings(max_examples=150, deadline=None)
@given(st.lists(SESSION, max_size=6), st.none() | st.integers(1, 60), st.none() | st.integers(0, 9_000))
def test_H67_whatever_is_kept_is_whole(
    sessions: list[tuple[float, list[int], int]], keep_days: int | None, max_bytes: int | None
) -> None:
    """Any sessions, any limits: both limits hold as far as allowed, and no kept row lost an original."""
    stores = MemoryLedger("memory:"), MemoryBlobs("memory:")
    decide(stores, "anchor", 61, b"x")
    for n, (days, originals, rows) in enumerate(sessions):
        decide(stores, f"s{n}", days, *(bytes([one]) * 1_000 for one in originals), rows=rows)
    swept = collect(*stores, keep_days=keep_days, max_bytes=max_bytes, now=NOW)
    assert_whole(*stores)
    kept = {one.session: one for one in holdings(stores[0])}
    total = sum(one.bytes for one in kept.values()) + sum(entry.size for entry in stores[1].entries())
    assert swept.kept.bytes == total
    young = NOW - DAY
    if keep_days is not None:
        assert all(one.time >= NOW - keep_days * DAY for one in kept.values())
    if max_bytes is not None:
        assert total <= max_bytes or all(one.time >= young for one in kept.values())
    if keep_days is None and max_bytes is None:
        assert not swept.gone
    removed = {n: days for n, (days, _, _) in enumerate(sessions) if f"s{n}" in swept.gone}
    stayed = [days for n, (days, _, _) in enumerate(sessions) if f"s{n}" in kept]
    assert not removed or min(removed.values()) >= max([*stayed, 0])


@pytest.mark.parametrize(
    "lose_unsynced",
    [pytest.param(False, id="killed", marks=pytest.mark.slow), pytest.param(True, id="power cut")],
)
def test_killed_at_every_step_of_a_run(tmp_path: Path, lose_unsynced: bool) -> None:
    """Old state or new, no row without its originals, and the next run finishes."""

    def fill(folder: Path) -> None:
        folder.mkdir()
        stores = disk(folder)
        decide(stores, "old", 40, b"a", b"shared")
        decide(stores, "older", 50, b"b" * 50_000, rows=4)
        decide(stores, "new", 3, b"c", b"shared")
        put(stores[1], b"orphan", 9)
        stores[0].close()

    def work(n: int) -> None:
        ledger, blobs = disk(tmp_path / str(n))
        with closing(ledger):
            collect(ledger, blobs, keep_days=30, now=NOW)

    def check(n: int) -> None:
        ledger, blobs = disk(tmp_path / str(n))
        with closing(ledger):
            assert_whole(ledger, blobs)
            sessions = ledger.sessions()
            assert sessions[0] == "new"
            (tmp_path / str(n) / f"saw-{len(sessions)}").touch()
            collect(ledger, blobs, keep_days=30, now=NOW)
            assert_whole(ledger, blobs)
            assert left((ledger, blobs)) == ({"new"}, 2)

    fill(tmp_path / "0")
    with crash_points() as steps:
        work(0)
    for n in range(1, len(steps) + 2):
        fill(tmp_path / str(n))
    for n in crash_everywhere(work, lose_unsynced=lose_unsynced):
        assert in_child(partial(check, n)) == 0, steps[n - 1]
    assert {path.name for path in tmp_path.glob("*/saw-*")} == {"saw-1", "saw-2", "saw-3"}


def test_a_put_during_a_deletion_stores_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look at the time and the deletion no other store says "already there"."""
    blobs = FileBlobs(f"file://{tmp_path}")
    key = put(blobs, b"a", 9)
    unlink = os.unlink
    putting = threading.Thread(target=lambda: FileBlobs(f"file://{tmp_path}").put(b"a", ".txt"))

    def slow(path: str) -> None:
        putting.start()
        putting.join(0.2)
        unlink(path)

    monkeypatch.setattr(os, "unlink", slow)
    assert blobs.delete(key, NOW)
    putting.join()
    assert blobs.get(key) == b"a"


COMMIT = """
import json, sys, time
from trimtab.storage.files import FileBlobs
from trimtab.storage.sqlite import SqliteLedger
folder = sys.argv[1]
ledger, blobs = SqliteLedger(f"sqlite://{folder}/ledger.db"), FileBlobs(f"file://{folder}/blobs")
key = blobs.put(b"already there", ".txt")
print("put", flush=True)
sys.stdin.readline()
ledger.append("open", 0, [json.dumps({"v": 1, "time": time.time(), "originals": {"m": key}})])
"""


@pytest.mark.parametrize("remove", [partial(collect, keep_days=30), partial(forget, sessions=["old"])])
def test_H67_a_process_between_put_and_append(tmp_path: Path, remove: Callable[..., gc.Swept]) -> None:
    """What another process found there and is about to point to stays, though nothing points to it now."""
    ledger, blobs = stores = disk(tmp_path)
    decide(stores, "old", 40, b"already there", b"only old's")
    pipe = subprocess.PIPE
    with (
        closing(ledger),
        subprocess.Popen([sys.executable, "-c", COMMIT, str(tmp_path)], stdin=pipe, stdout=pipe, text=True) as other,
    ):
        assert other.stdout
        assert other.stdout.readline() == "put\n"
        swept = remove(ledger, blobs)
        assert (swept.gone, swept.young) == (["old"], 1)
        other.communicate("go\n", timeout=60)
        assert other.returncode == 0
        assert left(stores) == ({"open"}, 1)
        assert_whole(ledger, blobs)


def test_H67_processes_that_commit_while_two_collect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions and originals come and go in several processes for two seconds: no row ever lacks an original."""
    grace = 0.7  # many times what a commit takes here
    monkeypatch.setattr(gc, "GRACE", grace)

    def write(seed: int) -> None:
        rng = random.Random(seed)
        ledger, blobs = disk(tmp_path)
        for n in range(1_000_000):
            if time.time() > end:
                return
            start = time.time()
            keys = {f"m{n}": blobs.put(b"%d" % rng.randrange(150), ".txt") for n in range(2)}
            ledger.append(f"{seed} {n}", 0, [json.dumps({"v": 1, "time": start, "originals": keys})])
            if time.time() - start > grace / 2:  # on a machine that is this busy nothing is promised
                (tmp_path / f"slow-{seed} {n}").touch()

    def sweep() -> None:
        ledger, blobs = disk(tmp_path)
        gone = 0
        while time.time() < end:
            swept = collect(ledger, blobs, keep_days=grace / DAY)
            gone += swept.removed.originals * bool(swept.gone)
        (tmp_path / f"swept-{os.getpid()}").write_text(str(gone))

    decide(disk(tmp_path), "anchor", 0, b"anchor", time=1e12)
    end = time.time() + 2.5
    works: list[Callable[[], None]] = [partial(write, 1), partial(write, 2), sweep, sweep]
    threads = [threading.Thread(target=lambda work=work: codes.append(in_child(work))) for work in works]
    codes: list[int] = []
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0] * 4
    assert sum(int(path.read_text()) for path in tmp_path.glob("swept-*")) > 0
    assert_whole(*disk(tmp_path), but=[path.name.removeprefix("slow-") for path in tmp_path.glob("slow-*")])


def test_it_tells_how_far_it_is() -> None:
    """Every kind of work counts up to its total."""
    stores = MemoryLedger("memory:"), MemoryBlobs("memory:")
    for n in range(3):
        decide(stores, f"s{n}", 40, b"%d" % n)
    told: list[tuple[str, int, int]] = []
    collect(*stores, keep_days=30, now=NOW, progress=lambda *step: told.append(step))
    works = ("reading sessions", "removing sessions", "removing originals")
    assert told == [(what, n, 3) for what in works for n in (1, 2, 3)]


def test_where_nothing_was_stored() -> None:
    """A folder that does not exist holds nothing to collect."""
    with tempfile.TemporaryDirectory() as folder:
        ledger, blobs = disk(Path(folder) / "none")
        assert vars_of(collect(ledger, blobs, keep_days=1).kept) == (0, 0, 0, 0)
        assert list(Path(folder).iterdir()) == []
