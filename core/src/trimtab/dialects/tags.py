"""A short text at the end of a message's content, and taking it off again: the same for content of every format.

What `tagged` adds `untagged` removes, exactly: to the last text of a message it is appended. So it is in a result; one
that has no text gets one, which goes as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from trimtab.conversation import Wire

__all__ = ["tagged", "untagged"]


def tagged(content: Any, text: str, *, result: bool = False, type: str = "text") -> Any:
    """Content that ends with ``text``; None where a message (no ``result``) has no text. ``type``: of text parts."""
    if isinstance(content, str):
        return content + text if content or result else None
    parts = list(content or ())
    at = _last(parts, result, type)
    if at >= 0:
        return _with(parts, at, parts[at]["text"] + text)
    return [*parts, {"type": type, "text": text}] if result else None


def untagged(
    content: Any, pattern: re.Pattern[str], *, result: bool = False, type: str = "text"
) -> tuple[Any, str] | None:
    """Content without what ``pattern`` (anchored at the end) matches in its last text, and that; None without it."""
    if isinstance(content, str):
        split = _split(content, pattern)
        return split if split and (split[0] or result) else None
    parts = list(content or ())
    at = _last(parts, result, type)
    split = _split(parts[at]["text"], pattern) if at >= 0 else None
    if split is None:
        return None
    rest, match = split
    return [*parts[:at], *parts[at + 1 :]] if result and not rest else _with(parts, at, rest), match


def _last(parts: Sequence[Wire], result: bool, type: str) -> int:
    """Where the last text is; of a result the last that is not empty, since an empty one would look like none."""
    for at in range(len(parts) - 1, -1, -1):
        text = parts[at].get("text") if parts[at].get("type") == type else None
        if isinstance(text, str) and (text or not result):
            return at
    return -1


def _with(parts: Sequence[Wire], at: int, text: str) -> list[Wire]:
    return [*parts[:at], {**parts[at], "text": text}, *parts[at + 1 :]]


def _split(text: str, pattern: re.Pattern[str]) -> tuple[str, str] | None:
    match = pattern.search(text)
    return (text[: match.start()], match[0]) if match else None
