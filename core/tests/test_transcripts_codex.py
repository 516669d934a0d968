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


def shape(messages: list[dict[str, Any]]) -> list[str]:
    """Messages in short: role, content, calls or the call answered."""

    def text(content: Any) -> str:
        return "+".join(part["text"] for part in content) if isinstance(content, list) else str(content or "")

    return [
        " ".join(
            [
                f"{entry['role'][0]}:",
                *filter(None, [entry.get("tool_call_id"), text(entry["content"])]),
                *(call["id"] for call in entry.get("tool_calls", ())),
            ]
        )
        for entry in messages
    ]


def test_a_rollout(path: Path) -> None:
    """Items up to a count are one answer, whose size the count tells; its outputs come behind the count."""
    rollout = Rollout()
    rollout.say("developer", "rules", "more")
    rollout.say("user", "go")
    rollout.write("response_item", {"type": "reasoning", "summary": [], "encrypted_content": "x"})
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
    assert (recording.session, recording.format, recording.dialect) == ("s1", "codex", "openai")
    seen = ["s: Be brief.", "d: rules+more", "u: go", "a: I look c1 c2", "t: c2 out", "t: c1 out", "a: done"]
    assert shape(first.history) == seen
    assert first.history[3]["tool_calls"][0]["function"] == {"name": "exec", "arguments": '{"cmd":"ls"}'}
    assert (first.length, second.length) == (3, 6)
    assert first.usage == {
        "prompt_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens": 5,
    }
    assert second.usage is not None
    assert second.usage["prompt_tokens"] == 150
    assert (first.now - T0, second.now - T0, first.model) == (5, 13, "gpt")
    assert recording.records == 8
    assert recording.skipped == {"reasoning items": 1, "event_msg records": 4}
    assert recording.notes == ["reasoning is encrypted, so it is not in the messages"]


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
    usages = [request.usage and request.usage["prompt_tokens"] for request in rollout.read(path).requests]
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
    seen = ["s: Be brief.", "u: go", "a: c1", "t: c1 out", "a: c2", "t: c2 out", "u: hurry", "a: done"]
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


def test_other_kinds_of_calls(path: Path) -> None:
    """A custom tool's text becomes an argument, a shell call's action its arguments; a search has no result."""
    rollout = Rollout()
    rollout.say("user", "go")
    patch = {"type": "custom_tool_call", "name": "apply_patch", "input": "*** patch", "call_id": "c1"}
    rollout.write("response_item", patch)
    shell = {"type": "local_shell_call", "call_id": "c2", "action": {"command": ["ls"]}}
    rollout.write("response_item", shell)
    rollout.write("response_item", {"type": "web_search_call", "action": {"query": "x"}})
    rollout.out("c1", '{"output": "ok"}', "custom_tool_call_output")
    rollout.out("c2", [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}])
    recording = rollout.read(path)
    history = recording.requests[0].history
    functions = [call["function"] for call in history[2]["tool_calls"]]
    assert functions == [
        {"name": "apply_patch", "arguments": '{"input": "*** patch"}'},
        {"name": "local_shell", "arguments": '{"command": ["ls"]}'},
    ]
    assert shape(history[3:]) == ['t: c1 {"output": "ok"}', "t: c2 a\nb"]
    assert recording.skipped["web_search_call items"] == 1


def test_images(path: Path) -> None:
    """An image of the user becomes a part of OpenAI's chat format."""
    rollout = Rollout()
    content = [{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": "data:image/png;base64,"}]
    rollout.write("response_item", {"type": "message", "role": "user", "content": content})
    rollout.say("assistant", "nice")
    assert rollout.read(path).requests[0].messages[1]["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}},
    ]


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
    assert shape(first.history) == ["s: Be brief.", "d: rules", "u: go", "a: c1", "t: c1 out"]
    assert shape(second.messages) == ["s: Be brief.", "u: so far", "a: c0", "t: c0 old", "u: on"]
    assert (first.branch, second.branch) == (0, 1)
    assert second.usage is not None
    assert second.usage["prompt_tokens"] == 50
    assert recording.notes == ["line 10: compaction, 5 messages before, 4 after"]
    assert recording.records == 6


def test_a_compaction_with_a_summary_alone(path: Path) -> None:
    """What the model did not say is kept, without an earlier summary, and the summary comes behind it."""
    rollout = compacted(message="summary 1")
    rollout.write("compacted", {"message": "summary 2"})
    rollout.say("assistant", "bye")
    requests = rollout.read(path).requests
    assert shape(requests[1].messages) == ["s: Be brief.", "d: rules", "u: go", "u: summary 1", "u: on"]
    assert shape(requests[2].messages) == ["s: Be brief.", "d: rules", "u: go", "u: on", "u: summary 2"]
    assert [request.branch for request in requests] == [0, 1, 2]
