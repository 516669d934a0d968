"""The contract of `trimtab.stores`: the same tests for every ledger and every blob store."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trimtab.errors import Lost, StorageError, Unknown
from trimtab.storage.files import FileBlobs
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.storage.sqlite import SqliteLedger
from trimtab.stores import BlobStore, LedgerStore

LEDGERS: dict[str, Callable[[Path], LedgerStore]] = {
    "memory": lambda folder: MemoryLedger("memory://"),
    "sqlite": lambda folder: SqliteLedger(f"sqlite://{folder}/n e%20w?#/ledger.db"),
}
BLOBS: dict[str, Callable[[Path], BlobStore]] = {
    "memory": lambda folder: MemoryBlobs("memory://"),
    "file": lambda folder: FileBlobs(f"file://{folder}/n e%20w?#/blobs"),
}
ODD = [
    None,
    7,
    b"/bytes",
    ["/list"],
    "",
    "/",
    "~",
    "~nobody-of-this-name/x",
    "\0",
    "/a\0b",
    "/" + "x" * 100_000,
    "/../" * 900,
    "\ud83d",
    "blob:",
    "blob:../../etc/passwd",
    "file:///etc/passwd",
    "0" * 32 + ".txt",
    "/" + "0" * 32 + ".txt",
    "/\ud83d/" + "0" * 32 + ".txt",
]
"""Things that calls hand over as a path, none of them ours."""


@pytest.fixture(params=LEDGERS)
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LedgerStore]:
    """Each kind of ledger, empty."""
    with closing(LEDGERS[request.param](tmp_path)) as store:
        yield store


@pytest.fixture(params=BLOBS)
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    """Each kind of blob store, empty."""
    return BLOBS[request.param](tmp_path)


def test_rows_come_back_in_order_and_from_any_position(ledger: LedgerStore) -> None:
    """`load` returns what was appended, whole or behind a row."""
    ledger.append("a", 0, ["1", "2"])
    ledger.append("a", 2, ["3"])
    assert [ledger.load("a", after) for after in (0, 1, 3, 9)] == [["1", "2", "3"], ["2", "3"], [], []]


def test_unknown_session_has_no_rows(ledger: LedgerStore) -> None:
    """Before anything was written there is nothing, and no error."""
    assert ledger.load("a") == []
    assert ledger.sessions() == []


@pytest.mark.parametrize("expected", [0, 1, 3])
def test_H73_append_behind_another_row_is_lost(ledger: LedgerStore, expected: int) -> None:
    """Whoever does not know the last row, too old or too new, adds nothing and hears both numbers."""
    ledger.append("a", 0, ["1", "2"])
    with pytest.raises(Lost, match=f"session 'a' has 2 rows, not {expected}$"):
        ledger.append("a", expected, ["x", "y"])
    assert ledger.load("a") == ["1", "2"]


def test_sessions_are_listed_latest_first(ledger: LedgerStore) -> None:
    """The order is that of the last write, not of the first; a session without rows is none."""
    for session, expected in (("a", 0), ("b", 0), ("c", 0), ("a", 1)):
        ledger.append(session, expected, ["{}"])
    ledger.append("d", 0, [])
    assert ledger.sessions() == ["a", "c", "b"]


def test_H69_rows_are_kept_to_the_character(ledger: LedgerStore) -> None:
    """A row comes back exactly, whatever text it holds and whatever the session is called."""
    rows = ["", "\0", "\r\n", "ünï😀", "'; DROP TABLE ledger; --", "x" * 1_000_000]
    for session in ("", "../..", "a\0b", "a", "%s?", "😀"):
        ledger.append(session, 0, rows)
        assert ledger.load(session) == rows


@pytest.mark.parametrize(("session", "row"), [("\ud83d", "x"), ("a", "\ud83d")])
def test_text_that_no_file_can_hold_is_refused_whole(ledger: LedgerStore, session: str, row: str) -> None:
    """A lone surrogate is an error that says so, and the rows beside it are not written either."""
    with pytest.raises(StorageError, match="surrogates not allowed"):
        ledger.append(session, 0, ["1", row])
    assert ledger.load("a") == []


def test_closing_twice_and_using_again(ledger: LedgerStore) -> None:
    """`close` only lets go: nothing is lost by it."""
    ledger.append("a", 0, ["1"])
    ledger.close()
    ledger.close()
    ledger.append("a", 1, ["2"])
    assert ledger.load("a") == ["1", "2"]


def test_a_deleted_session_is_unknown_and_begins_anew(ledger: LedgerStore) -> None:
    """All rows of one session go, those of others stay, and its next row is number 1."""
    ledger.append("a", 0, ["1", "2"])
    ledger.append("b", 0, ["3"])
    ledger.delete("a", 2)
    assert (ledger.load("a"), ledger.load("b"), ledger.sessions()) == ([], ["3"], ["b"])
    with pytest.raises(Lost, match=r"session 'a' has 0 rows, not 2$"):
        ledger.append("a", 2, ["x"])
    ledger.append("a", 0, ["4"])
    assert (ledger.load("a"), ledger.sessions()) == (["4"], ["a", "b"])


@pytest.mark.parametrize("expected", [0, 1, 3])
def test_a_session_that_was_used_meanwhile_is_not_deleted(ledger: LedgerStore, expected: int) -> None:
    """Whoever does not know the last row deletes nothing and hears both numbers."""
    ledger.append("a", 0, ["1", "2"])
    with pytest.raises(Lost, match=f"session 'a' has 2 rows, not {expected}$"):
        ledger.delete("a", expected)
    assert ledger.load("a") == ["1", "2"]


STEPS = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.sampled_from([0, 0, 0, -1, 1, 5]),
        st.lists(st.text(), max_size=3) | st.none(),
    )
)


@pytest.mark.parametrize("kind", LEDGERS)
@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_appends_and_deletions_right_and_wrong_equal_a_model(
    kind: str, steps: list[tuple[str, int, list[str] | None]]
) -> None:
    """Any sequence of both (no rows: delete), rightly and wrongly expected, leaves what a dict of lists would hold."""
    model: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder, closing(LEDGERS[kind](Path(folder))) as ledger:
        for session, off, rows in steps:
            have = len(model.get(session, []))
            if off:
                with pytest.raises(Lost):
                    ledger.delete(session, have + off) if rows is None else ledger.append(session, have + off, rows)
            elif rows is None:
                ledger.delete(session, have)
                model.pop(session, None)
            else:
                ledger.append(session, have, rows)
                if rows:
                    model[session] = [*model.pop(session, []), *rows]
        assert {session: ledger.load(session) for session in "ab"} == {s: model.get(s, []) for s in "ab"}
        assert ledger.sessions() == list(reversed(model))


def race(ledgers: list[LedgerStore], each: int) -> None:
    """Let one thread per entry append ``each`` rows to one session, reloading whenever it lost."""

    def write(ledger: LedgerStore, name: int) -> None:
        for number in range(each):
            while True:
                try:
                    ledger.append("s", len(ledger.load("s")), [f"{name} {number}"])
                    break
                except Lost:
                    continue

    threads = [threading.Thread(target=write, args=(ledger, name)) for name, ledger in enumerate(ledgers)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)


def assert_all_there(rows: list[str], writers: int, each: int) -> None:
    """Every writer's rows are there once, in its own order."""
    for name in range(writers):
        own = [row for row in rows if row.startswith(f"{name} ")]
        assert own == [f"{name} {number}" for number in range(each)]
    assert len(rows) == writers * each


def test_H73_threads_on_one_store(ledger: LedgerStore) -> None:
    """Threads that share a ledger lose and duplicate no row."""
    race([ledger] * 4, 100)
    assert_all_there(ledger.load("s"), 4, 100)


def test_H73_threads_with_a_store_each(tmp_path: Path) -> None:
    """Two ledgers on one file, each used by two threads, lose and duplicate no row."""
    with closing(LEDGERS["sqlite"](tmp_path)) as one, closing(LEDGERS["sqlite"](tmp_path)) as two:
        race([one, two] * 2, 25)
        assert_all_there(one.load("s"), 4, 25)


WRITER = """
import sys
from trimtab.errors import Lost
from trimtab.storage.sqlite import SqliteLedger
folder, name = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
for file in range(10):
    ledger = SqliteLedger(f"sqlite://{folder}/{file}/ledger.db")
    for number in range(20):
        while True:
            try:
                ledger.append("s", len(ledger.load("s")), [f"{name} {number}"])
                break
            except Lost:
                pass
        if number % 7 == 0:
            ledger.close()
"""


def test_H73_processes_on_one_file(tmp_path: Path) -> None:
    """Two processes that make, open, close and fill the same ten files lose and duplicate no row."""
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    pipe = subprocess.PIPE
    writers = [subprocess.Popen([*command, str(n)], stdin=pipe, stdout=pipe, text=True) for n in range(2)]
    for writer in writers:
        assert writer.stdout
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.communicate("go\n", timeout=60)
    assert [writer.returncode for writer in writers] == [0, 0]
    for file in range(10):
        with closing(SqliteLedger(f"sqlite://{tmp_path}/{file}/ledger.db")) as ledger:
            assert_all_there(ledger.load("s"), 2, 20)


def test_H63_blob_comes_back_byte_for_byte(blobs: BlobStore) -> None:
    """Nothing is decoded, cut or converted on the way."""
    for data in (b"", b"\r\n\0", "ünï😀".encode(), b"\xff\xfe", b"x" * 3_000_000):
        key = blobs.put(data, ".txt")
        assert key == blobs.key(data, ".txt")
        assert blobs.get(key) == data
    assert blobs.key(b"abc", ".json") == "ba7816bf8f01cfea414140de5dae2223.json"


def test_H74_the_same_data_is_one_blob(blobs: BlobStore) -> None:
    """Storing again changes nothing; another suffix is another blob."""
    assert blobs.put(b"a", ".txt") == blobs.put(b"a", ".txt") != blobs.put(b"a", ".json")


def test_entries_tell_key_size_and_time(blobs: BlobStore) -> None:
    """Every blob is listed once, with its bytes and when it was put; an empty store lists nothing."""
    assert list(blobs.entries()) == []
    start = time.time()
    keys = {blobs.put(data, ".txt"): len(data) for data in (b"", b"a", b"b" * 1_000)}
    keys[blobs.put(b"a", ".json")] = 1
    entries = list(blobs.entries())
    assert {entry.key: entry.size for entry in entries} == keys
    assert len(entries) == 4
    assert all(start - 1 < entry.time < time.time() + 1 for entry in entries)


def test_only_what_was_put_before_is_deleted(blobs: BlobStore) -> None:
    """A blob that is as young as the given time stays; an older one goes, once."""
    key = blobs.put(b"a", ".txt")
    (entry,) = blobs.entries()
    assert not blobs.delete(key, entry.time)
    assert blobs.get(key) == b"a"
    assert blobs.delete(key, entry.time + 0.1)
    assert not blobs.delete(key, entry.time + 0.1)
    with pytest.raises(Unknown):
        blobs.get(key)
    assert blobs.put(b"a", ".txt") == key
    assert blobs.get(key) == b"a"


def test_what_is_put_again_is_young_again(blobs: BlobStore) -> None:
    """`put` of what is there counts: whoever is about to point to a blob keeps it."""
    key = blobs.put(b"a", ".txt")
    (first,) = blobs.entries()
    time.sleep(0.02)
    blobs.put(b"a", ".txt")
    (second,) = blobs.entries()
    assert second.time > first.time
    assert not blobs.delete(key, second.time)


@pytest.mark.parametrize("key", ["", "x", "../../etc/passwd", "0" * 32, "0" * 32 + ".txt", "0" * 32 + "./../x"])
def test_H68_unknown_and_unsafe_keys(blobs: BlobStore, key: str) -> None:
    """What is not there is `Unknown`, and what could be no key never becomes a path."""
    with pytest.raises(Unknown):
        blobs.get(key)
    if key != "0" * 32 + ".txt":
        with pytest.raises(Unknown, match="is not the key of a stored original"):
            blobs.path(key)
        with pytest.raises(Unknown, match="is not the key of a stored original"):
            blobs.delete(key, time.time())
    else:
        assert not blobs.delete(key, time.time())


@pytest.mark.parametrize("suffix", ["", "txt", ".", "/../x", ".a/b", ".txt\n", ".TXT", ".toolongname"])
def test_H68_unsafe_suffix(blobs: BlobStore, suffix: str) -> None:
    """A suffix is part of a file name, so only plain ones are taken."""
    with pytest.raises(StorageError, match="suffix"):
        blobs.put(b"a", suffix)


def test_H64_a_blob_is_recognised_by_its_path(blobs: BlobStore) -> None:
    """The path that a model was shown leads back to the key, before and after the blob is stored."""
    key = blobs.key(b"a", ".txt")
    assert blobs.owns(blobs.path(key)) == key
    blobs.put(b"a", ".txt")
    assert blobs.owns(blobs.path(key)) == key


@pytest.mark.parametrize("path", ODD, ids=range(len(ODD)))
def test_other_paths_are_not_ours(blobs: BlobStore, path: object) -> None:
    """`owns` answers None to whatever a model or a caller comes up with, and never raises."""
    assert blobs.owns(path) is None


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters()) | st.text("/.~0a\0\ud83d").map(lambda s: f"/{s}{'0' * 32}.txt"))
def test_owns_never_raises(path: str) -> None:
    """No text at all makes `owns` raise or claim it."""
    for make in BLOBS.values():
        assert make(Path("/nowhere")).owns(path) is None
