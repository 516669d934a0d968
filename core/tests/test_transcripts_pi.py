"""Sessions of pi: each trap of the format on a small recording made for it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from trimtab.transcripts import Recording, read

T0 = datetime(2026, 1, 2, tzinfo=UTC).timestamp()
NOTHING = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}


class Session:
    """Writes lines as pi does, a second apart unless told otherwise."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.write("session", id="s1", provider="anthropic")

    def write(self, type: str, second: float | None = None, **fields: Any) -> None:
        """Write one line."""
        time = datetime.fromtimestamp(T0 + (len(self.lines) if second is None else second), UTC).isoformat()
        self.lines.append(json.dumps({"type": type, "timestamp": time.replace("+00:00", "Z"), **fields}))

    def user(self, text: str, **fields: Any) -> None:
        """Write a user's message."""
        self.write("message", message={"role": "user", "content": [{"type": "text", "text": text}]}, **fields)

    def answer(self, *blocks: dict[str, Any], stop: str = "toolUse", usage: Any = None, **fields: Any) -> None:
        """Write an answer."""
        usage = usage or {"input": 3, "output": 9, "cacheRead": 80, "cacheWrite": 20, "cost": {"total": 1}}
        message = {"role": "assistant", "content": list(blocks), "model": "sonnet", "usage": usage, "stopReason": stop}
        self.write("message", message=message, **fields)

    def result(self, id: str, *blocks: dict[str, Any], error: bool = False) -> None:
        """Write a result."""
        content = list(blocks) or [{"type": "text", "text": "out"}]
        message = {"role": "toolResult", "toolCallId": id, "toolName": "read", "content": content, "isError": error}
        self.write("message", message=message)

    def read(self, path: Path) -> Recording:
        """Write the file and read it."""
        path.write_text("\n".join(self.lines), encoding="utf-8")
        return read(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file whose name says nothing about its format."""
    return tmp_path / "recorded"


def text(value: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": value}


def call(id: str) -> dict[str, Any]:
    """A call as pi keeps it."""
    return {"type": "toolCall", "id": id, "name": "read", "arguments": {"path": id}, "partialJson": 3}


def shape(messages: list[dict[str, Any]]) -> list[str]:
    """Messages in short: role, then each text, call or the call answered."""
    keys = ("text", "thinking", "tool_use_id", "id", "type")
    return [
        f"{entry['role'][0]}: "
        + " ".join(next(block[key] for key in keys if key in block) for block in entry["content"])
        for entry in messages
    ]


def test_a_session(path: Path) -> None:
    """Each answer is a request in Anthropic's form; results of one answer are one message."""
    session = Session()
    session.user("go")
    session.answer({"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"}, call("c1"), call("c2"))
    session.result("c1")
    session.result("c2", text("no"), error=True)
    session.answer(text("done"), stop="stop")
    session.write("thinking_level_change", thinkingLevel="off")
    recording = session.read(path)
    first, second = recording.requests
    assert (recording.session, recording.format, recording.dialect) == ("s1", "pi", "anthropic")
    assert second.history == [
        {"role": "user", "content": [text("go")]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "c1"}},
                {"type": "tool_use", "id": "c2", "name": "read", "input": {"path": "c2"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [text("out")]},
                {"type": "tool_result", "tool_use_id": "c2", "content": [text("no")], "is_error": True},
            ],
        },
        {"role": "assistant", "content": [text("done")]},
    ]
    assert (first.length, second.length, first.model) == (1, 3, "sonnet")
    assert (first.now - T0, second.now - T0) == (1, 4)
    assert first.usage == {
        "input_tokens": 3,
        "cache_read_input_tokens": 80,
        "cache_creation_input_tokens": 20,
        "output_tokens": 9,
    }
    assert (recording.records, recording.notes) == (5, [])
    assert recording.skipped == {"thinking_level_change records": 1}


def test_aborted_answers(path: Path) -> None:
    """Calls without a result are left out, an answer without anything else too; zero usage is no size."""
    session = Session()
    session.user("go")
    session.answer(text("I"), call("c1"), call("c2"), stop="error")
    session.user("again")
    session.answer(call("c3"), stop="aborted")
    session.answer(stop="aborted", usage=NOTHING)
    session.user("well?")
    session.answer(text("done"), stop="stop", usage=NOTHING)
    recording = session.read(path)
    assert shape(recording.requests[-1].history) == ["u: go", "a: I", "u: again", "u: well?", "a: done"]
    assert [request.usage is None for request in recording.requests] == [False, True]
    assert recording.skipped == {"calls without a result": 3, "answers without content": 2}
    assert recording.records == 5


@pytest.mark.parametrize(("stop", "calls"), [("toolUse", 1), ("aborted", 0)])
def test_the_last_answer_may_wait_for_its_result(path: Path, stop: str, calls: int) -> None:
    """A session that was cut off while a tool ran ends on its call, unless that was aborted."""
    session = Session()
    session.user("go")
    session.answer(text("I"), call("c1"), stop=stop)
    answer = session.read(path).requests[0].answer
    assert answer is not None
    assert [block["type"] for block in answer["content"]] == ["text"] + calls * ["tool_use"]


def test_clocks_never_run_back(path: Path) -> None:
    """A line with an earlier time, or none that can be read, leaves the clock as it is."""
    session = Session()
    session.user("go", second=50)
    session.answer(text("yes"), second=60)
    session.write("model_change", 10)
    session.user("more", second=20)
    session.answer(text("no"), second=30)
    session.user("and?", second=70)
    session.answer(text("done"), second=80)
    assert [request.now - T0 for request in session.read(path).requests] == [50, 60, 70]


def test_blocks_that_cannot_be_sent(path: Path) -> None:
    """Thinking without its signature is refused by the provider; images become Anthropic's."""
    session = Session()
    session.user("go")
    session.answer({"type": "thinking", "thinking": "hm"}, call("c1"))
    session.result("c1", {"type": "image", "data": "aGk=", "mimeType": "image/png"})
    session.answer(text("done"))
    recording = session.read(path)
    assert shape(recording.requests[-1].history) == ["u: go", "a: c1", "u: c1", "a: done"]
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    assert recording.requests[-1].history[2]["content"][0]["content"] == [{"type": "image", "source": source}]
    assert recording.skipped == {"thinking blocks that cannot be sent": 1}


@pytest.mark.parametrize("kept", [{"firstKeptEntryIndex": 3}, {"firstKeptEntryId": "e3"}])
def test_a_compaction(path: Path, kept: dict[str, Any]) -> None:
    """A compaction starts a branch: its summary, then the messages from the first kept line on, which ask nothing."""
    session = Session()
    session.user("go", id="e1")
    session.answer(call("c1"), call("lost"), id="e2")
    session.result("c1")
    session.lines[-1] = json.dumps({**json.loads(session.lines[-1]), "id": "e3"})
    session.answer(text("yes"), id="e4")
    session.write("compaction", tokensBefore=100, summary="so far", **kept)
    session.user("on")
    session.answer(text("done"))
    recording = session.read(path)
    assert [request.branch for request in recording.requests] == [0, 0, 1]
    assert shape(recording.requests[1].history) == ["u: go", "a: c1", "u: c1", "a: yes"]
    assert shape(recording.requests[2].messages) == ["u: so far", "u: c1", "a: yes", "u: on"]
    assert recording.notes == ["line 6: compaction, 4 messages before, 3 after"]
    assert (recording.records, recording.skipped) == (6, {"calls without a result": 1})
