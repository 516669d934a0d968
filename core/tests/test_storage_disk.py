"""The stores on a disk: permissions, spellings of a path, damage, locks, full disks, and the error texts."""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import signal
import sqlite3
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from trimtab.errors import Lost, StorageError, Unknown
from trimtab.storage import schema
from trimtab.storage.checks import location
from trimtab.storage.files import LEFT_BEHIND, FileBlobs
from trimtab.storage.sqlite import SqliteLedger
from trimtab.testing.crash import in_child

NOBODY = 65534


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SqliteLedger]:
    """A ledger whose folder does not exist yet."""
    with closing(SqliteLedger(f"sqlite://{tmp_path}/a/b %41?#/ledger.db")) as store:
        yield store


@pytest.fixture
def blobs(tmp_path: Path) -> FileBlobs:
    """A blob store whose folder does not exist yet."""
    return FileBlobs(f"file://{tmp_path}/a/blobs")


def modes(folder: Path) -> set[tuple[bool, str]]:
    """(is a folder, octal permissions) of everything below ``folder``."""
    return {(path.is_dir(), oct(path.stat().st_mode & 0o777)) for path in folder.rglob("*")}


def test_H68_files_are_the_users_alone(ledger: SqliteLedger, blobs: FileBlobs, tmp_path: Path) -> None:
    """Files are 0600 in folders 0700, SQLite's own beside the ledger too, whatever the umask allows."""
    old = os.umask(0)
    try:
        ledger.append("s", 0, ["{}"])
        blobs.put(b"a", ".txt")
    finally:
        os.umask(old)
    assert len(list(tmp_path.glob("a/b */*"))) == 3
    assert modes(tmp_path) == {(True, "0o700"), (False, "0o600")}


def test_reading_makes_no_file(ledger: SqliteLedger, blobs: FileBlobs, tmp_path: Path) -> None:
    """A look for a session or a blob leaves no trace."""
    assert (ledger.load("s"), ledger.sessions()) == ([], [])
    with pytest.raises(Unknown):
        blobs.get("0" * 32 + ".txt")
    assert blobs.owns(blobs.path("0" * 32 + ".txt"))
    assert list(tmp_path.iterdir()) == []


def test_ledger_is_durable_and_versioned(ledger: SqliteLedger) -> None:
    """The file is a write-ahead-logged database of schema 1, and each commit waits for the disk."""
    ledger.append("s", 0, ["{}"])
    assert ledger._db
    pragmas = ("journal_mode", "synchronous", "user_version")
    assert [ledger._db.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas] == ["wal", 2, 1]


def test_a_killed_beginner_left_an_empty_file(ledger: SqliteLedger) -> None:
    """A file without a table is a ledger without sessions, and the next append makes the table."""
    Path(ledger.file).parent.mkdir(parents=True)
    Path(ledger.file).touch()
    assert ledger.load("s") == []
    ledger.append("s", 0, ["{}"])
    assert ledger.load("s") == ["{}"]


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("PRAGMA user_version=2", "written by a newer trimtab (schema 2, this one knows 1); upgrade trimtab"),
        ("PRAGMA application_id=5", "an SQLite database, but not a trimtab ledger; name another file"),
    ],
)
def test_a_newer_or_foreign_database_is_left_alone(ledger: SqliteLedger, statement: str, text: str) -> None:
    """Neither read nor written, and the error says what to do."""
    ledger.append("s", 0, ["{}"])
    ledger.close()
    with closing(sqlite3.connect(ledger.file)) as db:
        db.execute(statement)
    before = Path(ledger.file).read_bytes()
    for call in (lambda: ledger.load("s"), lambda: ledger.append("s", 1, ["{}"])):
        with pytest.raises(StorageError) as error:
            call()
        assert str(error.value) == f"{ledger.file}: {text}"
    assert Path(ledger.file).read_bytes() == before


def test_a_damaged_ledger_says_so_until_it_is_moved_away(ledger: SqliteLedger) -> None:
    """Garbage and overwritten pages are errors that name the file; without it a new one begins."""
    ledger.append("s", 0, ["x" * 100] * 500)
    ledger.close()
    file = Path(ledger.file)
    whole = file.read_bytes()
    advice = "move it away and a new one is begun (stored originals are not in it)"
    for damaged, text in (
        (b"no database" * 500, f"damaged, or no ledger at all; {advice} (SQLITE_NOTADB)"),
        (whole[:4096] + b"\7" * (len(whole) - 4096), f"damaged; {advice} (SQLITE_CORRUPT)"),
    ):
        file.write_bytes(damaged)
        with pytest.raises(StorageError) as error:
            ledger.load("s")
        assert str(error.value) == f"{file}: {text}"
    file.unlink()
    ledger.append("s", 0, ["{}"])
    assert ledger.load("s") == ["{}"]


def test_a_locked_ledger_says_so_and_recovers(ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that does not finish makes the others give up with a reason, not hang; readers go on."""
    ledger.append("s", 0, ["1"])
    ledger.close()
    monkeypatch.setattr(schema, "PATIENCE", 0.05)
    with closing(sqlite3.connect(ledger.file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError) as error:
            ledger.append("s", 1, ["2"])
        assert str(error.value) == (
            f"{ledger.file}: locked by another process; try again when that one is done (SQLITE_BUSY)"
        )
        assert ledger.load("s") == ["1"]
        other.execute("ROLLBACK")
    ledger.append("s", 1, ["2"])
    assert ledger.load("s") == ["1", "2"]


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_two_beginners_wait_for_each_other(ledger: SqliteLedger, lock: str) -> None:
    """While another process is making the same ledger, the first append waits instead of failing."""
    Path(ledger.file).parent.mkdir(parents=True)
    Path(ledger.file).touch()
    with closing(sqlite3.connect(ledger.file, isolation_level=None, check_same_thread=False)) as other:
        other.execute(f"BEGIN {lock}")
        timer = threading.Timer(0.05, lambda: other.execute("COMMIT"))
        timer.start()
        ledger.append("s", 0, ["{}"])
        timer.join()
    assert ledger.load("s") == ["{}"]


def test_the_slower_beginner_finds_the_table_made(ledger: SqliteLedger) -> None:
    """Making a ledger that another process has made meanwhile changes nothing."""
    ledger.append("s", 0, ["{}"])
    with closing(sqlite3.connect(ledger.file, isolation_level=None)) as db, schema.transaction(db):
        schema.upgrade(db, ledger.file)
    assert ledger.load("s") == ["{}"]


def test_a_ledger_made_while_we_look_is_no_stranger(ledger: SqliteLedger) -> None:
    """A table made between two of the questions that tell our files from others is not taken for foreign."""
    Path(ledger.file).parent.mkdir(parents=True)
    Path(ledger.file).touch()

    class Slow(sqlite3.Connection):
        def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
            answer = super().execute(sql, *args).fetchall()
            ledger.append("s", len(ledger.load("s")), ["{}"])
            return super().execute("SELECT ?", answer[0])

    with closing(sqlite3.connect(ledger.file, isolation_level=None, factory=Slow)) as db:
        assert schema.version(db, ledger.file) == 1


def test_a_fork_shares_no_connection(ledger: SqliteLedger) -> None:
    """Parent and child both go on with the ledger object they share, and see each other's rows."""
    ledger.append("s", 0, ["parent"])
    assert in_child(lambda: ledger.append("s", 1, ["child"])) == 0
    assert ledger._db is None
    ledger.append("s", 2, ["parent"])
    assert ledger.load("s") == ["parent", "child", "parent"]


def test_a_ledger_that_is_let_go_is_closed(tmp_path: Path) -> None:
    """Nobody closes a session that he drops; its connection must not live on until a fork."""
    gc.disable()
    try:
        SqliteLedger(f"sqlite://{tmp_path}/dropped.db").append("s", 0, ["row"])
        left = [one for one in gc.get_objects() if isinstance(one, sqlite3.Connection)]
        files = []
        for one in left:
            with contextlib.suppress(sqlite3.ProgrammingError):  # closed
                files += [row[2] for row in one.execute("PRAGMA database_list")]
    finally:
        gc.enable()
    assert f"{tmp_path}/dropped.db" not in files


def test_a_damaged_blob_is_refused_and_mended(blobs: FileBlobs) -> None:
    """Content that no longer fits its name is an error; storing the same original again mends it."""
    key = blobs.put(b"original", ".txt")
    Path(blobs.path(key)).write_bytes(b"origin")
    with pytest.raises(StorageError) as error:
        blobs.get(key)
    text = "the stored original is damaged (6 bytes that do not fit its name)"
    assert str(error.value) == f"{blobs.path(key)}: {text}"
    blobs.put(b"original", ".txt")
    assert blobs.get(key) == b"original"


def test_deleted_rows_are_in_no_file(ledger: SqliteLedger) -> None:
    """What a session said is gone from the ledger and its log, also while another process has both open."""
    ledger.append("a", 0, ["secret " * 5_000])
    ledger.append("b", 0, ["kept " * 50_000])  # so much that the file is not written anew
    with closing(SqliteLedger(f"sqlite://{ledger.file}")) as other:
        assert other.load("b")
        ledger.delete("a", 1)
        files = list(Path(ledger.file).parent.iterdir())
        assert len(files) == 3
        assert not [path for path in files if b"secret" in path.read_bytes()]
        assert other.load("b") == ledger.load("b") == ["kept " * 50_000]


def test_a_ledger_that_lost_half_shrinks(ledger: SqliteLedger) -> None:
    """The file gives its space back, the order of the sessions stays, and so do its marks."""
    for n in range(40):
        ledger.append(f"s{n}", 0, ["x" * 10_000])
    for n in range(38):
        ledger.delete(f"s{n}", 1)
    assert os.path.getsize(ledger.file) < 40 * 10_000 / 5
    assert ledger.sessions() == ["s39", "s38"]
    ledger.append("s38", 1, ["y"])
    assert ledger.sessions() == ["s38", "s39"]


@pytest.mark.parametrize("again", [False, True], ids=["deleted", "replaced"])
def test_a_ledger_that_vanished_is_noticed(ledger: SqliteLedger, tmp_path: Path, again: bool) -> None:
    """What an open store reads and writes is what lies under its name now, not the file that it opened."""
    ledger.append("s", 0, ["old"])
    for path in Path(ledger.file).parent.iterdir():
        path.unlink()
    if again:
        with closing(SqliteLedger(f"sqlite://{ledger.file}")) as other:
            other.append("s", 0, ["new"])
    assert ledger.load("s") == ["new"] * again
    with pytest.raises(Lost, match=f"has {1 * again} rows, not 5"):
        ledger.append("s", 5, ["x"])
    ledger.append("s", 1 * again, ["newer"])
    ledger.close()
    assert ledger.load("s") == [*["new"] * again, "newer"]


def test_a_damaged_original_can_be_deleted(blobs: FileBlobs) -> None:
    """What no longer fits its name is listed with the size it has, and goes like any other; strangers stay."""
    key = blobs.put(b"original", ".txt")
    Path(blobs.path(key)).write_bytes(b"or")
    (Path(blobs.path(key)).parent / "stranger").touch()
    Path(blobs.root, "zz").touch()
    assert [(entry.key, entry.size) for entry in blobs.entries()] == [(key, 2)]
    assert blobs.delete(key, blobs_time(blobs) + 1)
    assert list(blobs.entries()) == []


def blobs_time(blobs: FileBlobs) -> float:
    """When the youngest original was put."""
    return max(entry.time for entry in blobs.entries())


def test_a_forked_child_does_not_hold_the_lock(blobs: FileBlobs) -> None:
    """A child that was forked in the middle of a `put` and lives on does not keep originals from being deleted."""
    key = blobs.put(b"a", ".txt")
    children = []

    def fork_inside(path: str) -> bytes | None:
        children.append(os.fork())
        if not children[0]:
            time.sleep(30)
            os._exit(0)
        return b"a"

    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore", DeprecationWarning)
        patch.setattr(blobs, "_read", fork_inside)
        blobs.put(b"a", ".txt")
    try:
        start = time.monotonic()
        assert blobs.delete(key, time.time() + 1)
        assert time.monotonic() - start < 10
    finally:
        os.kill(children[0], signal.SIGKILL)
        os.waitpid(children[0], 0)


def test_H67_leftovers_of_killed_writers_are_swept(blobs: FileBlobs) -> None:
    """Temporary files older than an hour go with the next write; a younger one may have a living writer."""
    blobs.put(b"a", ".txt")
    folder = Path(blobs.root, "tmp")
    (folder / "old").touch()
    (folder / "young").touch()
    past = (folder / "old").stat().st_mtime - LEFT_BEHIND - 1
    os.utime(folder / "old", (past, past))
    FileBlobs(f"file://{blobs.root}").put(b"b", ".txt")
    assert [path.name for path in folder.iterdir()] == ["young"]


def test_H64_a_blob_is_recognised_in_every_spelling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Detours, ``~``, doubled slashes and symlinked folders lead to one key; a stranger's file does not."""
    monkeypatch.setenv("HOME", str(tmp_path))
    blobs = FileBlobs("file:///~/real/blobs")
    key = blobs.put(b"a", ".txt")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    tail = f"{key[:2]}/{key}"
    for path in (
        f"{tmp_path}/real/blobs/{tail}",
        f"{tmp_path}/real/x/..//blobs/./{tail}",
        f"{tmp_path}/link/blobs/{tail}",
        f"~/real/blobs/{tail}",
        f"~/link/blobs/{tail}",
    ):
        assert blobs.owns(path) == key, path
    assert FileBlobs(f"file://{tmp_path}/link/blobs").owns(f"{tmp_path}/real/blobs/{tail}") == key
    stranger = tmp_path / key
    stranger.write_bytes(b"a")
    for path in (str(stranger), tail, key, f"real/blobs/{tail}", f"{tmp_path}/real/blobs/{key}"):
        assert blobs.owns(path) is None, path


def test_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address is a scheme and an absolute path, taken as written; else the error shows the form."""
    monkeypatch.setenv("HOME", "/home/me")
    given = {
        "file:///a b/%20/ü#?": "/a b/%20/ü#?",
        "file:////a": "/a",
        "file:///~/x": "/home/me/x",
        "file://~/x": "/home/me/x",
        "file:///a/~/x": "/a/~/x",
    }
    assert {url: location(url, "file") for url in given} == given
    for url in ("", "/a", "file:", "file://", "file://a/b", "sqlite:///a", "file:///a\0b"):
        with pytest.raises(StorageError, match=r"not a place to store things in; write file:///absolute/path$"):
            location(url, "file")


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    """With a file where a folder should be, put, get, append and load name their own file and the reason."""
    way = tmp_path / "way"
    way.touch()
    blobs, ledger = FileBlobs(f"file://{way}/blobs"), SqliteLedger(f"sqlite://{way}/ledger.db")
    path = blobs.path(key := blobs.key(b"a", ".txt"))
    for call, text in (
        (lambda: blobs.put(b"a", ".txt"), f"{path}: cannot store an original: Not a directory"),
        (lambda: blobs.get(key), f"{path}: cannot read a stored original: Not a directory"),
        (lambda: ledger.append("s", 0, ["{}"]), f"{ledger.file}: cannot open the ledger: Not a directory"),
        (lambda: ledger.load("s"), f"{ledger.file}: cannot open the ledger: Not a directory"),
    ):
        with pytest.raises(StorageError) as error:
            call()
        assert str(error.value) == text


def test_no_permission_is_named() -> None:
    """A user who may not write gets the file and the reason, and can still read."""
    with tempfile.TemporaryDirectory() as name:  # not tmp_path: its parents are closed to other users
        folder = Path(name)
        blobs, ledger = FileBlobs(f"file://{folder}/blobs"), SqliteLedger(f"sqlite://{folder}/ledger.db")
        key = blobs.put(b"a", ".txt")
        ledger.append("s", 0, ["{}"])

        def read_only() -> None:
            for path in (folder, *folder.rglob("*")):
                path.chmod(0o555 if path.is_dir() else 0o444)
            if os.geteuid() == 0:
                os.seteuid(NOBODY)
            assert blobs.get(key) == b"a"
            assert ledger.load("s") == ["{}"]
            with pytest.raises(StorageError, match=r"cannot store an original: Permission denied$"):
                blobs.put(b"b", ".txt")
            with pytest.raises(StorageError, match=r"ledger\.db: cannot be written; check the permissions"):
                ledger.append("s", 1, ["{}"])
            with pytest.raises(StorageError, match=r"cannot open the ledger: Permission denied$"):
                SqliteLedger(f"sqlite://{folder}/new/ledger.db").append("s", 0, ["{}"])

        with closing(sqlite3.connect(ledger.file)) as keeps_wal:  # else a read-only user could not make it
            keeps_wal.execute("SELECT * FROM ledger")
            try:
                assert in_child(read_only) == 0
            finally:
                for path in (folder, *folder.rglob("*")):
                    path.chmod(0o700)
        ledger.close()


def test_a_full_disk_is_named_and_nothing_half_written_is_seen(ledger: SqliteLedger, blobs: FileBlobs) -> None:
    """When the system takes part of a write, put and append fail with a reason and leave the old state."""
    key = blobs.put(b"a", ".txt")
    ledger.append("s", 0, ["1"])

    def full() -> None:
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
        with pytest.raises(StorageError, match=r"\.txt: cannot store an original: File too large$"):
            blobs.put(b"b" * 80_000, ".txt")
        with pytest.raises(StorageError, match=r"ledger\.db: (disk I/O error|the disk is full) \(SQLITE_"):
            ledger.append("s", 1, ["2" * 80_000])
        assert ledger.load("s") == ["1"]

    assert in_child(full) == 0
    assert list(Path(blobs.root, "tmp").iterdir()) == []
    with pytest.raises(Unknown):
        blobs.get(blobs.key(b"b" * 80_000, ".txt"))
    assert (blobs.get(key), ledger.load("s")) == (b"a", ["1"])
    ledger.append("s", 1, ["2" * 80_000])
