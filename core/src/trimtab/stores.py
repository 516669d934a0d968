"""What the kernel asks of a ledger and of a blob store: the docstrings are the contract, one suite tests all.

A store is looked up by the scheme of its URL and constructed with the whole URL. All methods may be called
from several threads, and several processes may use one place. What fails raises `StorageError` with file and
reason; a store that raised stays usable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

__all__ = ["BlobStore", "Entry", "LedgerStore"]


class LedgerStore(Protocol):
    """Rows of JSON text per session, numbered 1, 2, 3 … without gaps; a row once written never changes."""

    def load(self, session: str, after: int = 0) -> list[str]:
        """Return the rows numbered above ``after``, in order; none for an unknown session. Makes no file."""

    def append(self, session: str, expected: int, rows: Sequence[str]) -> None:
        """Add ``rows`` behind row number ``expected``: all or none, durable on return.

        Raises `Lost`, and adds nothing, if the session's last row is not ``expected`` (0: it has none).
        """

    def sessions(self) -> list[str]:
        """Return the ids of all sessions that have rows, most recently written first."""

    def delete(self, session: str, expected: int) -> None:
        """Remove all rows of a session, up to number ``expected``: all or none, durable on return.

        Raises `Lost`, and removes nothing, if the session's last row is not ``expected``.
        """

    def close(self) -> None:
        """Let go of files. Again does no harm; the next call of another method opens them anew."""


class Entry(NamedTuple):
    """One stored original: its key, its size in bytes, and the epoch seconds of its last `BlobStore.put`."""

    key: str
    size: int
    time: float


class BlobStore(Protocol):
    """Originals, each under a key made from its content; nothing from outside ever becomes a path."""

    @staticmethod
    def key(data: bytes, suffix: str) -> str:
        """Return 32 hex digits of the SHA-256 of ``data`` (UTF-8), then ``suffix`` (``.txt``, ``.json``)."""

    def put(self, data: bytes, suffix: str) -> str:
        """Store ``data``, durable on return, and return its key; the same data twice is one blob.

        A blob is never seen half-written. One that was damaged is mended. One that is there counts as put now.
        """

    def get(self, key: str) -> bytes:
        """Return the data under ``key``; `Unknown` if none, `StorageError` if it no longer fits."""

    def path(self, key: str) -> str:
        """Return what a model is shown: an absolute path, or ``blob:KEY`` if there are no files. No I/O."""

    def owns(self, path: object) -> str | None:
        """Return the key if ``path``, in whatever spelling, is one that `path` gives; never raises."""

    def entries(self) -> Iterator[Entry]:
        """Yield what is stored, in no order; what is put or deleted meanwhile may be missing. Makes no file."""

    def delete(self, key: str, before: float) -> bool:
        """Remove the blob if it is there and its last `put` was before ``before`` (epoch seconds); tell whether it was.

        A `put` that goes on at the same time either makes it stay or stores it anew.
        """
