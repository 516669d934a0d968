"""What every store checks: keys, addresses, and that text can be written at all."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable

from trimtab.errors import StorageError, Unknown

__all__ = ["KEY", "blob_key", "check_key", "check_text", "fits", "location"]

KEY = re.compile(r"[0-9a-f]{32}\.[a-z0-9]{1,8}")
"""A content hash (128 bits) and a suffix: nothing that could leave a folder."""


def blob_key(data: bytes, suffix: str) -> str:
    """Return 32 hex digits of the SHA-256 of ``data``, then ``suffix``.

    Raises `StorageError` for a suffix that is not a plain ``.name``.
    """
    key = hashlib.sha256(data).hexdigest()[:32] + suffix
    if not KEY.fullmatch(key):
        raise StorageError(f"suffix {suffix!r} is not a dot and 1 to 8 lower-case letters or digits")
    return key


def fits(key: str, data: bytes) -> bool:
    """Say whether ``data`` is what ``key`` was made from."""
    return key.startswith(hashlib.sha256(data).hexdigest()[:32])


def check_key(key: str, where: str) -> None:
    """Raise `Unknown` for a key that no store can have made."""
    if not KEY.fullmatch(key):
        raise Unknown(f"{key!r} is not the key of a stored original", where=where)


def check_text(texts: Iterable[str], where: str) -> None:
    """Raise `StorageError` for a text that UTF-8 cannot hold (a lone surrogate), before it is written."""
    try:
        for text in texts:
            text.encode()
    except UnicodeEncodeError as error:
        raise StorageError(f"cannot be stored as UTF-8: {error.reason}", where=where) from error


def location(url: str, scheme: str) -> str:
    """Return the path in ``scheme:///absolute/path`` as it is written there (no %-escapes).

    ``scheme:///~/path`` is below the home folder.
    """
    prefix = f"{scheme}://"
    path = url.removeprefix(prefix)
    path = os.path.expanduser(path[1:] if path.startswith("/~/") else path)
    if not url.startswith(prefix) or not path.startswith("/") or "\0" in path:
        raise StorageError(f"not a place to store things in; write {prefix}/absolute/path", where=repr(url))
    return os.path.normpath("/" + path.lstrip("/"))
