"""From a file to JSON: one document, or one object after another with the line each begins on."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.errors import TranscriptError

__all__ = ["Source", "load"]

FEW = 3
SHARE = 0.1
"""Bad lines that a file may have and still be read: three, or one in ten, if more than that are good."""
_DECODER = json.JSONDecoder()
_BLANK = " \t\r\n"


@dataclass(slots=True)
class Source:
    """The decoded content of one file."""

    path: str
    document: Any
    """The one JSON value that the file is; None for JSON Lines of several values."""
    objects: list[tuple[int, dict[str, Any]]]
    """The objects of a JSON Lines file in file order, each with its line number from 1."""
    skipped: Counter[str]
    """What could not be decoded, in words."""


def load(path: str | Path, known: Iterable[str]) -> Source:
    """Decode ``path`` (``-``: stdin); raises `TranscriptError`, naming the formats ``known``, for too little JSON."""
    read = Path(path).read_bytes
    if str(path) == "-":
        path, read = "stdin", sys.stdin.buffer.read
    try:
        data = read().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise TranscriptError(f"cannot be read: {error.strerror}", where=str(path)) from error
    if not data.strip():
        raise TranscriptError("the file is empty", where=f"{path}:1", available=known, label="formats known")
    problem = "no JSON object"
    line = 1
    try:
        document, alone = _whole(data)
        if alone:
            objects = [(1, document)] if isinstance(document, dict) else []
            return Source(str(path), document, objects, Counter())
    except json.JSONDecodeError as error:
        line, problem = error.lineno, f"not JSON: {error.msg}"
    except (RecursionError, ValueError) as error:
        problem = f"not JSON: {error}"
    skipped: Counter[str] = Counter()
    bad: list[tuple[int, str]] = []
    lines = data.split(b"\n")
    objects = list(_objects(lines, skipped, bad))
    if len(bad) > min(len(objects), max(FEW, SHARE * len(lines))) or not objects:
        if bad and bad[0][0] > line:
            line, problem = bad[0]
        raise TranscriptError(problem, where=f"{path}:{line}", available=known, label="formats known")
    return Source(str(path), None, objects, skipped)


def _whole(data: bytes) -> tuple[Any, bool]:
    """Decode the first JSON value, and say whether it is all there is."""
    text = data.decode()
    start = len(text) - len(text.lstrip(_BLANK))
    value, end = _DECODER.raw_decode(text, start)
    return value, not text[end:].strip(_BLANK)


def _objects(
    lines: list[bytes], skipped: Counter[str], bad: list[tuple[int, str]]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Decode object by object: a torn line holds a second one behind the first."""
    for number, line in enumerate(lines, 1):
        at = count = 0
        try:
            text = line.decode().strip(_BLANK)
            while at < len(text):
                value, at = _DECODER.raw_decode(text, at)
                while at < len(text) and text[at] in _BLANK:
                    at += 1
                if not isinstance(value, dict):
                    raise ValueError("not an object")
                count += 1
                yield number, value
        except (RecursionError, ValueError) as error:
            bad.append((number, f"not JSON: {getattr(error, 'msg', error)}"))
            # a finished file ends in a newline, so that its last line is blank
            skipped["truncated last line" if number == len(lines) else "undecodable lines"] += 1
        if count > 1:
            skipped["torn lines"] += 1
