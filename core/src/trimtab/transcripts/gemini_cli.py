"""Sessions of Gemini CLI: one object; an answer holds its calls, and each call its result."""

from __future__ import annotations

from typing import Any

from trimtab.transcripts.history import History
from trimtab.transcripts.records import Recording
from trimtab.transcripts.source import Source
from trimtab.transcripts.wire import (
    assistant,
    call,
    count,
    dumped,
    label,
    listed,
    mapping,
    mappings,
    result,
    seconds,
    string,
    usage,
)

__all__ = ["NAME", "read", "sniff"]

NAME = "gemini-cli"
KINDS = ("gemini", "user")


def sniff(source: Source) -> bool:
    """Whether it is a session of messages that have a type where others have a role."""
    document = mapping(source.document)
    found = mappings(document.get("messages"))
    return "sessionId" in document and any(entry.get("type") in KINDS and "role" not in entry for entry in found)


def read(source: Source) -> Recording:
    """Read all requests; the rounds that one record merges stay one batch of calls with its results behind it."""
    document = mapping(source.document)
    history = History(source)
    records = listed(document.get("messages"))
    history.skipped["odd records"] += len(records) - len(mappings(records))
    merged = 0
    for record in mappings(records):
        kind, time = record.get("type"), seconds(record.get("timestamp"))
        if kind == "gemini":
            merged += _answer(history, record, time, last=record is records[-1])
        elif kind == "user" and (text := _text(record.get("content"))):
            history.records += 1
            history.add({"role": "user", "content": text}, time)
        else:
            history.skipped["messages without content" if kind == "user" else f"{label(kind)} records"] += 1
    if merged:
        history.notes.append(f"answers that merge several rounds, each read as one batch of calls: {merged}")
    return history.recording(NAME, session=document.get("sessionId"))


def _answer(history: History, record: dict[str, Any], time: float | None, last: bool) -> bool:
    """Take an answer and the results of its calls; say whether it merges several rounds (calls of several times)."""
    found = [entry for entry in mappings(record.get("toolCalls")) if string(entry.get("id")) and entry.get("name")]
    kept = found if last else [entry for entry in found if isinstance(entry.get("result"), list)]
    history.skipped["calls without a result"] += len(found) - len(kept)
    history.skipped["thoughts"] += len(listed(record.get("thoughts")))
    calls = [call(entry["id"], string(entry["name"]), mapping(entry.get("args"))) for entry in kept]
    text = _text(record.get("content"))
    if not text and not calls:
        history.skipped["answers without content"] += 1
        return False
    history.records += 1
    history.answer(assistant(text, calls), time, _usage(record.get("tokens")), string(record.get("model")) or None)
    for entry in kept:
        if isinstance(entry.get("result"), list):
            history.result(result(entry["id"], _result(entry["result"])), seconds(entry.get("timestamp")))
    return len({string(entry.get("timestamp")) for entry in kept}) > 1


def _text(content: Any) -> str:
    """A text, or those of a list of parts."""
    return content if isinstance(content, str) else "\n".join(string(part.get("text")) for part in mappings(content))


def _result(parts: list[Any]) -> str:
    """What a call returned, as text: its output or error where it has one, else all of it as JSON."""
    texts = []
    for part in mappings(parts):
        response = mapping(mapping(part.get("functionResponse")).get("response"))
        text = part.get("text") or response.get("output") or response.get("error")
        texts.append(text if isinstance(text, str) else dumped(response) if response else "")
    return "\n".join(texts)


def _usage(tokens: Any) -> dict[str, Any] | None:
    """What tools gave the model counts as prompt, what it thought as completion."""
    found = mapping(tokens)
    prompt = count(found.get("input")) + count(found.get("tool"))
    completion = count(found.get("output")) + count(found.get("thoughts"))
    return usage(prompt, found.get("cached"), completion)
