"""Durable folders, and operating system errors as texts that name the file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from trimtab.errors import StorageError

__all__ = ["doing", "make_folder", "sync_folder"]


@contextlib.contextmanager
def doing(what: str, path: str) -> Iterator[None]:
    """Turn an `OSError` inside the block into a `StorageError`: file, what failed, the system's reason."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"cannot {what}: {error.strerror or error}", where=path) from error


def make_folder(path: str) -> None:
    """Create ``path`` and its missing parents, for the user alone (0700), and make their names durable."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    make_folder(parent)
    with contextlib.suppress(FileExistsError):  # another process was quicker; a file there fails below
        os.mkdir(path, 0o700)
    sync_folder(path)
    sync_folder(parent)


def sync_folder(path: str) -> None:
    """Make the names in ``path`` durable: a file's own fsync does not cover its name."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
