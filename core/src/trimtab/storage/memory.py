"""Stores that live as long as their object: for tests, replay, and agents that need no resume."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence

from trimtab.errors import Lost, Unknown
from trimtab.storage.checks import KEY, blob_key, check_key, check_text
from trimtab.stores import Entry

__all__ = ["MemoryBlobs", "MemoryLedger"]


class MemoryLedger:
    """A `LedgerStore` in this object; two with one URL share nothing."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._rows: dict[str, list[str]] = {}
        self._lock = threading.Lock()

    def load(self, session: str, after: int = 0) -> list[str]:
        """See `LedgerStore.load`."""
        check_text([session], self._url)
        with self._lock:
            return self._rows.get(session, [])[max(after, 0) :]

    def append(self, session: str, expected: int, rows: Sequence[str]) -> None:
        """See `LedgerStore.append`."""
        check_text([session, *rows], self._url)
        with self._lock:
            old = self._expect(session, expected)
            if rows:
                self._rows.pop(session, None)  # the last key is the session written last
                self._rows[session] = [*old, *rows]

    def sessions(self) -> list[str]:
        """See `LedgerStore.sessions`."""
        with self._lock:
            return list(reversed(self._rows))

    def delete(self, session: str, expected: int) -> None:
        """See `LedgerStore.delete`."""
        check_text([session], self._url)
        with self._lock:
            self._expect(session, expected)
            self._rows.pop(session, None)

    def _expect(self, session: str, expected: int) -> list[str]:
        rows = self._rows.get(session, [])
        if len(rows) != expected:
            raise Lost(f"session {session!r} has {len(rows)} rows, not {expected}", where=self._url)
        return rows

    def close(self) -> None:
        """See `LedgerStore.close`; the rows stay."""


class MemoryBlobs:
    """A `BlobStore` in this object; its paths read ``blob:KEY``."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._data: dict[str, tuple[bytes, float]] = {}
        self._lock = threading.Lock()

    @staticmethod
    def key(data: bytes, suffix: str) -> str:
        """See `BlobStore.key`."""
        return blob_key(data, suffix)

    def put(self, data: bytes, suffix: str) -> str:
        """See `BlobStore.put`."""
        key = self.key(data, suffix)
        with self._lock:
            self._data[key] = bytes(data), time.time()
        return key

    def get(self, key: str) -> bytes:
        """See `BlobStore.get`."""
        check_key(key, self._url)
        found = self._data.get(key)
        if found is None:
            raise Unknown(f"no stored original {key!r}", where=self._url)
        return found[0]

    def path(self, key: str) -> str:
        """See `BlobStore.path`."""
        check_key(key, self._url)
        return f"blob:{key}"

    def owns(self, path: object) -> str | None:
        """See `BlobStore.owns`."""
        key = path.removeprefix("blob:") if isinstance(path, str) and path.startswith("blob:") else ""
        return key if KEY.fullmatch(key) else None

    def entries(self) -> Iterator[Entry]:
        """See `BlobStore.entries`."""
        with self._lock:
            found = list(self._data.items())
        yield from (Entry(key, len(data), put) for key, (data, put) in found)

    def delete(self, key: str, before: float) -> bool:
        """See `BlobStore.delete`."""
        check_key(key, self._url)
        with self._lock:
            old = key in self._data and self._data[key][1] < before
            if old:
                del self._data[key]
            return old
