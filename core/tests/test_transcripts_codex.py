"""Rollouts of Codex: each trap of the format on a small recording made for it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from trimtab.transcripts import Recording, read

T0 = datetime(2026, 1, 2, tzinfo=UTC).timestamp()


class Rollout:
    """Writes lines as Codex does, a second apart."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.write("session_meta", {"id": "s1", "base_instructions": {"text": "Be brief."}})
        self.write("turn_context", {"model": "gpt"})

    def write(self, type: str, payload: dict[str, Any]) -> None:
        """Write one line."""
        time = datetime.fromtimestamp(T0 + len(self.lines), UTC).isoformat().replace("+00:00", "Z")
        self.lines.append(json.dumps({"timestamp": time, "type": type, "payload": payload}))

    def say(self, role: str, *texts: str) -> None:
        """Write a message and, as the user is shown it, its double."""
        type = "output_text" if role == "assistant" else "input_text"
        content = [{"type": type, "text": text} for text in texts]
        self.write("event_msg", {"type": f"{role}_message", "message": texts[0]})
        self.write("response_item", {"type": "message", "role": role, "content": content})

    def call(self, id: str) -> None:
        """Write a call."""
        item = {"type": "function_call", "name": "exec", "arguments": '{"cmd":"ls"}', "call_id": id}
        self.write("response_item", item)

    def out(self, id: str, output: Any = "out", kind: str = "function_call_output") -> None:
        """Write the output of a call."""
        self.write("response_item", {"type": kind, "call_id": id, "output": output})

    def count(self, size: int, cached: int = 0, total: int = 10**6) -> None:
        """Write a count; ``total`` is cumulative."""
        last = {"input_tokens": size, "cached_input_tokens": cached, "output_tokens": 5, "reasoning_output_tokens": 2}
        info = {"total_token_usage": {"input_tokens": total}, "last_token_usage": last}
        self.write("event_msg", {"type": "token_count", "info": info})

    def read(self, path: Path) -> Recording:
        """Write the file and read it."""
        path.write_text("".join(line + "\n" for line in self.lines), encoding="utf-8")
        return read(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file whose name says nothing about its format."""
    return tmp_path / "recorded"


def shape(items: list[dict[str, Any]]) -> list[str]:
    """Items in short: whose they are, the call, the text."""

    def text(item: dict[str, Any]) -> str:
        said = item.get("content", item.get("output"))
        return "+".join(part["text"] for part in said) if isinstance(said, list) else str(said or "")

    short = {"message": "m", "function_call": "c", "function_call_output": "o"}
    return [
        " ".join(
            filter(None, [item.get("role", short.get(item["type"], item["type"]))[0], item.get("call_id"), text(item)])
        )
        for item in items
    ]


def test_a_rollout(path: Path) -> None:
    """Items up to a count are one answer, whose size the count tells; its outputs come behind the count."""
    rollout = Rollout()
    rollout.say("developer", "rules", "more")
    rollout.say("user", "go")
    reasoning = {"type": "reasoning", "summary": [], "content": None, "encrypted_content": "x"}
    rollout.write("response_item", reasoning)
    rollout.say("assistant", "I look")
    rollout.call("c1")
    rollout.call("c2")
    rollout.count(100, 60)
    rollout.out("c2")
    rollout.out("c1")
    rollout.say("assistant", "done")
    rollout.count(150, 100)
    recording = rollout.read(path)
    first, second = recording.requests
    assert (recording.session, recording.format, recording.dialect) == ("s1", "codex", "responses")
    assert recording.system == "Be brief."
    seen = ["d rules+more", "u go", "r", "a I look", "c c1", "c c2", "o c2 out", "o c1 out", "a done"]
    assert shape(first.history) == seen
    assert first.history[2] == reasoning
    assert (first.length, second.length) == (2, 8)
    assert [first.answer, *first.rest] == first.history[2:6]
    assert (second.answer, second.rest) == (first.history[8], ())
    assert first.usage == {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}, "output_tokens": 5}
    assert second.usage is not None
    assert second.usage["input_tokens"] == 150
    assert (first.now - T0, second.now - T0, first.model) == (5, 13, "gpt")
    assert recording.records == 9
    assert recording.skipped == {"event_msg records": 4}
    assert recording.notes == []


def test_a_count_belongs_to_the_answer_before_it_once(path: Path) -> None:
    """An answer that no count follows has no usage; a second count, or one without figures, changes nothing."""
    rollout = Rollout()
    rollout.say("user", "go")
    rollout.call("c1")
    rollout.out("c1")
    rollout.say("assistant", "done")
    rollout.write("event_msg", {"type": "token_count", "info": None})
    rollout.count(100)
    rollout.count(999)
    usages = [request.usage and request.usage["input_tokens"] for request in rollout.read(path).requests]
    assert usages == [None, 100]


def test_calls_in_rows_are_two_answers_where_outputs_part_them(path: Path) -> None:
    """Without a count, an output ends an answer; what was said while a tool ran stands behind its output."""
    rollout = Rollout()
    rollout.say("user", "go")
    rollout.call("c1")
    rollout.out("c1")
    rollout.call("c2")
    rollout.say("user", "hurry")
    rollout.out("c2")
    rollout.say("assistant", "done")
    seen = ["u go", "c c1", "o c1 out", "c c2", "o c2 out", "u hurry", "a done"]
    assert shape(rollout.read(path).requests[-1].history) == seen


def test_answers_behind_answers(path: Path) -> None:
    """A count ends an answer; what then follows without an output was asked when that answer was there."""
    rollout = Rollout()
    rollout.say("user", "go")
    rollout.say("assistant", "I look")
    rollout.count(100)
    rollout.say("assistant", "done")
    recording = rollout.read(path)
    assert [request.now - T0 for request in recording.requests] == [3, 5]
    assert recording.notes == ["answers behind answers, with nothing recorded between: 1"]


def test_items_are_what_was_recorded(path: Path) -> None:
    """Calls of any kind, searches and images are the recorded objects, in their order."""
    items: list[dict[str, Any]] = [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_image", "image_url": "data:image/png;base64,"}],
        },
        {"type": "custom_tool_call", "name": "apply_patch", "input": "*** patch", "call_id": "c1"},
        {"type": "local_shell_call", "call_id": "c2", "action": {"command": ["ls"]}},
        {"type": "web_search_call", "action": {"query": "x"}},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "ok"},
        {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "a"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
    ]
    rollout = Rollout()
    for item in items:
        rollout.write("response_item", item)
    recording = rollout.read(path)
    assert recording.requests[-1].history == items
    assert recording.skipped == {}
    assert [len([request.answer, *request.rest]) for request in recording.requests] == [3, 1]


def test_what_is_no_item_is_counted(path: Path) -> None:
    """A message without content or of no known role, and what has no type."""
    rollout = Rollout()
    rollout.say("user", "go")
    rollout.write("response_item", {"type": "message", "role": "user", "content": None})
    rollout.write("response_item", {"type": "message", "role": "tool", "content": "x"})
    rollout.write("response_item", {"text": "x"})
    rollout.say("assistant", "done")
    recording = rollout.read(path)
    assert shape(recording.requests[0].history) == ["u go", "a done"]
    assert recording.skipped == {"event_msg records": 2, "messages without content": 2, "unknown items": 1}


def compacted(**payload: Any) -> Rollout:
    """A rollout that was compacted behind its first answer."""
    rollout = Rollout()
    rollout.say("developer", "rules")
    rollout.say("user", "go")
    rollout.call("c1")
    rollout.count(100)
    rollout.out("c1")
    rollout.write("compacted", payload)
    rollout.count(999)
    rollout.say("user", "on")
    rollout.say("assistant", "done")
    rollout.count(50)
    return rollout


def test_a_compaction_with_its_new_history(path: Path) -> None:
    """A replacement history starts a branch behind the system prompt; its answers make no requests."""
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "so far"}]}
    call = {"type": "function_call", "name": "exec", "arguments": "{}", "call_id": "c0"}
    out = {"type": "function_call_output", "call_id": "c0", "output": "old"}
    recording = compacted(message="", replacement_history=[item, call, out]).read(path)
    first, second = recording.requests
    assert shape(first.history) == ["d rules", "u go", "c c1", "o c1 out"]
    assert shape(second.messages) == ["u so far", "c c0", "o c0 old", "u on"]
    assert (first.branch, second.branch) == (0, 1)
    assert second.usage is not None
    assert second.usage["input_tokens"] == 50
    assert recording.notes == ["line 10: compaction, 4 messages before, 3 after"]
    assert recording.records == 6


def test_a_compaction_with_a_summary_alone(path: Path) -> None:
    """What the model did not say is kept, without an earlier summary, and the summary comes behind it."""
    rollout = compacted(message="summary 1")
    rollout.write("compacted", {"message": "summary 2"})
    rollout.say("assistant", "bye")
    requests = rollout.read(path).requests
    assert shape(requests[1].messages) == ["d rules", "u go", "u summary 1", "u on"]
    assert shape(requests[2].messages) == ["d rules", "u go", "u on", "u summary 2"]
    assert [request.branch for request in requests] == [0, 1, 2]
