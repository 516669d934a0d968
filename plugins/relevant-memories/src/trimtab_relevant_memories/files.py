"""The memory files: which there are, what their headers say, and their texts; bounded, and none from outside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from trimtab.texts import clean, cut, file_text, neutral

__all__ = ["TAG", "Memory", "read", "safe", "scan"]

TAG = "relevant-memory"

FILES = 200
"""Of the newest files, as many are looked at (the reference system's)."""
LOOKED = 5_000
"""Entries of folders that are looked at to find them: chosen."""
HEADER = 30
"""Lines in which a header must end (the reference system's), and"""
HEADER_BYTES = 4_096
"""bytes: chosen."""
BRACKETS = 50
"""A header that has more is not read: nested ones cost PyYAML a time that grows with their square."""
INDEX = "MEMORY.md"
"""A list of the others; no memory itself."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One file, by its header."""

    path: Path
    folder: Path
    """Of the profile: nothing from outside is read."""
    time: float
    """Epoch seconds when it was written."""
    name: str
    """As its header says, else the file's name."""
    description: str

    @property
    def place(self) -> str:
        """The path in the folder, with slashes."""
        return self.path.relative_to(self.folder).as_posix()

    @property
    def spelled(self) -> str:
        """The path on one line."""
        return safe(" ".join(clean(str(self.path)).split()))


def safe(text: str) -> str:
    """A text that cannot close the frame that it stands in, nor speak for the program that the model runs in."""
    return neutral(neutral(text, TAG), "system-reminder")


def scan(folder: Path, place: Path, headers: dict[tuple[str, int, int], tuple[str, str]]) -> list[Memory]:
    """The memories in a place in ``folder`` and those below, the newest first; none where a link leads out of it.

    ``headers`` keeps what was read for the next time.
    """
    if not Path(os.path.realpath(folder / place)).is_relative_to(os.path.realpath(folder)):
        return []
    files = sorted(_files(str(folder / place)), key=lambda file: (-file[1].st_mtime_ns, file[0]))[:FILES]
    known = dict(headers)
    headers.clear()
    memories = []
    for path, status in files:
        key = (path, status.st_mtime_ns, status.st_size)
        headers[key] = known[key] if key in known else _header(Path(path), folder)
        name, description = headers[key]
        memories.append(Memory(Path(path), folder, status.st_mtime, name or Path(path).stem, description))
    return memories


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Regular files with a memory's name, with no symbolic link on the way: what a link leads to is not ours."""
    folders, looked = [folder], 0
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    looked += 1
                    if looked > LOOKED:
                        return
                    if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                        folders.append(entry.path)
                    elif entry.name.endswith(".md") and entry.name != INDEX and entry.is_file(follow_symlinks=False):
                        yield entry.path, entry.stat(follow_symlinks=False)
        except OSError:
            continue


def _header(path: Path, folder: Path) -> tuple[str, str]:
    """Name and description; empty where the file does not say."""
    try:
        header = _split(file_text(path, folder, HEADER_BYTES))[0]
        said: Any = yaml.safe_load(header) if header.count("[") + header.count("{") <= BRACKETS else None
    except (OSError, RecursionError, ValueError, yaml.YAMLError):
        return "", ""
    fields = said if isinstance(said, dict) else {}
    values = (fields.get(key) for key in ("name", "description"))
    name, description = (" ".join(clean(value).split()) if isinstance(value, str) else "" for value in values)
    return name, description


def _split(text: str) -> tuple[str, str]:
    """The header of a text, without its dashes, and what follows; without a header all of it follows."""
    rows = text.split("\n")
    for n, row in enumerate(rows[1:HEADER], 1) if rows[0].rstrip() == "---" else ():
        if row.rstrip() == "---":
            return "\n".join(rows[1:n]), "\n".join(rows[n + 1 :])
    return "", text


def read(memory: Memory, lines: int, most: int) -> str:
    """What a memory says below its header, cut; its description where that is all, empty where it cannot be read."""
    try:
        text = _split(file_text(memory.path, memory.folder, most + HEADER_BYTES))[1].strip()
    except (OSError, ValueError):
        return ""
    return cut(text or memory.description, lines, most)[0]
