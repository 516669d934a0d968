"""Which reader a file is for: the formats known, asked in order, by content and never by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from trimtab.errors import TranscriptError, told
from trimtab.transcripts import (
    claude_code,
    codex,
    gemini_cli,
    messages,
    mini_swe_agent,
    openai_messages,
    openhands,
    pi,
    recorded,
    swe_agent,
)
from trimtab.transcripts.records import Recording
from trimtab.transcripts.source import Source, load

__all__ = ["FORMATS", "Format", "read"]


@dataclass(frozen=True, slots=True)
class Format:
    """One format: ``sniff`` says whether a file is of it, ``read`` reads such a file."""

    name: str
    sniff: Callable[[Source], bool]
    read: Callable[[Source], Recording]


_PARTICULAR = (recorded, claude_code, codex, pi, gemini_cli, mini_swe_agent, swe_agent, openhands)
_READERS = (*_PARTICULAR, messages, openai_messages)
FORMATS = tuple(Format(reader.NAME, reader.sniff, reader.read) for reader in _READERS)
"""All formats; the first whose ``sniff`` agrees reads the file: the particular before the general."""


def read(path: str | Path | Source) -> Recording:
    """Read a recorded session; raises `TranscriptError` where no format fits: file, line, what the nearest misses.

    ``path``: a file, ``-`` for stdin, or what `load` made of one.
    """
    known = [format.name for format in FORMATS]
    source = path if isinstance(path, Source) else load(path, known)
    line = source.objects[0][0] if source.objects else 1
    format = next((format for format in FORMATS if _sniffed(format, source)), None)
    if format is None:
        what = f"JSON, but no recorded conversation that a reader knows: {_fault(source)}"
    else:
        with _damaged(format, source):
            recording = format.read(source)
        if recording.records:
            return recording
        what = f"a recording of the format {format.name}, but it holds no messages"
    raise TranscriptError(what, where=f"{source.path}:{line}", available=known, label="formats known")


def _sniffed(format: Format, source: Source) -> bool:
    with _damaged(format, source):
        return format.sniff(source)


@contextmanager
def _damaged(format: Format, source: Source) -> Iterator[None]:
    """Whatever a reader stumbles over is the file's fault, and no reason to leave the next file unread."""
    try:
        yield
    except TranscriptError:
        raise
    except Exception as error:
        raise TranscriptError(f"damaged: no {format.name} reads it: {told(error)}", where=source.path) from error


def _fault(source: Source) -> str:
    """What the nearest format misses: of the two kinds of list, the one that more of the file fits."""
    if any("type" in found and "role" not in found for _, found in source.objects):
        return "no record holds a user's or an assistant's message"
    faults = openai_messages.fault(source), messages.fault(source)
    return max(faults, key=lambda fault: fault[0])[1]
