"""Plain Anthropic messages: a list, ``{"messages": […], "system"?, "tools"?}``, or one message a line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from trimtab.transcripts.records import Recording, Request
from trimtab.transcripts.source import Source

__all__ = ["NAME", "STEP", "entries", "fault", "read", "sniff"]

NAME = "messages"
STEP = 10.0
"""Seconds between two requests, since such a list has no clock; the first is made at 0."""


def sniff(source: Source) -> bool:
    """Whether all entries are messages as this API has them."""
    return not fault(source)


def fault(source: Source) -> str:
    """Why this is no list of messages as this API has them, counted from 1; empty where it is one."""
    found = entries(source)
    if not found:
        return "it holds no messages"
    wrong = ((number, what) for number, entry in enumerate(found, 1) if (what := _wrong(entry, number)))
    return next((f"message {number} {what}" for number, what in wrong), "")


def read(source: Source) -> Recording:
    """Make one request of each assistant message: all messages before it, without usage."""
    history: list[dict[str, Any]] = entries(source)
    head = source.document if isinstance(source.document, dict) else {}
    skipped: Counter[str] = Counter(source.skipped)
    requests: list[Request] = []
    for length, message in enumerate(history):
        if message["role"] != "assistant":
            continue
        if not length:
            skipped["answers without a request"] += 1
            continue
        now = STEP * len(requests)
        requests.append(Request(history, length, now, None, None, message, branch=0, mid_session=False))
    return Recording(
        session=Path(source.path).stem,
        format=NAME,
        dialect="anthropic",
        path=source.path,
        requests=requests,
        records=len(history),
        skipped=dict(skipped),
        notes=[f"no clock recorded: a request every {STEP:.0f} s"],
        system=head.get("system"),
        tools=head.get("tools"),
    )


def entries(source: Source) -> list[Any]:
    """All messages of such a file, also those that no answer follows."""
    document = source.document
    if isinstance(document, dict) and "role" not in document:
        document = document.get("messages")
        return document if isinstance(document, list) else []
    return document if isinstance(document, list) else [entry for _, entry in source.objects]


def _wrong(entry: Any, number: int) -> str:
    if not isinstance(entry, dict):
        return "is not an object"
    if "role" not in entry:
        return "has no role"
    roles = ("assistant", "user") if number == 1 else ("assistant", "system", "user")
    if entry["role"] not in roles:
        return f"has role {entry['role']!r}"
    if "tool_calls" in entry:
        return "has tool_calls"
    return "" if isinstance(entry.get("content"), str | list) else "has neither a text nor a list as content"
