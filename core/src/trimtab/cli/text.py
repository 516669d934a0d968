"""Plain aligned text, which survives a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["columns"]


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines with every column but the last padded to its longest cell."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))] if rows else []
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
