"""Plain messages of OpenAI's chat format: a list, ``{"messages": […], "tools"?}``, or one message a line."""

from __future__ import annotations

from typing import Any

from trimtab.transcripts.messages import first_fault, listing
from trimtab.transcripts.records import Recording
from trimtab.transcripts.source import Source
from trimtab.transcripts.wire import label, mapping, mappings

__all__ = ["NAME", "fault", "read", "sniff"]

NAME = "openai-messages"
ROLES = ("assistant", "developer", "system", "tool", "user")
FOREIGN = ("document", "image", "redacted_thinking", "thinking", "tool_result", "tool_use")
"""Types of blocks that this API does not have."""


def sniff(source: Source) -> bool:
    """Whether all entries are messages as this API has them; ask those of Anthropic first, which may look the same."""
    return fault(source)[0] == 0


def fault(source: Source) -> tuple[int, str]:
    """Which message, counted from 1, is none of this API's, and why; 0 and nothing where all are."""
    return first_fault(source, _wrong)


def read(source: Source) -> Recording:
    """Make one request of each assistant message: all messages before it, without usage."""
    return listing(source, NAME, "openai")


def _wrong(entry: dict[str, Any], number: int) -> str:
    role, content, calls = entry["role"], entry.get("content"), entry.get("tool_calls")
    if role not in ROLES:
        return f"has role {label(role)!r}"
    if calls is not None and (role != "assistant" or not _are_calls(calls)):
        return "has tool_calls" if role != "assistant" else "has tool_calls that are none"
    foreign = next((part["type"] for part in mappings(content) if part.get("type") in FOREIGN), None)
    if foreign:
        return f"has a {foreign} block"
    silent = role == "assistant" and content is None and (calls or entry.get("refusal"))
    return "" if silent or isinstance(content, str | list) else "has neither a text nor a list as content"


def _are_calls(value: Any) -> bool:
    """Whether it is a list of calls, each with an id and a kind that it describes."""
    return isinstance(value, list) and all(
        isinstance(mapping(call).get("id"), str) and isinstance(call.get(call.get("type", "function")), dict)
        if isinstance(call, dict) and isinstance(call.get("type", "function"), str)
        else False
        for call in value
    )
