"""The lines of a text, with the files and numbers that a reader would give them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from trimtab.texts.cutting import first

__all__ = ["Piece", "last_number", "numbers_own", "pieces"]

PIECE = 240
"""Characters: longer lines (minified code, JSON) are judged piece by piece."""
SAMPLE = 60
"""Lines looked at to find out whether a text numbers its own lines."""

_FOUND = re.compile(r"(\S*?[\w-]\.\w{1,10})([:-])(\d{1,9})\2")
_NUMBERED = re.compile(r"\s*(\d{1,9})(?:→|\t|[:-])")
_GAP = re.compile(r"[\s,;]")
_BORDER = re.compile(r"[\s,;](?=[^\s,;]*$)")


class Piece(NamedTuple):
    """A line, or a part of a very long one."""

    run: int
    """Counts the runs of lines from one place."""
    place: str
    """The file in which a search found the line; empty elsewhere."""
    number: str
    text: str


def pieces(text: str) -> Iterator[Piece]:
    """The lines of ``text`` that are not blank, in order, numbered as they number themselves, else from 1."""
    lines = text.split("\n")
    itself, found = _numbers_itself(lines), _mostly(_FOUND, lines)
    run, above = 0, ""
    for count, line in enumerate(lines, 1):
        if not line or line.isspace():
            continue
        place, number = "", str(count)
        if itself and (match := _NUMBERED.match(line)):
            number, line = match[1], line[match.end() :]
        elif found:
            match = _FOUND.match(line)
            place, number, line = (match[1], match[3], line[match.end() :]) if match else ("", "", line)
        run += place != above
        above = place
        for part in _parts(line):
            yield Piece(run, place, number, part)


def numbers_own(text: str) -> bool:
    """Whether `pieces` takes the line numbers from the text: a file as read, or what a search found."""
    lines = text.split("\n")
    return _numbers_itself(lines) or _mostly(_FOUND, lines)


def last_number(text: str) -> int | None:
    """The number of the last line of a text that numbers its lines itself, else None."""
    lines = text.split("\n")
    if not _numbers_itself(lines):
        return None
    return next(int(match[1]) for line in reversed(lines) if (match := _NUMBERED.match(line)))


def _numbers_itself(lines: Sequence[str]) -> bool:
    """Whether most lines start with a number and these only rise: a file as read, or a search in one file."""
    numbers = [int(match[1]) for line in lines[:SAMPLE] if (match := _NUMBERED.match(line))]
    return _mostly(_NUMBERED, lines) and all(a < b for a, b in pairwise(numbers))


def _mostly(pattern: re.Pattern[str], lines: Sequence[str]) -> bool:
    sample = [line for line in lines[:SAMPLE] if line.strip()]
    fits = sum(1 for line in sample if pattern.match(line))
    return fits > 1 and 2 * fits > len(sample)


def _parts(line: str) -> Iterator[str]:
    """``line`` whole, or cut at word borders if very long; a stretch without borders is data, left out."""
    start = 0
    while len(line) - start > PIECE:
        border = _BORDER.search(line[start : start + PIECE])
        if border is None:
            after = _GAP.search(line, start + PIECE)
            start = after.end() if after else len(line)
            continue
        end = start + len(first(line[start : start + PIECE], border.end()))
        yield line[start:end]
        start = max(end, start + 1)
    if start < len(line):
        yield line[start:]
