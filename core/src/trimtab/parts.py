"""Dialects, stores, token counters and price tables, looked up by name and imported only when used."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from trimtab.errors import Unknown

__all__ = ["available", "part"]

GROUP = "trimtab.parts"


@cache
def _points() -> dict[str, EntryPoint]:
    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda p: (p.name, p.value))}


def available(kind: str) -> list[str]:
    """Names of all installed parts of ``kind`` (``dialect``, ``ledger``, ``blobs``, ``counter``, ``models``)."""
    return [name.partition(".")[2] for name in _points() if name.startswith(kind + ".")]


@cache
def part(kind: str, name: str) -> Any:
    """The object registered as ``kind.name`` in entry-point group ``trimtab.parts``; raises `Unknown`."""
    point = _points().get(f"{kind}.{name}")
    if point is None:
        raise Unknown(f"no {kind} named {name!r}", given=name, available=available(kind), label="installed")
    return point.load()
