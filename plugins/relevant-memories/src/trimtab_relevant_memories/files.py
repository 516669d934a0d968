"""The memory files: which there are, what their headers say, and their texts; bounded, and none from outside."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from trimtab.texts import clean, first

__all__ = ["Memory", "cut", "read", "scan"]

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
SLACK = 4
"""Bytes read beyond a limit: a byte order mark, and one that tells that there is more."""
INDEX = "MEMORY.md"
"""A list of the others; no memory itself."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One file, by its header."""

    path: Path
    time: float
    """Epoch seconds when it was written."""
    name: str
    """As its header says, else the file's name."""
    description: str

    @property
    def spelled(self) -> str:
        """The path on one line."""
        return " ".join(clean(str(self.path)).split())


def scan(folder: Path, headers: dict[tuple[str, int, int], tuple[str, str]]) -> list[Memory]:
    """The memories in a folder and those below, the newest first; ``headers`` keeps what was read for the next time."""
    files = sorted(_files(str(folder)), key=lambda file: (-file[1].st_mtime_ns, file[0]))[:FILES]
    known = dict(headers)
    headers.clear()
    memories = []
    for path, status in files:
        key = (path, status.st_mtime_ns, status.st_size)
        headers[key] = known[key] if key in known else _header(Path(path))
        name, description = headers[key]
        memories.append(Memory(Path(path), status.st_mtime, name or Path(path).stem, description))
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


def _header(path: Path) -> tuple[str, str]:
    """Name and description; empty where the file does not say."""
    try:
        header = _split(_text(path, HEADER_BYTES))[0]
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


def _text(path: Path, most: int) -> str:
    """More of a text's start than ``most`` bytes; raises `OSError`, and `ValueError` for what is no UTF-8 text."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise ValueError("no regular file")
    with path.open("rb") as file:
        data = file.read(2 * most + SLACK)  # in the worst case every second byte is a carriage return
    text = codecs.getincrementaldecoder("utf-8-sig")().decode(data, final=len(data) < 2 * most + SLACK)
    if "\0" in text:
        raise ValueError("no text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read(memory: Memory, lines: int, most: int) -> str:
    """What a memory says below its header, cut; its description where that is all, empty where it cannot be read."""
    try:
        text = _split(_text(memory.path, most + HEADER_BYTES))[1].strip()
    except (OSError, ValueError):
        return ""
    said, cap = cut(text or memory.description, lines, most)
    return f"{said}\n[Cut here, at {cap}; the rest stands in the file.]" if cap else said


def cut(text: str, lines: int, most: int) -> tuple[str, str]:
    """The first ``lines`` lines of a text, of these whole ones up to ``most`` bytes; and the cap that it met, if any.

    A first line that is longer than all that ends inside, between whole characters.
    """
    rows, cap = text.split("\n"), ""
    if len(rows) > lines:
        text, cap = "\n".join(rows[:lines]), f"{lines:,} lines"
    data = text.encode()
    if len(data) > most:
        kept = data[: most + 1].decode(errors="ignore")
        newline = kept.rfind("\n")
        text = kept[:newline] if newline > 0 else first(text, len(data[:most].decode(errors="ignore")))
        cap = f"{most:,} bytes"
    return text.rstrip(), cap
