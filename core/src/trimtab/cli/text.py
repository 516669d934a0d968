"""Plain text, which survives a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["columns", "counted", "printable"]


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines with every column but the last padded to its longest cell."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))] if rows else []
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def counted(number: int, word: str) -> str:
    """``1 edit``, ``2 edits``, ``1,000 edits``."""
    return f"{number:,} {word}{'s' * (number != 1)}"


def printable(text: str) -> str:
    """One line without what could change a terminal: control characters become blanks."""
    return "".join(char if char.isprintable() else " " for char in text)
