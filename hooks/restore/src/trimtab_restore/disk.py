"""Reads a file from disk where that is safe: a regular text file below a root, reached by no way out of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

__all__ = ["DENIED", "read"]

DENIED = (
    *(".env", ".env.*", ".envrc", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "id_rsa*", "id_dsa*", "id_ecdsa*"),
    *("id_ed25519*", "credentials", "credentials.*", "secrets.*", "*.tfstate"),
    *(".git/**", ".ssh/**", ".aws/**", ".gnupg/**", ".kube/**", ".docker/**"),
)
"""Globs that are always denied: chosen, the usual places of keys and passwords."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read(path: str, folder: Path, roots: Sequence[str], deny: Iterable[str], most: int) -> tuple[bool, str | None]:
    """Whether a file may be read and is there; and its text, unless it has over ``most`` bytes or is no UTF-8 text.

    Relative paths are seen from ``folder``, which is also the root where none is named.
    """
    try:
        real = Path(os.path.realpath(folder / path))
        bases = [Path(os.path.realpath(folder / Path(root).expanduser())) for root in roots or (".",)]
        inside = [real.relative_to(base) for base in bases if real.is_relative_to(base)]
        if not inside or any(_denied(name, (*DENIED, *deny)) for name in (Path(path), *inside)):
            return False, None
        return _text(real, most)
    except (OSError, ValueError):  # it is not there, or its name is none
        return False, None


def _denied(path: Path, deny: Sequence[str]) -> bool:
    """Whether a glob fits the path, or the end of it from any folder on; in any case of letters."""
    parts = [part.lower() for part in path.parts]
    return any(fnmatchcase("/".join(parts[at:]), glob.lower()) for at in range(len(parts)) for glob in deny)


def _text(real: Path, most: int) -> tuple[bool, str | None]:
    """Raises `OSError` where ``real`` is or became a link; never waits for a writer."""
    handle = os.open(real, _FLAGS)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or os.path.realpath(real) != str(real):
            return False, None
        if not os.path.samestat(status, os.stat(real)):
            return False, None
        data = file.read(most + 1) if status.st_size <= most else b"\0"
    if len(data) > most or b"\0" in data:
        return True, None
    try:
        return True, data.decode()
    except UnicodeDecodeError:
        return True, None
