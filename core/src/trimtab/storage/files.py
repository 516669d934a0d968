"""Originals as files in a local folder that a model can read with its own tools."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator

from trimtab.errors import StorageError, Unknown
from trimtab.storage.checks import KEY, blob_key, check_key, fits, location
from trimtab.storage.disk import doing, make_folder, sync_folder
from trimtab.stores import Entry

__all__ = ["FileBlobs"]

LEFT_BEHIND = 3600.0
"""Seconds after which a temporary file has no living writer: a write takes milliseconds."""
LONGEST = 4096
"""Characters of the longest path looked at: PATH_MAX on Linux."""


class FileBlobs:
    """A `BlobStore` in ``file:///folder``: ``ab/abcd….txt`` (0600 in 0700), unfinished ones in ``tmp/``.

    The time of a blob is its file's modification time. ``lock`` keeps `put` and `delete` apart: each looks at the
    time and acts on it under one lock, so that a blob which a `put` found there is not deleted as old right after.
    """

    def __init__(self, url: str) -> None:
        self.root = location(url, "file")
        self._swept = False

    @staticmethod
    def key(data: bytes, suffix: str) -> str:
        """See `BlobStore.key`."""
        return blob_key(data, suffix)

    def path(self, key: str) -> str:
        """See `BlobStore.path`."""
        check_key(key, self.root)
        return os.path.join(self.root, key[:2], key)

    def put(self, data: bytes, suffix: str) -> str:
        """See `BlobStore.put`: temporary file, fsync, rename, fsync of the folders; what is there becomes new."""
        key = self.key(data, suffix)
        path = self.path(key)
        with doing("store an original", path):
            make_folder(os.path.dirname(path))
            with self._locked(fcntl.LOCK_SH):
                if self._read(path) == data:
                    os.utime(path)
                else:
                    self._write(data, path)
            # Also for a blob found there: its writer may not have come this far, and our caller relies on it.
            sync_folder(os.path.dirname(path))
            sync_folder(self.root)
        return key

    def get(self, key: str) -> bytes:
        """See `BlobStore.get`."""
        path = self.path(key)
        with doing("read a stored original", path):
            data = self._read(path)
        if data is None:
            raise Unknown("no stored original", where=path)
        if not fits(key, data):
            raise StorageError(
                f"the stored original is damaged ({len(data)} bytes that do not fit its name)", where=path
            )
        return data

    def owns(self, path: object) -> str | None:
        """See `BlobStore.owns`: absolute, ``~``, detours and symlinked folders are seen through."""
        if not isinstance(path, str) or len(path) > LONGEST or "\0" in path:
            return None
        try:
            plain = os.path.normpath(os.path.expanduser(path))
            key = os.path.basename(plain)
            if not KEY.fullmatch(key) or not os.path.isabs(plain):
                return None
            ours = self.path(key)
            return key if plain == ours or os.path.realpath(plain) == os.path.realpath(ours) else None
        except (OSError, ValueError):  # ValueError: characters that no file name can hold
            return None

    def entries(self) -> Iterator[Entry]:
        """See `BlobStore.entries`; links, and what else is no file of ours, are passed over."""
        with doing("list the stored originals", self.root):
            folders = os.listdir(self.root) if os.path.isdir(self.root) else []
            for folder in folders:
                path = os.path.join(self.root, folder)
                for key in os.listdir(path) if len(folder) == 2 and _is_folder(path) else ():
                    if KEY.fullmatch(key) and key.startswith(folder):
                        with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
                            found = os.lstat(self.path(key))
                            if stat.S_ISREG(found.st_mode):
                                yield Entry(key, found.st_size, found.st_mtime)

    def delete(self, key: str, before: float) -> bool:
        """See `BlobStore.delete`; a power cut may bring the blob back. What is a link, or behind one, stays."""
        path = self.path(key)
        with (
            doing("remove a stored original", path),
            contextlib.suppress(FileNotFoundError),
            self._locked(fcntl.LOCK_EX),
        ):
            found = os.lstat(path)
            if found.st_mtime < before and stat.S_ISREG(found.st_mode) and _is_folder(os.path.dirname(path)):
                os.unlink(path)
                return True
        return False

    @contextlib.contextmanager
    def _locked(self, kind: int) -> Iterator[None]:
        """Hold the store's lock: shared by all that put, alone to delete."""
        file = os.open(os.path.join(self.root, "lock"), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(file, kind)
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # closing does not unlock what a forked child has inherited
            os.close(file)

    @staticmethod
    def _read(path: str) -> bytes | None:
        try:
            with open(path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def _write(self, data: bytes, path: str) -> None:
        """Under ``path`` appear all of ``data``, durable, or nothing."""
        folder = os.path.join(self.root, "tmp")
        make_folder(folder)
        self._sweep(folder)
        file, temporary = tempfile.mkstemp(dir=folder)  # 0600
        try:
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(file, rest) :]
                os.fsync(file)
            finally:
                os.close(file)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def _sweep(self, folder: str) -> None:
        """Once per store: remove what killed writers left behind."""
        if self._swept:
            return
        self._swept = True
        old = time.time() - LEFT_BEHIND
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):  # another process sweeps too
                if os.stat(left := os.path.join(folder, name)).st_mtime < old:
                    os.unlink(left)


def _is_folder(path: str) -> bool:
    """Whether a folder is there, not a link to one: another store's originals are not ours."""
    return os.path.isdir(path) and not os.path.islink(path)
