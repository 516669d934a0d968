"""What the readers share: fields of any type read with care, and the messages of OpenAI's chat format."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from trimtab.transcripts.source import Source

__all__ = [
    "assistant",
    "call",
    "chat",
    "count",
    "distinct",
    "dumped",
    "entries",
    "label",
    "listed",
    "mapping",
    "mappings",
    "result",
    "said",
    "says",
    "seconds",
    "string",
    "usage",
]

ROLES = ("assistant", "developer", "system", "tool", "user")
LONGEST = 40
"""Characters of a word of the file that is shown: a longer one may be anything."""


def mapping(value: Any) -> dict[str, Any]:
    """The object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> list[Any]:
    """The list, or an empty one for anything else."""
    return value if isinstance(value, list) else []


def mappings(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; none of anything else."""
    return [entry for entry in listed(value) if isinstance(entry, dict)]


def string(value: Any) -> str:
    """The text, or an empty one for anything else."""
    return value if isinstance(value, str) else ""


def count(value: Any) -> int:
    """A number of tokens; 0 for anything that is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def label(value: Any) -> str:
    """A word of the file that names a kind of record; what may be contents is not shown."""
    word = string(value)
    return word if word.replace("_", "").replace("-", "").isalnum() and len(word) <= LONGEST else "unknown"


def dumped(value: Any) -> str:
    """JSON as a model is shown it."""
    return json.dumps(value, ensure_ascii=False)


def seconds(value: Any) -> float | None:
    """Epoch seconds of a number of them or of an ISO 8601 time, in UTC unless it says otherwise; None for neither."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value) if math.isfinite(value) else None
        time = datetime.fromisoformat(value)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (OverflowError, TypeError, ValueError):
        return None


def entries(source: Source) -> list[Any]:
    """All entries of a list, of ``{"messages": […]}``, or of a file with one a line."""
    document = source.document
    if isinstance(document, dict) and "role" not in document:
        return listed(document.get("messages"))
    return document if isinstance(document, list) else [entry for _, entry in source.objects]


def usage(prompt: Any, cached: Any, completion: Any) -> dict[str, Any] | None:
    """Usage as OpenAI's chat format reports it, in tokens; ``cached`` is part of ``prompt``, None if not recorded."""
    if not count(prompt):
        return None
    details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": count(cached)}}
    return {"prompt_tokens": count(prompt), **details, "completion_tokens": count(completion)}


def call(id: str, name: str, arguments: Any) -> dict[str, Any]:
    """A tool call; arguments that are not JSON text yet are made so."""
    arguments = arguments if isinstance(arguments, str) else dumped(arguments)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def assistant(content: Any, calls: list[dict[str, Any]]) -> dict[str, Any]:
    """An answer; one of calls only has no content."""
    message: dict[str, Any] = {"role": "assistant", "content": content or (None if calls else "")}
    return {**message, "tool_calls": calls} if calls else message


def result(id: str, content: Any) -> dict[str, Any]:
    """The message that answers a call."""
    return {"role": "tool", "tool_call_id": id, "content": content}


def said(value: Any) -> str | list[dict[str, Any]] | None:
    """A content: a text, or a list of parts; None for anything else."""
    return value if isinstance(value, str) else mappings(value) or None


def says(message: Mapping[str, Any]) -> str:
    """The role of a message; of an item without one ``tool`` for an output, else ``assistant``."""
    output = str(message.get("type")).endswith("_output")
    return str(message.get("role") or ("tool" if output else "assistant"))


def chat(record: Mapping[str, Any], skipped: Counter[str]) -> dict[str, Any] | None:
    """The message of a record that holds one beside much else; None, and counted, where it cannot be sent."""
    role, content = record.get("role"), said(record.get("content"))
    if role not in ROLES:
        skipped[f"{label(role)} messages"] += 1
        return None
    message: dict[str, Any] = {"role": role, "content": content}
    if role == "tool":
        message["tool_call_id"] = string(record.get("tool_call_id"))
    if role == "assistant":
        if reasoning := string(record.get("reasoning_content")):
            message["reasoning_content"] = reasoning
        if calls := _calls(record.get("tool_calls"), skipped):
            message["tool_calls"] = calls
    if content is None and "tool_calls" not in message:
        skipped["messages without content"] += 1
        return None
    return message


def _calls(value: Any, skipped: Counter[str]) -> list[dict[str, Any]]:
    calls = []
    for entry in listed(value):
        function = mapping(mapping(entry).get("function"))
        id, name = string(mapping(entry).get("id")), string(function.get("name"))
        if id and name:
            calls.append(call(id, name, function.get("arguments", "{}")))
        else:
            skipped["calls without id or name"] += 1
    return calls


def distinct(ids: Iterable[str]) -> list[str]:
    """Make ids unique by position: from its second time on, one has its number behind it."""
    ids = list(ids)
    taken = set(ids)
    times: defaultdict[str, int] = defaultdict(int)
    made = []
    for id in ids:
        times[id] += 1
        new = id
        while times[id] > 1 and (new := f"{id}-{times[id]}") in taken:
            times[id] += 1
        taken.add(new)
        made.append(new)
    return made
