"""Plain Anthropic messages: a list, ``{"messages": […], "system"?, "tools"?}``, or one message a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trimtab.transcripts.history import History
from trimtab.transcripts.records import Recording
from trimtab.transcripts.source import Source
from trimtab.transcripts.wire import entries, label, mapping, mappings

__all__ = ["NAME", "entries", "fault", "first_fault", "listing", "read", "sniff"]

NAME = "messages"
FOREIGN = ("file", "image_url", "input_audio", "refusal")
"""Types of parts that this API does not have."""


def sniff(source: Source) -> bool:
    """Whether all entries are messages as this API has them."""
    return fault(source)[0] == 0


def fault(source: Source) -> tuple[int, str]:
    """Which message, counted from 1, is none of this API's, and why; 0 and nothing where all are."""
    return first_fault(source, _wrong)


def read(source: Source) -> Recording:
    """Make one request of each assistant message: all messages before it, without usage."""
    return listing(source, NAME, "anthropic")


def first_fault(source: Source, wrong: Callable[[dict[str, Any], int], str]) -> tuple[int, str]:
    """Find the first entry that is no message, or one of which ``wrong`` tells a fault."""
    found = entries(source)
    if not found:
        return 1, "it holds no messages"
    for number, entry in enumerate(found, 1):
        if not isinstance(entry, dict):
            what = "is not an object"
        else:
            what = wrong(entry, number) if "role" in entry else "has no role"
        if what:
            return number, f"message {number} {what}"
    return 0, ""


def listing(source: Source, format: str, dialect: str) -> Recording:
    """Read a list of messages of either API, which are what was sent."""
    head = mapping(source.document)
    history = History(source)
    for message in entries(source):
        history.records += 1
        if message["role"] == "assistant":
            history.answer(message)
        else:
            history.add(message)
    return history.recording(format, dialect, system=head.get("system"), tools=head.get("tools"))


def _wrong(entry: dict[str, Any], number: int) -> str:
    roles = ("assistant", "user") if number == 1 else ("assistant", "system", "user")
    if entry["role"] not in roles:
        return f"has role {label(entry['role'])!r}"
    if "tool_calls" in entry:
        return "has tool_calls"
    foreign = next((part["type"] for part in mappings(entry.get("content")) if part.get("type") in FOREIGN), None)
    if foreign:
        return f"has a part of type {foreign}"
    return "" if isinstance(entry.get("content"), str | list) else "has neither a text nor a list as content"
