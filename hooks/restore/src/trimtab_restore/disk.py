"""Reads a file from disk where that is safe: a regular text file below a root, reached by no way out of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from trimtab import ProfileError
from trimtab.texts import file_text

__all__ = ["DENIED", "check", "read"]

DENIED = (
    *(".env", ".env.*", ".envrc", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "id_rsa*", "id_dsa*", "id_ecdsa*"),
    *("id_ed25519*", "credentials", "credentials.*", "secrets.*", "*.tfstate"),
    *(".git/**", ".ssh/**", ".aws/**", ".gnupg/**", ".kube/**", ".docker/**"),
)
"""Globs that are always denied: chosen, the usual places of keys and passwords."""


def check(folder: Path, roots: Iterable[str]) -> None:
    """Raise `ProfileError` for the first root that is no folder."""
    for root in roots:
        path = Path(os.path.abspath(folder / os.path.expanduser(root)))
        if not path.is_dir():
            there = [other.name for other in path.parent.glob("*") if other.is_dir()]
            what = f"no folder {root} (seen from {folder})"
            raise ProfileError(what, where="roots", given=path.name, available=there, label="there")


def read(path: str, folder: Path, roots: Sequence[str], deny: Iterable[str], most: int) -> tuple[bool, str | None]:
    """Whether a file may be read and is there; and its text, unless it has over ``most`` bytes or is no UTF-8 text.

    Relative paths are seen from ``folder``, which is also the root where none is named.
    """
    try:
        real = Path(os.path.realpath(folder / path))
        bases = [Path(os.path.realpath(folder / Path(root).expanduser())) for root in roots or (".",)]
    except (OSError, RuntimeError, ValueError):  # the name is none, or nobody's home
        return False, None
    bases = [base for base in bases if real.is_relative_to(base)]
    names = (Path(path), *(real.relative_to(base) for base in bases))
    if not bases or any(_denied(name, (*DENIED, *deny)) for name in names):
        return False, None
    try:
        text = file_text(real, bases[0], most)
    except OSError:
        return False, None
    except ValueError:
        return True, None
    return True, text if len(text.encode()) <= most else None


def _denied(path: Path, deny: Sequence[str]) -> bool:
    """Whether a glob fits the path, or the end of it from any folder on; in any case of letters."""
    parts = [part.lower() for part in path.parts]
    return any(fnmatchcase("/".join(parts[at:]), glob.lower()) for at in range(len(parts)) for glob in deny)
