"""Whether a result is a stored original read back: storing that again would keep it out of sight for good."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trimtab.view import Result

__all__ = ["source"]

TOOL = "read_result"
"""The stage ``read-result`` offers it, for nothing else than to read what was stored."""

READERS = ("ranged_read", "read", "search", "shell")
_QUOTED = re.compile(r"\"([^\"]+)\"|'([^']+)'")
_WORD = re.compile(r"(?:\\.|[^\s\"'`<>|;&()=,])+")
_ESCAPE = re.compile(r"\\(.)")


def source(result: Result, stored: Callable[[str], bool]) -> str | None:
    """What of the stored the call of ``result`` reads: by its path argument, anywhere in a command, or by an id."""
    if result.tool == TOOL:
        return str(result.input.get("id", ""))
    if result.path and stored(result.path):
        return result.path
    if result.tool_class not in READERS:
        return None
    return next((path for text in _texts(result.input) for path in _paths(text) if stored(path)), None)


def _texts(value: Any) -> Iterator[str]:
    """All strings in a call's arguments."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _paths(text: str) -> Iterator[str]:
    """What may be a path in an argument or a command line: all of it, quoted parts, words."""
    yield text
    for match in _QUOTED.finditer(text):
        yield match[1] or match[2]
    for word in _WORD.findall(text):
        if "/" in word or "\\" in word or ":" in word:
            yield word
            yield _ESCAPE.sub(r"\1", word)
