"""Trajectories of SWE-agent: one object whose ``history`` was sent; calls as OpenAI's, or as text in the answers."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from trimtab.transcripts.history import History
from trimtab.transcripts.records import Recording
from trimtab.transcripts.source import Source
from trimtab.transcripts.wire import chat, distinct, listed, mapping, mappings

__all__ = ["NAME", "read", "sniff"]

NAME = "swe-agent"


def sniff(source: Source) -> bool:
    """Whether the file has the history and the steps of such a run."""
    document = mapping(source.document)
    return isinstance(document.get("history"), list) and isinstance(document.get("trajectory"), list)


def read(source: Source) -> Recording:
    """Read all requests, none of which has a time or a size; call ids that repeat are made unique."""
    history = History(source)
    records = listed(mapping(source.document).get("history"))
    history.skipped["odd records"] += len(records) - len(mappings(records))
    messages = [
        message for record in mappings(records) if (message := chat(_named(record), history.skipped)) is not None
    ]
    history.records = len(messages)
    if renamed := _rename(messages):
        history.notes.append(f"call ids that repeat, made unique by position: {renamed}")
    for message in messages:
        if message["role"] == "assistant":
            history.answer(message)
        else:
            history.add(message)
    return history.recording(NAME)


def _named(record: dict[str, Any]) -> dict[str, Any]:
    """A result names its call in a list of one."""
    ids = listed(record.get("tool_call_ids"))
    return {**record, "tool_call_id": ids[0]} if ids else record


def _rename(messages: list[dict[str, Any]]) -> int:
    """Give each call an id of its own, and each result that of its call in the answer before; return how many."""
    calls = [call for message in messages for call in message.get("tool_calls", ())]
    new = iter(distinct(call["id"] for call in calls))
    renamed = 0
    waiting: defaultdict[str, list[str]] = defaultdict(list)
    for message in messages:
        if message["role"] == "assistant":
            waiting.clear()
            for call in message.get("tool_calls", ()):
                old, call["id"] = call["id"], next(new)
                waiting[old].append(call["id"])
                renamed += call["id"] != old
        elif message["role"] == "tool" and waiting[message["tool_call_id"]]:
            message["tool_call_id"] = waiting[message["tool_call_id"]].pop(0)
    return renamed
