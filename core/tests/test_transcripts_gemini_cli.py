"""Sessions of Gemini CLI: each trap of the format on a small recording made for it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from trimtab.transcripts import Recording, read

T0 = datetime(2026, 1, 2, tzinfo=UTC).timestamp()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file whose name says nothing about its format."""
    return tmp_path / "recorded"


def at(second: int) -> str:
    """A time."""
    return datetime.fromtimestamp(T0 + second, UTC).isoformat().replace("+00:00", "Z")


def user(second: int, content: Any) -> dict[str, Any]:
    """A user's message."""
    return {"id": "u", "timestamp": at(second), "type": "user", "content": content}


def answer(second: int, content: str, *calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A model's message."""
    tokens = {"input": 100, "output": 5, "cached": 60, "thoughts": 3, "tool": 2, "total": 110}
    head = {"id": "g", "timestamp": at(second), "type": "gemini", "content": content, "thoughts": [], "model": "pro"}
    return {**head, "tokens": tokens, **({"toolCalls": list(calls)} if calls else {}), **fields}


def call(id: str, response: Any, second: int = 1) -> dict[str, Any]:
    """A call with its result inside, or without one."""
    result = {} if response is None else {"result": [{"functionResponse": {"id": id, "response": response}}]}
    return {"id": id, "name": "read_file", "args": {"path": id}, "timestamp": at(second), "status": "success", **result}


def made(path: Path, *messages: Any) -> Recording:
    """Write a session and read it."""
    path.write_text(json.dumps({"sessionId": "s1", "projectHash": "h", "messages": list(messages)}), encoding="utf-8")
    return read(path)


def wire(id: str) -> dict[str, Any]:
    """The call as it is sent."""
    return {"id": id, "type": "function", "function": {"name": "read_file", "arguments": json.dumps({"path": id})}}


def test_results_come_out_of_their_calls(path: Path) -> None:
    """A call's result is a message behind the answer; tokens from tools are prompt, thoughts completion."""
    recording = made(
        path,
        user(0, "go"),
        answer(2, "", call("c1", {"output": "out"})),
        answer(4, "done"),
    )
    first, second = recording.requests
    assert (recording.session, recording.format, recording.dialect) == ("s1", "gemini-cli", "openai")
    assert first.history == [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [wire("c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": "out"},
        {"role": "assistant", "content": "done"},
    ]
    assert (first.length, second.length) == (1, 3)
    assert (first.now - T0, second.now - T0, first.model) == (0, 2, "pro")
    assert first.usage == {
        "prompt_tokens": 102,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens": 8,
    }
    assert (recording.records, recording.skipped, recording.notes) == (3, {}, [])


def test_merged_rounds_are_one_batch(path: Path) -> None:
    """Rounds in one record (calls of several times) stay one answer with all results behind it; a note says so."""
    calls = [call("c1", {"output": "1"}), call("c2", {"output": "2"}), call("c3", {"error": "no"}, 7)]
    recording = made(path, user(0, "go"), answer(8, "look", *calls), answer(9, "done"))
    history = recording.requests[0].history
    assert [entry["role"] for entry in history] == ["user", "assistant", "tool", "tool", "tool", "assistant"]
    assert (history[1]["content"], [entry["content"] for entry in history[2:5]]) == ("look", ["1", "2", "no"])
    assert recording.notes == ["answers that merge several rounds, each read as one batch of calls: 1"]


def test_calls_without_a_result_are_left_out_but_at_the_end(path: Path) -> None:
    """A cancelled call was answered by nothing; the last answer may still wait."""
    recording = made(
        path,
        user(0, "go"),
        answer(1, "look", call("c1", None)),
        answer(2, "", call("c2", None)),
        user(3, "well?"),
        answer(4, "", call("c3", None)),
    )
    assert [entry["role"] for entry in recording.requests[0].history] == ["user", "assistant", "user", "assistant"]
    assert recording.requests[-1].answer == {"role": "assistant", "content": None, "tool_calls": [wire("c3")]}
    assert recording.skipped == {"calls without a result": 2, "answers without content": 1}


def test_other_records_and_contents(path: Path) -> None:
    """What the user was shown is counted, thoughts are; parts and structured results become text."""
    recording = made(
        path,
        user(0, [{"text": "go"}, {"text": "on"}]),
        {"type": "info", "content": "updated", "timestamp": at(1)},
        answer(2, "", call("c1", {"rows": [1]}), thoughts=[{"subject": "hm"}], tokens={"input": 0}),
        answer(3, "done"),
    )
    assert recording.requests[0].history[0]["content"] == "go\non"
    assert recording.requests[0].history[2]["content"] == '{"rows": [1]}'
    assert recording.requests[0].usage is None
    assert recording.skipped == {"info records": 1, "thoughts": 1}
