"""What counts as a name in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

__all__ = ["tokens", "word"]

LONGEST = 120
"""Characters: longer tokens are keys and encoded data, not names."""

_RUN = re.compile(
    r"(?:https?:|[A-Za-z]:(?=\\)|~(?=/))[\w./\\-]+"  # addresses, paths with a drive letter or a tilde
    r"|\\[bfnrt0]"  # escapes in string literals, lest they become the first letter of a word
    r"|[\w./\u0300-\u036f-]{4,}"  # with combining marks: not cut from their letters, and never a name
)
_LETTERS = re.compile(r"[\w./\\:~-]+")
_TELLING = re.compile(r"[_./\d]|[a-z][A-Z]")
_DECIMAL = re.compile(r"\d+\.\d+")


def tokens(text: str) -> Iterator[str]:
    """The names in ``text``: paths, and words of ≥4 characters with ``_``, ``.``, a digit, an inner capital.

    Figures (``0.4613``, ``12ms``, ``23-44``) are not names; numbers of ≥4 digits, dates and hashes are.
    """
    for run in _RUN.findall(text):
        name = _name(run)
        if name:
            yield name


def word(name: str) -> str:
    """The part of a name that the view counts: without scheme, drive letter and tilde."""
    return name.partition(":")[2] or name.removeprefix("~")


@lru_cache(maxsize=50_000)
def _name(run: str) -> str:
    """The name in a run of characters; empty where it holds none."""
    if len(run) > LONGEST or not _LETTERS.fullmatch(run):
        return ""
    name = run.rstrip("./\\-").removeprefix("...")
    if len(name) < 4 or not _TELLING.search(name):
        return ""
    digits, letters = sum(map(str.isdigit, name)), sum(map(str.isalpha, name))
    if letters < 2:
        return name if name.isdigit() or (digits >= 6 and not _DECIMAL.fullmatch(name)) else ""
    return name if digits >= 4 or len(name) >= 7 or not name[0].isdigit() else ""
