"""Anchors: the distinctive strings of a recorded answer, which tell what the answer had to know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any

from trimtab.conversation import Block

__all__ = ["LIMIT", "candidates", "leaves", "spoken"]

LIMIT = 80
"""Anchors taken from one answer, at most."""

LINE = 20
"""Characters of a line of old text that make it distinctive."""

# Possessive, and never begun inside a run: unbroken text of any length is looked at once.
_PATH = re.compile(r"(?<![\w.@+~-])(?:~?/?(?:[\w.@+-]++/)++[\w.@+-]++|~?/[\w.@+-]++)")
_IDENTIFIER = re.compile(r"(?<![\w$])[A-Za-z_$][A-Za-z0-9_$]*(?:\.[A-Za-z_$][A-Za-z0-9_$]*)*(?![\w$])")
_NUMBER = re.compile(r"(?<!\w)\d{4,}(?!\w)")
_QUOTED = re.compile(r"""(?<!\w)(?:"([^"\n]{6,120})"|'([^'\n]{6,120})'|`([^`\n]{6,120})`)(?!\w)""")
_OLD = re.compile(r"old_?(?:str|string|text)", re.IGNORECASE)


def leaves(value: Any) -> Iterator[str]:
    """All strings and whole numbers in JSON-able ``value``, keys left out, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from chain.from_iterable(map(leaves, value.values()))
    elif isinstance(value, list | tuple):
        yield from chain.from_iterable(map(leaves, value))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)


def spoken(block: Block) -> str:
    """What a block says, unescaped: the arguments of a call one per line, the text of any other block."""
    return "\n".join(leaves(block.input)) if block.type == "tool_use" else block.text


def candidates(answer: Sequence[Block]) -> Iterator[str]:
    """Every distinctive string of an answer once: the five kinds take turns, each in order of occurrence.

    Thinking is left out: newer models return it empty or encrypted, so recordings with and without it would
    not compare.
    """
    blocks = [block for block in answer if block.type != "thinking"]
    texts = [spoken(block) for block in blocks]
    bare = [_PATH.sub(" ", text) for text in texts]
    kinds: list[Iterator[str]] = [
        chain.from_iterable(_old_lines(block.input) for block in blocks if block.type == "tool_use"),
        chain.from_iterable(map(_paths, texts)),
        chain.from_iterable(map(_identifiers, bare)),
        chain.from_iterable(map(_quoted, texts)),
        chain.from_iterable(_NUMBER.findall(text) for text in bare),
    ]
    seen: set[str] = set()
    for found in chain.from_iterable(zip_longest(*kinds)):
        if found is not None and found not in seen:
            seen.add(found)
            yield found


def _paths(text: str) -> Iterator[str]:
    """Paths that cannot be prose: rooted, or with a dot, or of three parts and more (``and/or`` is none)."""
    for match in _PATH.finditer(text):
        path = match.group().rstrip(".-+@")
        if len(path) >= 6 and (path[0] in "/~." or "." in path or path.count("/") > 1):
            yield path


def _identifiers(text: str) -> Iterator[str]:
    for name in _IDENTIFIER.findall(text):
        if len(name) >= 6 and (re.search(r"[_.0-9]", name) or re.search(r"[A-Z]", name[1:])):
            yield name


def _quoted(text: str) -> Iterator[str]:
    for groups in _QUOTED.findall(text):
        words = "".join(groups).strip()
        if len(words) >= 6 and re.search(r"\w", words):
            yield words


def _old_lines(value: Any) -> Iterator[str]:
    """Whole lines, stripped, of every argument that holds the text an edit replaces."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, str) and _OLD.fullmatch(key):
                stripped = (line.strip() for line in item.splitlines())
                yield from (line for line in stripped if len(line) >= LINE and re.search(r"\w", line))
            else:
                yield from _old_lines(item)
    elif isinstance(value, list | tuple):
        yield from chain.from_iterable(map(_old_lines, value))
