"""Which reader a file is for: the formats known, asked in order, by content and never by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trimtab.errors import TranscriptError
from trimtab.transcripts import claude_code, messages
from trimtab.transcripts.records import Recording
from trimtab.transcripts.source import Source, load

__all__ = ["FORMATS", "Format", "read"]


@dataclass(frozen=True, slots=True)
class Format:
    """One format: ``sniff`` says whether a file is of it, ``read`` reads such a file."""

    name: str
    sniff: Callable[[Source], bool]
    read: Callable[[Source], Recording]


FORMATS = (
    Format(claude_code.NAME, claude_code.sniff, claude_code.read),
    Format(messages.NAME, messages.sniff, messages.read),
)
"""All formats; the first whose ``sniff`` agrees reads the file: the particular before the general."""


def read(path: str | Path | Source) -> Recording:
    """Read a recorded session; raises `TranscriptError` where no format fits: file, line, what the nearest misses.

    ``path``: a file, ``-`` for stdin, or what `load` made of one.
    """
    known = [format.name for format in FORMATS]
    source = path if isinstance(path, Source) else load(path, known)
    for format in FORMATS:
        if format.sniff(source):
            return format.read(source)
    line = source.objects[0][0] if source.objects else 1
    records = any("type" in found and "role" not in found for _, found in source.objects)
    fault = "no record holds a user's or an assistant's message" if records else messages.fault(source)
    what = f"JSON, but no recorded conversation that a reader knows: {fault}"
    raise TranscriptError(what, where=f"{source.path}:{line}", available=known, label="formats known")
