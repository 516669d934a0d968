"""Which names stand on which line of a text, as far as nothing else in the view shows them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from trimtab.texts.cutting import clip
from trimtab.texts.lines import Piece, pieces
from trimtab.texts.tokens import tokens, word

__all__ = ["names"]

HEAD = 600
"""Characters of the text's own start: for the person who reads along (measured: costs .003 of the bill)."""
HARDLY = 1.5
"""A whole line is printed instead of its names when it is at most this many times as long."""
REPORTS = (15, 5)
"""How many of the first and of the last lines that report a failure are printed whole, whatever they name."""

_REPORT = re.compile(
    r"\W*+(?:\S+(?::\d+:|\(\d+,\d+\):))?(?:\d+:)?\s*+(?:E\s++)?"
    r"(?:(?:[Ee]rror|ERROR|[Ff]atal|FATAL|panic|\w*(?:Error|Exception))(?:\[\w+\]| [A-Z]+\d+)?:"
    r"|Traceback |npm (?:ERR|error)|make(?:\[\d+\])?: \*\*\*|FAIL(?:ED|URE)?\b"
    r"|(?:Tests:\s+)?\d+ (?:errors?|failed|passed)\b)"
    r"|\s*\S*?[\w-]\.\w{1,10}:\d+:"
)


class Entry(NamedTuple):
    """What could be printed for one piece of a line; ``worth`` is new names per character."""

    worth: float
    order: int
    piece: Piece


def names(text: str, size: int, lines: int, shown: Callable[[str], int], head: int = HEAD) -> str:
    """A short start of ``text``, then names that only this text shows, by line; at most ``size`` characters.

    ``shown`` tells how many blocks of the view show a name; one shown by more than one is known and left out. The
    start is at most ``head`` characters and a quarter of ``size``.
    """
    start = clip(text, min(head, size // 4), lines)
    room, left = size - len(start), lines - start.count("\n") - 1
    taken: list[Entry] = []
    runs: set[int] = set()
    for entry in sorted(_entries(text, start, shown), key=lambda entry: (-entry.worth, entry.order)):
        run, place, number, kept = entry.piece
        heading = run not in runs and place != ""
        need = len(number) + len(kept) + 3 + heading * (len(place) + 1)
        if need <= room and left > heading:
            taken.append(entry)
            runs.add(run)
            room -= need
            left -= 1 + heading
    printed = _print(sorted(taken, key=lambda entry: entry.order))
    return "\n".join([start, *printed] if start else printed)


def _entries(text: str, head: str, shown: Callable[[str], int]) -> Iterator[Entry]:
    seen = set(tokens(head))
    found = list(pieces(text))
    reports = [order for order, piece in enumerate(found) if not piece.place and _REPORT.match(piece.text)]
    kept = {*reports[: REPORTS[0]], *reports[-REPORTS[1] :]}
    for order, piece in enumerate(found):
        new = []
        for token in (piece.place, *tokens(piece.text)) if piece.place else tokens(piece.text):
            if token not in seen:
                seen.add(token)
                if shown(word(token)) <= 1:
                    new.append(token)
        if order in kept and piece.text not in head:
            yield Entry(math.inf, order, piece)
        elif new:
            line, listed = piece.text.rstrip(), " ".join(token for token in new if token is not piece.place)
            if listed and len(line.lstrip()) > HARDLY * len(listed):
                line = listed
            worth = len(new) / (len(piece.number) + len(line.lstrip()) + 2)
            yield Entry(worth, order, piece._replace(text=line))


def _print(taken: list[Entry]) -> Iterator[str]:
    """One line per source line; a place stands once, above its lines, as ``rg --heading`` prints it."""
    above, number, parts = "", "", list[str]()
    for _, _, piece in taken:
        if parts and (piece.place, piece.number) != (above, number):
            yield _line(number, parts)
            parts = []
        if piece.place and piece.place != above:
            yield piece.place
        above, number = piece.place, piece.number
        parts.append(piece.text)
    if parts:
        yield _line(number, parts)


def _line(number: str, parts: list[str]) -> str:
    return f"{number}: {' … '.join(parts)}" if number else " … ".join(parts)
