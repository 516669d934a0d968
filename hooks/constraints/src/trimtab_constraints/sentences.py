"""Cutting prose into sentences, English and Chinese: by punctuation, lines and list items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["LONG", "Sentence", "listed", "plain", "sentences"]

LONG = 400
"""Characters; a longer sentence is cut at semicolons and commas. Chosen."""

_END = re.compile(r"(?:(?<=[.!?])[\"'”’)\]*_]*(?=\s|$)|[。！？；][”’」』）]*|(?<=[.!?])(?=[\u4e00-\u9fff]))\s*")
_SHORT = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|mr|mrs|ms|dr|st|no|approx|a\.m|p\.m|u\.s)|^\W*\d{1,3}|\b[A-Z])\.$", re.I)
_COMMA = re.compile(r"(?<=[;,，；])\s*")
_ITEM = re.compile(r"[ \t]*(?:[-*•·]|\(?\d{1,3}[.)、]|\(?[a-zA-Z][.)])[ \t]*(?=\S)")
_HEAD = re.compile(
    r"""[ \t]*(?:\#+[ \t]*)?[*_]{0,3}(?:[\w'’-]+[ ]){0,3}
    (?:rules|constraints|conventions|guidelines|policies|standing[ ]instructions|restrictions|do'?s[ ]and[ ]don'?ts
    |规则|约束|约束条件|规范|守则|规矩|限制|注意事项|长期要求)
    (?:[ ](?:for|of|to)[ ][\w' ]{1,40})?[*_]*[ \t]*[:：][*_]*[ \t]*$""",
    re.VERBOSE | re.IGNORECASE,
)
_OPEN_END = re.compile(r"[^.!?:;。！？：；\s]\s*$")
_FOLDS = str.maketrans("‘’“”\xa0\u3000", "''\"\"  ")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A piece of a text: ``text[start:end]``."""

    start: int
    end: int
    ruled: bool = False
    """Whether it is a list item under a heading such as "Rules:"; then it is the whole item."""


def plain(said: str) -> str:
    """For matching: one line, straight quotes, no emphasis marks."""
    return " ".join(re.sub(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)", "", said.translate(_FOLDS)).split())


def sentences(text: str) -> Iterator[Sentence]:
    """All sentences in order; those of a labelled line stay separate, wrapped lines are one."""
    ruled = False
    for start, end in _units(text):
        line = text[start:end]
        item = _ITEM.match(line)
        if _HEAD.match(line):
            ruled = True
            continue
        ruled = ruled and item is not None
        start += item.end() if item else 0
        if ruled and end - start <= LONG:
            yield Sentence(*_trim(text, start, end), ruled=True)
            continue
        for piece in _cut(text, start, end):
            yield Sentence(*piece)


def listed(text: str, start: int) -> int:
    """Where the list ends that follows a sentence which ends with a colon: after at most `LONG` characters."""
    end = at = start
    for line in text[start : start + LONG].splitlines(keepends=True):
        if line.strip() and not _ITEM.match(line):
            break
        at += len(line)
        end = at - len(line) + len(line.rstrip()) if line.strip() else end
    return end


def _units(text: str) -> Iterator[tuple[int, int]]:
    """Lines that are not blank; one that goes on in the next, in lower case, together with it."""
    start, at = -1, 0
    for line in text.splitlines(keepends=True):
        if start >= 0:
            before = text[start:at]
            goes_on = line[:1].islower() and len(before.splitlines()[-1]) >= 50 and _OPEN_END.search(before)
            if not goes_on or _ITEM.match(line) or at - start > 4 * LONG:
                yield start, at
                start = -1
        if start < 0 and line.strip():
            start = at
        at += len(line)
    if start >= 0:
        yield start, at


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A unit's sentences; what is too long for one by semicolons and commas."""
    at = start
    for found in _END.finditer(text, start, end):
        if found.end() <= at or _SHORT.search(text[max(at, found.start() - 12) : found.start()]):
            continue
        yield from _short(text, at, found.end())
        at = found.end()
    yield from _short(text, at, end)


def _short(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    start, end = _trim(text, start, end)
    if end - start <= LONG:
        if start < end:
            yield start, end
        return
    at = start
    for found in _COMMA.finditer(text, start, end):
        if at < found.end() < end:
            yield _trim(text, at, found.end())
            at = found.end()
    yield _trim(text, at, end)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    said = text[start:end]
    return start + len(said) - len(said.lstrip()), start + len(said.rstrip())
