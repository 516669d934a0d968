"""Cache breakpoints: where the provider stores a prefix of the request, and from where it looks for a stored one.

A prefix is stored only where a breakpoint stands, and found only within 20 blocks before one. So the end of a request
carries one, and so does the place up to which the provider has stored it already: what an agent appends at once (an
answer and the results of all its calls) may have more blocks than that. Halfway between the two stands another one, so
that an edit of what lies behind does not cost all that is written now.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from trimtab.cache import shared

__all__ = ["Stored", "ends_of", "has_breakpoints", "with_breakpoints"]

_OPAQUE = frozenset({"thinking", "redacted_thinking", "fallback", "mcp_tool_listing", "cache_edits"})
"""Types of blocks that take no ``cache_control``: those whose parameters in the SDK 2.14 have no such field."""

_LONG = 300.0
"""Seconds of the provider's shorter time to live; beyond it the longer one, an hour, is asked for."""


def has_breakpoints(body: Mapping[str, Any]) -> bool:
    """Whether a request's body asks for caching anywhere: as a whole, in system text, tools or messages."""
    parts = [body, *_list(body.get("system")), *_list(body.get("tools"))]
    for message in _list(body.get("messages")):
        blocks = _list(message.get("content"))
        parts += [*blocks, *(inner for block in blocks for inner in _list(block.get("content")))]
    return any(part.get("cache_control") for part in parts)


@dataclass(frozen=True, slots=True)
class Stored:
    """What the provider has stored of a session's last answered request: prefixes that end behind so many messages.

    ``keys``: those of the request, the first of system text and tools.
    """

    keys: Sequence[str] = ()
    ends: Set[int] = frozenset()

    def held(self, keys: Sequence[str]) -> set[int]:
        """Those of the ends that hold for another request."""
        same = shared(self.keys, keys)
        return {end for end in self.ends if end < same}


def ends_of(messages: Sequence[Any], held: int) -> list[int]:
    """Behind how many of the messages breakpoints are to stand, of which ``held`` are stored already.

    Where none are known to be, they may be up to the latest answer: there the request before it ended.
    """
    if _evicting(messages):
        return [len(messages)]  # beside evictions one is allowed
    answers = [n for n, message in enumerate(messages) if message.get("role") == "assistant"]
    first = held or (answers[-1] if answers else 0)
    return sorted({first, (held + len(messages)) // 2, len(messages)} - {0})


def with_breakpoints(body: Mapping[str, Any], *, ttl: float, ends: Sequence[int]) -> dict[str, Any]:
    """A copy of the body with breakpoints behind system text (else tools) and behind so many messages.

    Each stands on the last block before that place that may carry one. What carries none is the same object. ``ttl``:
    seconds that a prefix should be kept.
    """
    marker: dict[str, Any] = {"type": "ephemeral", **({"ttl": "1h"} if ttl > _LONG else {})}
    made, messages = dict(body), list(body["messages"])
    for name in ("system", "tools"):
        if (marked := _marked(body.get(name), marker)) is not None:
            made[name] = marked
            break
    for end in ends:
        for n in range(end - 1, -1, -1):
            said = messages[n].get("content") if messages[n].get("role") != "system" else None
            if (content := _marked(said, marker)) is not None:
                messages[n] = {**messages[n], "content": content}
                break
    return {**made, "messages": messages}


def _marked(content: Any, marker: dict[str, Any]) -> list[Any] | None:
    """A text, blocks or tools with a breakpoint on the last that may have one; None where none may."""
    blocks: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
    for n in range(len(blocks) - 1, -1, -1):
        if _cacheable(blocks[n]):
            blocks[n] = {**blocks[n], "cache_control": marker}
            return blocks
    return None


def _cacheable(block: Mapping[str, Any]) -> bool:
    """Whether a block or a tool may carry a breakpoint; tools that are loaded later are not part of the prefix."""
    if block.get("type") == "text":
        return bool(str(block.get("text") or "").strip())
    return block.get("type") not in _OPAQUE and not block.get("defer_loading")


def _evicting(messages: Iterable[Mapping[str, Any]]) -> bool:
    return any(
        "cache_reference" in block or block.get("type") == "cache_edits"
        for message in messages
        for block in _list(message.get("content"))
    )


def _list(value: Any) -> Sequence[Mapping[str, Any]]:
    """The mappings in a list; nothing where it is none."""
    return [part for part in value if isinstance(part, Mapping)] if isinstance(value, list) else []
