"""Which stored text an id names, and a part of a text with what is left of it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from trimtab import ToolError
from trimtab.errors import Unknown
from trimtab.texts import clip, first, flat

if TYPE_CHECKING:
    from trimtab.view import View

__all__ = ["find", "part"]

NAME = re.compile(r"[0-9a-f]{32}(?:\.txt)?$")
"""How the path of a stored text ends (32 hex digits of its hash), or what of it a model may write."""

SHOWN = re.compile(r"[0-9a-f]{32}\.txt")
"""The file name in a placeholder."""

FEW = 5
"""Stored texts that an error names: chosen."""

ID = 200
"""Characters of an id that an error repeats: chosen."""


def find(view: View, id: object) -> str:
    """The stored text that an id names: its path as a placeholder shows it, the file name, or just the 32 hex digits.

    Raises `ToolError`, which names the nearest and the newest that the view shows.
    """
    if not isinstance(id, str) or not id.strip():
        raise ToolError("id must be a path that your context shows, or its file name")
    found = NAME.search(id.strip())
    name = f"{found[0].removesuffix('.txt')}.txt" if found else id.strip().rpartition("/")[2]
    text = _text(view, name)
    if text is not None:
        return text
    known = list(dict.fromkeys(_names(view)))
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    there = (other for other in dict.fromkeys([*nearest, *known]) if _text(view, other) is not None)
    what = f"this session has stored nothing under {flat(id, ID)!r}"
    raise ToolError(what, given=name, available=islice(there, FEW), label="some that it has")


def part(text: str, offset: int, limit: int) -> str:
    """At most ``limit`` characters from ``offset`` on, in whole characters, and a line that says what is left.

    It ends with a whole line where one ends in its second half. Raises `ToolError` for an offset behind the end.
    """
    start = len(first(text, offset))
    rest = text[start:]
    if not rest:
        raise ToolError(f"the text ends at {len(text):,} characters; give a smaller offset than {offset:,}")
    while not (shown := clip(rest, limit, limit + 1)):
        limit *= 2  # a character that is longer comes whole, or nobody gets past it
    end = start + len(shown)
    end += text.startswith("\n", end)  # the line that follows says where one line ends
    if end == len(text):
        return f"{shown}\n[Characters {start:,} to {end:,}: this is the end.]"
    left = text[end:]
    more = f"{len(left):,} more in {left.count(chr(10)) + 1:,} lines; go on with offset {end}"
    return f"{shown}\n[Characters {start:,} to {end:,} of {len(text):,}: {more}.]"


def _text(view: View, name: str) -> str | None:
    try:
        return view.original(name)
    except Unknown:  # it was deleted from the store
        return None


def _names(view: View) -> Iterator[str]:
    """The names in what the view shows instead of what was said, the newest first."""
    faces = view.projection.state.faces
    for item in reversed(view.messages):
        texts = [item.text]
        if item.message is not None:
            texts = [faces[block.id].text or "" for block in item.message.blocks if block.id in faces]
        for text in reversed(texts):
            yield from reversed(SHOWN.findall(text))
