"""Where a tag stands in a message of blocks: at the end of its last text, else of the text of its last result."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from trimtab.conversation import Wire
from trimtab.dialects import tags

__all__ = ["tag", "untag"]


def tag(wire: Wire, text: str) -> Wire | None:
    """See `Dialect.tag`."""
    found = _changed(wire, lambda content, result: _pair(tags.tagged(content, text, result=result)))
    return found and found[0]


def untag(wire: Wire, pattern: re.Pattern[str]) -> tuple[Wire, str] | None:
    """See `Dialect.untag`."""
    return _changed(wire, lambda content, result: tags.untagged(content, pattern, result=result))


def _pair(content: Any) -> tuple[Any, str] | None:
    return None if content is None else (content, "")


def _changed(wire: Wire, change: Callable[[Any, bool], tuple[Any, str] | None]) -> tuple[Wire, str] | None:
    """The message with the content changed that ends its words: its own, or that of its last result."""
    if wire["role"] in ("assistant", "system"):
        return None
    content = wire.get("content") or ()
    if isinstance(content, str) or any(isinstance(block.get("text"), str) for block in content):
        found = change(content, False)
        return found and ({**wire, "content": found[0]}, found[1])
    at = next((n for n in range(len(content) - 1, -1, -1) if content[n].get("type") == "tool_result"), -1)
    inner = content[at].get("content") if at >= 0 else {}
    found = None if isinstance(inner, Mapping) else change(inner, True)
    if found is None:
        return None
    blocks = [*content[:at], {**content[at], "content": found[0]}, *content[at + 1 :]]
    return {**wire, "content": blocks}, found[1]
