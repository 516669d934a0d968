"""How something is worded when it comes back: as a record, in a frame that nothing in it can close."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trimtab.texts import clean, first, flat, neutral

if TYPE_CHECKING:
    from trimtab.view import View

__all__ = ["framed", "headed", "safe"]

TAG = "put-back"
NAME = 300
"""Characters of a path that are repeated."""


def framed(title: str, text: str) -> str:
    """A text under a title that says what it is."""
    return f"{safe(title)}\n<{TAG}>\n{_neutral(text.strip(chr(10)))}\n</{TAG}>"


def safe(line: str) -> str:
    """One line without tags of ours."""
    return _neutral(flat(line, 2 * NAME))


def headed(view: View, text: str, tokens: float, path: str) -> str:
    """``text`` if it has at most so many ``tokens``, else its beginning and where all of it is."""
    size, left = len(text), len(text)
    while left and (left > 8 * tokens or view.count(text[:left]) > tokens):
        left = min(int(left * 0.8), int(8 * tokens))
    if left == size:
        return text
    head = first(text, left)
    return f"{head}\n[cut here: {size - len(head):,} more characters; all of it: {flat(path, NAME)}]"


def _neutral(text: str) -> str:
    for tag in (TAG, "summary", "system-reminder"):
        text = neutral(text, tag)
    return clean(text)
