"""Kills a process at a chosen storage step, to show that a crash anywhere leaves the old state or the new.

A *step* is a call that changes what is on disk or makes it durable: the functions of `os` in ``CALLS``, and
each statement on an SQLite connection that is opened inside the block (so open the stores there). Death comes
right before the step; a write has a second step, at which half of it is done. What SQLite does inside one
statement is beyond reach: `signal.setitimer` in a child kills at those moments.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import shutil
import signal
import sqlite3
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

__all__ = ["crash_at", "crash_everywhere", "crash_points", "in_child"]

CALLS = ("fsync", "mkdir", "open", "rename", "replace", "unlink", "write")


@contextlib.contextmanager
def crash_points() -> Iterator[list[str]]:
    """Yield a list that receives the name of every storage step made inside the block; nothing is killed."""
    with _counting(_Steps()) as steps:
        yield steps.names


@contextlib.contextmanager
def crash_at(n: int, *, lose_unsynced: bool = False) -> Iterator[None]:
    """Send SIGKILL to this process right before its ``n``-th storage step (1 is the first) inside the block.

    With ``lose_unsynced`` it dies as in a power cut: bytes and new names that no fsync covers are gone.
    Make the folder to work in before the block, or it may go with them.
    """
    with _counting(_Steps(fatal=n, lose_unsynced=lose_unsynced)):
        yield


def in_child(work: Callable[[], object]) -> int:
    """Run ``work`` in a forked child; return 0, 1 after an exception (printed), or ``-signal``."""
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork with threads about; ours only touches files
        child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def crash_everywhere(work: Callable[[int], object], *, lose_unsynced: bool = False) -> Iterator[int]:
    """Run ``work(n)`` in a child that dies at step n, for n = 1, 2, …; yield n after each death.

    Ends with the first run that gets through. Raises `AssertionError` when ``work`` fails in any other way.
    """
    for n in itertools.count(1):

        def run(n: int = n) -> None:
            with crash_at(n, lose_unsynced=lose_unsynced):
                work(n)

        code = in_child(run)
        if code == 0:
            return
        assert code == -signal.SIGKILL, f"the child ended with {code} instead of dying at step {n}"
        yield n


class _Steps:
    """The steps so far, and what a power cut now would take away."""

    def __init__(self, fatal: int = 0, *, lose_unsynced: bool = False) -> None:
        self.names: list[str] = []
        self.fatal = fatal
        self.lose_unsynced = lose_unsynced
        self.patches = contextlib.ExitStack()
        self.paths: dict[int, str] = {}
        """Of the files and folders opened, by descriptor."""
        self.bytes: set[str] = set()
        """Files with bytes that no fsync covers."""
        self.entries: set[str] = set()
        """Names whose folder was not fsynced since they were made."""

    def step(self, name: str) -> None:
        self.names.append(name)
        if len(self.names) == self.fatal:
            self.patches.close()
            if self.lose_unsynced:
                self.cut_power()
            os.kill(os.getpid(), signal.SIGKILL)

    def cut_power(self) -> None:
        for path in self.bytes:
            os.truncate(path, 0)
        for path in self.entries:
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.lexists(path):  # else it went with its folder
                os.unlink(path)

    def call(self, name: str, real: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Stands for one function of `os`."""
        self.step(f"{name} {self.paths.get(args[0], args[0])}")
        if name == "write":
            self.half_write(real, *args)
        new = name == "open" and not os.path.lexists(args[0])
        result = real(*args, **kwargs)
        if name == "fsync":
            self.synced(self.paths.get(args[0]))
        elif name == "open":
            self.paths[result] = _place(args[0])
            self.entries.update([_place(args[0])] if new else [])
        elif name == "mkdir":
            self.entries.add(_place(args[0]))
        elif name == "unlink":
            self.gone(_place(args[0]))
        elif name in ("rename", "replace"):
            self.moved(_place(args[0]), _place(args[1]))
        return result

    def half_write(self, real: Callable[..., Any], file: int, data: bytes) -> None:
        if file in self.paths:
            self.bytes.add(self.paths[file])
        if len(self.names) + 1 == self.fatal:
            real(file, data[: len(data) // 2])
        self.step(f"half of write {self.paths.get(file, file)}")

    def synced(self, path: str | None) -> None:
        """Note an fsync: a file's covers its bytes, a folder's the names in it."""
        self.bytes.discard(path or "")
        self.entries = {entry for entry in self.entries if os.path.dirname(entry) != path}

    def gone(self, path: str) -> None:
        self.bytes.discard(path)
        self.entries.discard(path)

    def moved(self, old: str, new: str) -> None:
        if old in self.bytes:
            self.bytes.add(new)
        self.gone(old)
        self.entries.add(new)


def _place(path: str | bytes | os.PathLike[str]) -> str:
    return os.path.abspath(os.fsdecode(path))


def _connection(steps: _Steps) -> type[sqlite3.Connection]:
    class Connection(sqlite3.Connection):
        def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
            steps.step(sql)
            return super().execute(sql, *args)

        def executemany(self, sql: str, *args: Any) -> sqlite3.Cursor:
            steps.step(sql)
            return super().executemany(sql, *args)

        def close(self) -> None:
            steps.step("close")
            super().close()

    return Connection


@contextlib.contextmanager
def _counting(steps: _Steps) -> Iterator[_Steps]:
    with steps.patches:
        for name in CALLS:
            counted = functools.partial(steps.call, name, getattr(os, name))
            steps.patches.enter_context(mock.patch.object(os, name, counted))
        connect = functools.partial(sqlite3.connect, factory=_connection(steps))
        steps.patches.enter_context(mock.patch.object(sqlite3, "connect", connect))
        yield steps
