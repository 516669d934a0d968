"""Which files there are, and what they say: bounded, as text, and nothing from outside the project."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from trimtab.texts import first

__all__ = ["Unread", "cut", "found", "read", "root_of"]

SLACK = 4
"""Bytes read beyond the limit: a byte order mark, and one that tells that there is more."""


class Unread(Exception):  # noqa: N818 - an outcome that is told, not an error
    """A file is there and is not read; the text says why."""


def root_of(folder: Path) -> Path:
    """The repository that a folder lies in; the folder itself where it lies in none."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)


def found(folder: Path, root: Path, names: Iterable[str]) -> list[Path]:
    """The files with these names in ``root`` and in each folder down to ``folder``, the nearest last."""
    above = [place for place in (folder, *folder.parents) if place.is_relative_to(root)]
    paths = (place / name for place in reversed(above) for name in names)
    return [path for path in paths if os.path.lexists(path)]


def read(path: Path, root: Path, most: int) -> str:
    """The text of a file, without blanks around it: all of it, or more of its start than ``most`` bytes.

    Raises `Unread` for what is no regular file, lies outside ``root``, is no UTF-8 text, or cannot be read.
    """
    try:
        real = Path(os.path.realpath(path, strict=True))
        if not real.is_relative_to(root):
            raise Unread("a symbolic link that leads out of the project")
        if not stat.S_ISREG(real.stat().st_mode):
            raise Unread("no regular file")
        with real.open("rb") as file:
            data = file.read(2 * most + SLACK)  # in the worst case every second byte is a carriage return
    except OSError as error:
        raise Unread(error.strerror or type(error).__name__) from None
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(data, final=len(data) < 2 * most + SLACK)
    except UnicodeDecodeError:
        raise Unread("no UTF-8 text") from None
    if "\0" in text:
        raise Unread("no text")
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


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
