"""Rollouts of Codex: JSON Lines; the items of a response, its token count, then the outputs of its calls."""

from __future__ import annotations

from typing import Any

from trimtab.transcripts.history import History
from trimtab.transcripts.records import Recording, Request
from trimtab.transcripts.source import Source
from trimtab.transcripts.wire import (
    assistant,
    call,
    dumped,
    label,
    mapping,
    mappings,
    result,
    seconds,
    string,
    usage,
)

__all__ = ["NAME", "read", "sniff"]

NAME = "codex"
TEXTS = ("input_text", "output_text", "text")


def sniff(source: Source) -> bool:
    """Whether any object is a rollout's first line or wraps an item of a conversation."""
    kinds = ("response_item", "session_meta")
    return any(record.get("type") in kinds and isinstance(record.get("payload"), dict) for _, record in source.objects)


def read(source: Source) -> Recording:
    """Read all requests; reasoning is encrypted and searches have no result, so both are left out and counted."""
    rollout = _Rollout(source)
    for number, record in source.objects:
        rollout.take(number, record)
    rollout.close()
    history = rollout.history
    if history.skipped["reasoning items"]:
        history.notes.append("reasoning is encrypted, so it is not in the messages")
    return history.recording(NAME, session=rollout.session)


class _Rollout:
    """The state of a rollout: the history, and the answer whose items are being read."""

    def __init__(self, source: Source) -> None:
        self.history = History(source)
        self.session: Any = None
        self.model: str | None = None
        self._parts: list[dict[str, Any]] = []
        self._calls: list[dict[str, Any]] = []
        self._time: float | None = None
        """Of the last item of the open answer."""
        self._restoring = False
        """Whether the items are those of a replaced history, which make no requests."""
        self._unmeasured: Request | None = None
        self._summary: dict[str, Any] | None = None

    def take(self, number: int, record: dict[str, Any]) -> None:
        """Take the next line."""
        kind, payload, time = record.get("type"), mapping(record.get("payload")), seconds(record.get("timestamp"))
        if kind == "response_item":
            self._item(payload, time)
        elif kind == "event_msg" and payload.get("type") == "token_count":
            self._measure(payload)
        elif kind == "turn_context":
            self.model = string(payload.get("model")) or self.model
        elif kind == "compacted":
            self._compact(number, payload, time)
        elif kind == "session_meta" and not self.history.messages:
            self._begin(payload, time)
        else:  # what the user was shown, which the items say too
            self.history.skipped[f"{label(kind)} records"] += 1

    def close(self) -> None:
        """Make one message of the items since the last: parallel calls and the text before them are one answer."""
        parts, calls, self._parts, self._calls = self._parts, self._calls, [], []
        if not parts and not calls:
            return
        message = assistant(_content(parts), calls)
        if self._restoring:
            self.history.add(message)
        else:
            self._unmeasured = self.history.answer(message, self._time, model=self.model)

    def _begin(self, payload: dict[str, Any], time: float | None) -> None:
        self.session = payload.get("id")
        base = payload.get("base_instructions")
        if text := string(mapping(base).get("text")) or string(base):
            self.history.add({"role": "system", "content": text}, time)

    def _item(self, item: dict[str, Any], time: float | None) -> None:
        """Take an item of the conversation; whatever ends in ``_call`` and has an id is a call."""
        kind, id, history = string(item.get("type")), string(item.get("call_id")), self.history
        role, parts = item.get("role"), _parts(item.get("content"))
        if kind == "message" and role == "assistant" and parts:
            self._parts += parts
            self._time = time
        elif kind == "message" and role in ("developer", "system", "user") and parts:
            self.close()
            history.add({"role": role, "content": _content(parts)}, time)
        elif kind.endswith("_call") and id:
            self._calls.append(_call(id, kind, item))
            self._time = time
        elif kind.endswith("_call_output") and id:
            self.close()
            history.result(result(id, _output(item.get("output"))), time)
        else:
            history.skipped["messages without content" if kind == "message" else f"{label(kind)} items"] += 1
            return
        history.records += not self._restoring

    def _measure(self, payload: dict[str, Any]) -> None:
        """Give the answer that a count follows its size; the input includes what was read from the cache."""
        self.close()
        last = mapping(mapping(payload.get("info")).get("last_token_usage"))
        found = usage(last.get("input_tokens"), last.get("cached_input_tokens"), last.get("output_tokens"))
        if self._unmeasured and found:
            self._unmeasured.usage, self._unmeasured = found, None

    def _compact(self, number: int, payload: dict[str, Any], time: float | None) -> None:
        """Start a branch with the recorded history, else with all that was not the model's and the summary."""
        self.close()
        history, replacement = self.history, payload.get("replacement_history")
        before = history.messages
        self._unmeasured = None
        if isinstance(replacement, list):
            history.restart(message for message in before[:1] if message["role"] == "system")
            self._restoring = True
            for item in mappings(replacement):
                self._item(item, None)
            self.close()
            self._restoring = False
        else:
            kept = [entry for entry in before if entry["role"] not in ("assistant", "tool")]
            history.restart(entry for entry in kept if entry is not self._summary)
            self._summary = {"role": "user", "content": string(payload.get("message"))}
            history.add(self._summary)
        history.tick(time)
        history.notes.append(f"line {number}: compaction, {len(before)} messages before, {len(history.messages)} after")


def _call(id: str, kind: str, item: dict[str, Any]) -> dict[str, Any]:
    """A call; the free text that a custom tool takes becomes its argument ``input``."""
    name = string(item.get("name")) or kind.removesuffix("_call")
    if kind == "custom_tool_call":
        return call(id, name, {"input": item.get("input")})
    return call(id, name, item.get("arguments", item.get("action", "{}")))


def _parts(content: Any) -> list[dict[str, Any]]:
    """The texts and images of a message, as parts of OpenAI's chat format."""
    parts: list[dict[str, Any]] = []
    for part in [{"type": "text", "text": content}] if isinstance(content, str) else mappings(content):
        if part.get("type") in TEXTS and isinstance(part.get("text"), str):
            parts.append({"type": "text", "text": part["text"]})
        elif part.get("type") == "input_image" and isinstance(part.get("image_url"), str):
            parts.append({"type": "image_url", "image_url": {"url": part["image_url"]}})
    return parts


def _content(parts: list[dict[str, Any]]) -> Any:
    return parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts


def _output(output: Any) -> str:
    """What a call returned, as text."""
    if isinstance(output, list):
        return "\n".join(part["text"] for part in _parts(output) if part["type"] == "text")
    return output if isinstance(output, str) else dumped(output)
