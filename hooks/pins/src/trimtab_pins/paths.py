"""Whether two ways to write a path mean one file, where nobody knows the working directory."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

__all__ = ["Parts", "named", "parts"]

Parts = Sequence[str]


def parts(path: str) -> Parts:
    """The names in a path; of an absolute one the first is empty or a drive."""
    return posixpath.normpath(re.sub(r"[/\\]+", "/", path)).split("/")


def named(pattern: Parts, path: Parts) -> bool:
    """Whether a pattern names a path; where only one is absolute, the other need only be its end.

    ``*``, ``?`` and ``[…]`` stand for characters in one name, ``**`` for any number of folders.
    """
    if _absolute(pattern) == _absolute(path):
        return _fits(pattern, path)
    if _absolute(path):
        return _fits(["**", *pattern], path)
    return any(_fits(pattern[start:], path) for start in range(1, len(pattern)))


def _absolute(path: Parts) -> bool:
    return path[0] == "" or path[0].endswith(":")


def _fits(pattern: Parts, path: Parts) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_fits(pattern[1:], path[start:]) for start in range(len(path) + 1))
    first = bool(path) and (path[0] == pattern[0] or fnmatchcase(path[0], pattern[0]))
    return first and _fits(pattern[1:], path[1:])
