"""Sessions of pi: JSON Lines; each message one line, each result a message. Read as Anthropic's messages."""

from __future__ import annotations

from typing import Any

from trimtab.transcripts.history import History
from trimtab.transcripts.records import Recording
from trimtab.transcripts.source import Source
from trimtab.transcripts.turns import results_in
from trimtab.transcripts.wire import count, label, mapping, mappings, seconds, string

__all__ = ["NAME", "read", "sniff"]

NAME = "pi"
ROLES = ("assistant", "toolResult", "user")
SIZES = {"input_tokens": "input", "cache_read_input_tokens": "cacheRead", "cache_creation_input_tokens": "cacheWrite"}


def sniff(source: Source) -> bool:
    """Whether any object is a message, named so, with a role as pi has them."""
    return any(_message(record).get("role") in ROLES for _, record in source.objects)


def read(source: Source) -> Recording:
    """Read all requests; calls that were aborted before their result were not sent again, so they are left out."""
    session = _Session(source)
    for place, (number, record) in enumerate(source.objects):
        if _message(record):
            session.take(place, record)
        elif record.get("type") == "compaction":
            session.compact(place, number, record)
        elif record.get("type") == "session":
            session.name = session.name or string(record.get("id"))
        else:
            session.history.skipped[f"{label(record.get('type'))} records"] += 1
    return session.history.recording(NAME, dialect="anthropic", session=session.name)


class _Session:
    """The history, and what of the file has to be known for it beforehand."""

    def __init__(self, source: Source) -> None:
        self.history = History(source)
        self.name = ""
        self._records = source.objects
        messages = [_message(record) for _, record in source.objects]
        self._answered = {string(message.get("toolCallId")) for message in messages}
        self._last = next((message for message in reversed(messages) if message), None)

    def take(self, place: int, record: dict[str, Any], new: bool = True) -> None:
        """Take a message; one that is not ``new`` is kept across a compaction and makes no request."""
        message, time, history = _message(record), seconds(record.get("timestamp")), self.history
        role = message.get("role")
        blocks = self._blocks(message, new)
        if role not in ROLES or (not blocks and role != "toolResult"):
            what = "answers without content" if role == "assistant" else "messages without content"
            history.skipped[what if role in ROLES else f"{label(role)} messages"] += new
            return
        history.records += new
        if role == "assistant" and new:
            answer = {"role": role, "content": blocks}
            history.answer(answer, time, _usage(message.get("usage")), string(message.get("model")) or None)
        elif role == "toolResult":
            self._result(message, blocks)
        else:
            history.add({"role": role, "content": blocks})
        history.tick(time)

    def compact(self, end: int, number: int, record: dict[str, Any]) -> None:
        """Start a branch with the summary and the messages from the first kept record (by place, or by id) on."""
        first = record.get("firstKeptEntryIndex")
        id = string(record.get("firstKeptEntryId"))
        places = [place for place in range(end) if place == first or (id and self._records[place][1].get("id") == id)]
        history, before = self.history, len(self.history.messages)
        summary = string(record.get("summary"))
        history.restart([{"role": "user", "content": [{"type": "text", "text": summary}]}] if summary else [])
        for place in range(places[0] if places else end, end):
            if _message(self._records[place][1]):
                self.take(place, self._records[place][1], new=False)
        history.tick(seconds(record.get("timestamp")))
        history.notes.append(f"line {number}: compaction, {before} messages before, {len(history.messages)} after")

    def _result(self, message: dict[str, Any], blocks: list[dict[str, Any]]) -> None:
        """Put a result beside those of the same answer."""
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": string(message.get("toolCallId"))}
        block["content"] = blocks
        if message.get("isError") is True:
            block["is_error"] = True
        last = self.history.messages[-1] if self.history.messages else {}
        if results_in(last.get("content")):
            last["content"].append(block)
        else:
            self.history.add({"role": "user", "content": [block]})

    def _blocks(self, message: dict[str, Any], new: bool) -> list[dict[str, Any]]:
        """The blocks of a message that can be sent, as Anthropic's."""
        content = message.get("content")
        if isinstance(content, str):
            return [{"type": "text", "text": content}] if content else []
        made = []
        for block in mappings(content):
            if block.get("type") == "toolCall" and not self._stays(block, message):
                self.history.skipped["calls without a result"] += new
            elif (wire := _block(block)) is not None:
                made.append(wire)
            else:
                self.history.skipped[f"{label(block.get('type'))} blocks that cannot be sent"] += new
        return made

    def _stays(self, block: dict[str, Any], message: dict[str, Any]) -> bool:
        """Whether a call has a result, or may still get one."""
        waits = message is self._last and message.get("stopReason") not in ("aborted", "error")
        return waits or string(block.get("id")) in self._answered


def _message(record: dict[str, Any]) -> dict[str, Any]:
    return mapping(record.get("message")) if record.get("type") == "message" else {}


def _block(block: dict[str, Any]) -> dict[str, Any] | None:
    """A block of Anthropic's; None where it lacks what that must have (thinking: its signature)."""
    kind, text = block.get("type"), string(block.get("text"))
    if kind == "text" and text:
        return {"type": "text", "text": text}
    if kind == "toolCall" and string(block.get("id")) and string(block.get("name")):
        return {"type": "tool_use", "id": block["id"], "name": block["name"], "input": mapping(block.get("arguments"))}
    if kind == "thinking" and string(block.get("thinkingSignature")):
        return {"type": kind, "thinking": string(block.get("thinking")), "signature": block["thinkingSignature"]}
    if kind == "image" and string(block.get("data")) and string(block.get("mimeType")):
        return {"type": kind, "source": {"type": "base64", "media_type": block["mimeType"], "data": block["data"]}}
    return None


def _usage(recorded: Any) -> dict[str, Any] | None:
    """The usage as Anthropic reports it, in tokens; None for an all-zero one, which was never measured."""
    found = mapping(recorded)
    sizes = {name: count(found.get(key)) for name, key in SIZES.items()}
    return {**sizes, "output_tokens": count(found.get("output"))} if any(sizes.values()) else None
