"""Text files that are shown to a model: read within bounds, never from outside a folder, and cut at whole lines."""

from __future__ import annotations

import codecs
import errno
import os
import stat
from pathlib import Path

from trimtab.texts.cutting import first

__all__ = ["cut", "file_text"]

KIND = ".md"
"""A file that a link leads to under another name must end in it: chosen, so that no link shows a file of secrets."""

SLACK = 4
"""Bytes read beyond a limit: a byte order mark, and one that tells that there is more."""

_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK


def file_text(path: Path, root: Path, most: int) -> str:
    """The text of a regular file below ``root``: all of it, or more of its start than ``most`` bytes.

    Without a byte order mark, and each line ends in a newline only. A link is followed where it stays below ``root``
    and leads to a file of the same name or to one that ends in ``.md``; no writer is waited for. Raises `OSError`,
    whose ``strerror`` says why, where the file cannot be read, and `ValueError` where it is no UTF-8 text.
    """
    real = os.path.realpath(path, strict=True)
    if not Path(real).is_relative_to(os.path.realpath(root)):
        raise OSError(errno.EACCES, "it leads out of the folder", str(path))
    if os.path.basename(real) != path.name and not real.endswith(KIND):
        raise OSError(errno.EACCES, f"it leads to a file that does not end in {KIND}", str(path))
    with open(real, "rb", opener=lambda real, flags: os.open(real, flags | _FLAGS)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "no regular file", str(path))
        if os.path.realpath(real) != real or not os.path.samestat(status, os.stat(real)):
            raise OSError(errno.EAGAIN, "it changed while it was opened", str(path))
        data = file.read(2 * most + SLACK)  # in the worst case every second byte is a carriage return
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(data, final=len(data) < 2 * most + SLACK)
    except UnicodeDecodeError:
        raise ValueError("no UTF-8 text") from None
    if "\0" in text:
        raise ValueError("no text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def cut(text: str, lines: int, most: int) -> tuple[str, str]:
    """The first ``lines`` lines of a file, of these whole ones up to ``most`` bytes; and the cap that it met, if any.

    A first line that is longer than all that ends inside, between whole characters. Where a cap was met, a last line
    says so; it is not counted.
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
    text = text.rstrip()
    return (f"{text}\n[Cut here, at {cap}; the rest stands in the file.]" if cap else text), cap
