"""Which files there are."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

__all__ = ["found", "root_of"]


def root_of(folder: Path) -> Path:
    """The repository that a folder lies in; the folder itself in none, and in one that holds all the user has."""
    root = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)
    return folder if Path(os.path.realpath(os.path.expanduser("~"))).is_relative_to(root) else root


def found(folder: Path, root: Path, names: Iterable[str]) -> list[Path]:
    """The files with these names in ``root`` and in each folder down to ``folder``, the nearest last."""
    above = [place for place in (folder, *folder.parents) if place.is_relative_to(root)]
    paths = (place / name for place in reversed(above) for name in names)
    return [path for path in paths if os.path.lexists(path)]
