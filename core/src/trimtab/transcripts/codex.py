"""Rollouts of Codex: JSON Lines; the items of a response, its token count, then the outputs of its calls."""

from __future__ import annotations

from typing import Any

from trimtab.transcripts.history import History
from trimtab.transcripts.records import Recording, Request
from trimtab.transcripts.source import Source
from trimtab.transcripts.wire import count, label, mapping, mappings, seconds, string

__all__ = ["NAME", "read", "sniff"]

NAME = "codex"
ROLES = ("developer", "system", "user")


def sniff(source: Source) -> bool:
    """Whether any object is a rollout's first line or wraps an item of a conversation."""
    kinds = ("response_item", "session_meta")
    return any(record.get("type") in kinds and isinstance(record.get("payload"), dict) for _, record in source.objects)


def read(source: Source) -> Recording:
    """Read all requests: the items as they are recorded, which is how they were sent."""
    rollout = _Rollout(source)
    for number, record in source.objects:
        rollout.take(number, record)
    rollout.close()
    return rollout.history.recording(NAME, "responses", session=rollout.session, system=rollout.instructions)


class _Rollout:
    """The state of a rollout: the history, and the answer whose items are being read."""

    def __init__(self, source: Source) -> None:
        self.history = History(source)
        self.session: Any = None
        self.instructions: str | None = None
        self.model: str | None = None
        self._answer: list[dict[str, Any]] = []
        self._time: float | None = None
        """Of the last item of the open answer."""
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
            self._begin(payload)
        else:  # what the user was shown, which the items say too
            self.history.skipped[f"{label(kind)} records"] += 1

    def close(self) -> None:
        """Make one answer of the items since the last: reasoning, text and parallel calls."""
        items, self._answer = self._answer, []
        if items:
            self._unmeasured = self.history.answer(items, self._time, model=self.model)

    def _begin(self, payload: dict[str, Any]) -> None:
        self.session = payload.get("id")
        base = payload.get("base_instructions")
        self.instructions = string(mapping(base).get("text")) or string(base) or None

    def _item(self, item: dict[str, Any], time: float | None) -> None:
        """Take an item of the conversation; what is neither a message of others nor an output is the model's."""
        if (what := _fault(item)) is not None:
            self.history.skipped[what] += 1
            return
        if item.get("type") == "message" and item.get("role") in ROLES:
            self.close()
            self.history.add(item, time)
        elif string(item.get("type")).endswith("_output"):
            self.close()
            self.history.result(item, time)
        else:
            self._answer.append(item)
            self._time = time
        self.history.records += 1

    def _measure(self, payload: dict[str, Any]) -> None:
        """Give the answer that a count follows its size; the input includes what was read from the cache."""
        self.close()
        last = mapping(mapping(payload.get("info")).get("last_token_usage"))
        if self._unmeasured and count(last.get("input_tokens")):
            self._unmeasured.usage, self._unmeasured = _usage(last), None

    def _compact(self, number: int, payload: dict[str, Any], time: float | None) -> None:
        """Start a branch with the recorded history, else with all that was not the model's and the summary."""
        self.close()
        history, replacement = self.history, payload.get("replacement_history")
        before = history.messages
        self._unmeasured = None
        if isinstance(replacement, list):
            history.restart(item for item in mappings(replacement) if _fault(item) is None)
        else:
            kept = [item for item in before if item.get("role") in ROLES]
            history.restart(item for item in kept if item is not self._summary)
            self._summary = {"type": "message", "role": "user", "content": string(payload.get("message"))}
            history.add(self._summary)
        history.tick(time)
        history.notes.append(f"line {number}: compaction, {len(before)} messages before, {len(history.messages)} after")


def _fault(item: dict[str, Any]) -> str | None:
    """What an item that cannot be sent is counted as; None for one that can."""
    kind, said = string(item.get("type")), item.get("content" if item.get("type") == "message" else "output")
    if not kind or (isinstance(said, list) and not all(isinstance(part, dict) for part in said)):
        return "unknown items"
    known = item.get("role") in (*ROLES, "assistant") and isinstance(said, str | list)
    return None if known or kind != "message" else "messages without content"


def _usage(last: dict[str, Any]) -> dict[str, Any]:
    """A count in the words of the API, in tokens; without what was read where that was not recorded."""
    read = last.get("cached_input_tokens")
    details = {} if read is None else {"input_tokens_details": {"cached_tokens": count(read)}}
    return {
        "input_tokens": count(last.get("input_tokens")),
        **details,
        "output_tokens": count(last.get("output_tokens")),
    }
