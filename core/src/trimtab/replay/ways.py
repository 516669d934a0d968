"""Ways back to what a request no longer shows: stored originals, really opened, and calls to repeat."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trimtab.conversation import Block
from trimtab.errors import TrimtabError
from trimtab.replay.reader import Part, Reader, Reading
from trimtab.replay.texts import holds
from trimtab.stores import BlobStore

__all__ = ["OPENABLE", "Classify", "Place", "Ways", "unchanged_reads"]

OPENABLE = 10_000
"""Calibrated tokens: a stored original above this does not come back in one call."""

Classify = Callable[[Block], tuple[str, str | None]]
"""The tool class of a call, and the path that it names."""

_REFERENCE = re.compile(r"[^\s\"'`<>()\[\]{},;]*[/:][^\s\"'`<>()\[\]{},;]+")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was said: the message's position, the part of it."""

    message: int
    part: Part


class Ways:
    """Opens the references that shown texts hold; ``weigh`` gives calibrated tokens of a text."""

    def __init__(self, reader: Reader, blobs: BlobStore, weigh: Callable[[str], float]) -> None:
        self._reader = reader
        self._blobs = blobs
        self._weigh = weigh
        self._opened: dict[str, str | None] = {}
        self._references: dict[int, list[str]] = {}

    def lead(self, shown: int, anchor: str) -> bool:
        """Whether a reference in shown text number ``shown`` opens to an original that holds ``anchor``."""
        if shown not in self._references:
            found = _REFERENCE.findall(self._reader.texts[shown])
            keys = (self._blobs.owns(path.rstrip(".:")) for path in found)
            self._references[shown] = [key for key in keys if key is not None]
        originals = (self._open(key) for key in self._references[shown])
        return any(text is not None and holds(text, anchor) for text in originals)

    def _open(self, key: str) -> str | None:
        """The original, or None where it cannot be read or is more than one call brings back."""
        if key not in self._opened:
            try:
                text = self._blobs.get(key).decode("utf-8")
            except (TrimtabError, UnicodeDecodeError):
                self._opened[key] = None
            else:
                self._opened[key] = text if self._weigh(text) <= OPENABLE else None
        return self._opened[key]


def unchanged_reads(said: Sequence[Reading], classify: Classify) -> set[str]:
    """The ids of the calls that read one file and would give the same again.

    A later edit of the path that did not fail changes it, and so does a later shell command that holds the file's
    name.
    """
    failed = {part.block.call for reading in said for part in reading.parts if part.block.error}
    reads: dict[str, str] = {}
    for block in (part.block for reading in said for part in reading.parts if part.block.type == "tool_use"):
        kind, path = classify(block)
        if kind in ("read", "ranged_read") and path:
            reads[block.call] = path
        elif kind == "edit" and path and block.call not in failed:
            reads = {call: other for call, other in reads.items() if other != path}
        elif kind == "shell":
            reads = {call: other for call, other in reads.items() if _file(other) not in block.text}
    return set(reads)


def _file(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
