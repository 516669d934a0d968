"""Which files are read and how: formats by content, plain message lists, damaged files, errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trimtab.errors import TranscriptError
from trimtab.transcripts import FORMATS, read

UNKNOWN = "JSON, but no recorded conversation that a reader knows"
KNOWN = ", ".join(sorted(format.name for format in FORMATS))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file whose name says nothing about its format."""
    return tmp_path / "recorded"


def record(number: int, type: str = "assistant") -> dict[str, Any]:
    """A record of a coding agent's session."""
    content = [{"type": "text", "text": "yes"}] if type == "assistant" else "go"
    message = {"id": f"m{number}", "role": type, "content": content}
    return {"type": type, "uuid": f"u{number}", "parentUuid": None, "message": message}


LISTED: list[dict[str, Any]] = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "out"}]},
    {"role": "user", "content": "and hurry"},
    {"role": "assistant", "content": "done"},
    {"role": "user", "content": "thanks"},
]


@pytest.mark.parametrize("form", ["list", "lines", "request", "pretty", "marked"])
def test_plain_message_lists(path: Path, form: str) -> None:
    """A list, an object or a message a line: each assistant message is one request, ten seconds apart."""
    head = {"system": "Be brief.", "tools": [{"name": "Read"}]} if form == "request" else {}
    data = {
        "list": json.dumps(LISTED),
        "lines": "\n".join(map(json.dumps, LISTED)),
        "request": json.dumps({**head, "messages": LISTED}),
        "pretty": json.dumps(LISTED, indent=2),
        "marked": "\ufeff" + json.dumps(LISTED) + "\n\n",
    }[form]
    path.write_text(data, encoding="utf-8")
    recording = read(path)
    assert (recording.format, recording.dialect, recording.session) == ("messages", "anthropic", "recorded")
    assert [request.messages for request in recording.requests] == [LISTED[:1], LISTED[:4]]
    assert [request.now for request in recording.requests] == [0.0, 10.0]
    assert [request.usage for request in recording.requests] == [None, None]
    assert recording.requests[1].answer == LISTED[4]
    assert recording.requests[0].history is recording.requests[1].history
    assert (recording.system, recording.tools) == (head.get("system"), head.get("tools"))
    assert (recording.records, recording.skipped) == (6, {})
    assert recording.notes == ["no clock recorded: a request every 10 s"]


def test_a_list_that_starts_with_an_answer(path: Path) -> None:
    """An assistant message with nothing before it is part of the history but no request."""
    path.write_text(json.dumps(LISTED[1:]), encoding="utf-8")
    recording = read(path)
    assert [request.length for request in recording.requests] == [3]
    assert recording.skipped == {"answers without a request": 1}


def test_a_few_bad_lines_are_skipped_and_counted(path: Path) -> None:
    """An otherwise good file is read: lines of no UTF-8, no JSON, no object, and one cut off at the end."""
    lines = [json.dumps(record(0, "user")).encode()]
    lines += [json.dumps(record(number)).encode() for number in range(1, 41)]
    lines[7:7] = [b'{"type":"user","message":"\xff"}', b"3", lines[3] + b'{"type":"us']
    path.write_bytes(b"\n".join(lines) + b'\n{"type":"assistant","mess')
    recording = read(path)
    assert recording.format == "claude-code"
    assert recording.skipped == {"undecodable lines": 3, "truncated last line": 1, "duplicate records": 1}
    assert len(recording.requests) == 40


BROKEN: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "{path}:1: the file is empty"),
    "blank": (b" \n\n", "{path}:1: the file is empty"),
    "no JSON": (b"hello\nworld\n", "{path}:1: not JSON: Expecting value"),
    "no UTF-8": (
        b"\xff\xfe\0h\0i",
        "{path}:1: not JSON: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
    ),
    "list cut off": (
        b'[\n{"role": "user", "content": "go"},\n{"role": "us',
        "{path}:3: not JSON: Unterminated string starting at",
    ),
    "many bad lines": (
        b'{"role": "user", "content": "go"}\n' + b"oops\n" * 9,
        "{path}:2: not JSON: Expecting value",
    ),
    "other JSON": (b'{"a": 1}', f"{{path}}:1: {UNKNOWN}: it holds no messages"),
    "a number": (b"3", f"{{path}}:1: {UNKNOWN}: it holds no messages"),
    "an empty list": (b"[]", f"{{path}}:1: {UNKNOWN}: it holds no messages"),
    "other lines": (
        b'\n{"a": 1}\n{"b": 2}\n',
        f"{{path}}:2: {UNKNOWN}: message 1 has no role",
    ),
    "another API's list": (
        json.dumps([{**LISTED[0], "tool_calls": []}]).encode(),
        f"{{path}}:1: {UNKNOWN}: message 1 has tool_calls",
    ),
    "another API's results": (
        json.dumps([*LISTED[:2], {"role": "tool", "content": "out"}]).encode(),
        f"{{path}}:1: {UNKNOWN}: message 3 has role 'tool'",
    ),
    "no content": (
        json.dumps({"messages": [LISTED[0], {"role": "assistant", "content": None}]}).encode(),
        f"{{path}}:1: {UNKNOWN}: message 2 has neither a text nor a list as content",
    ),
    "texts": (b'["go", "done"]', f"{{path}}:1: {UNKNOWN}: message 1 is not an object"),
    "another API's roles": (
        json.dumps([{"role": "system", "content": "be brief"}, *LISTED]).encode(),
        f"{{path}}:1: {UNKNOWN}: message 3 has a tool_use block",
    ),
    "a role that nobody has": (
        json.dumps([LISTED[0], {"role": "a text of " * 9, "content": "hm"}]).encode(),
        f"{{path}}:1: {UNKNOWN}: message 2 has role 'unknown'",
    ),
    "calls of another kind": (
        json.dumps([LISTED[0], {"role": "assistant", "content": None, "tool_calls": [{"name": "Read"}]}]).encode(),
        f"{{path}}:1: {UNKNOWN}: message 2 has tool_calls that are none",
    ),
    "codex without items": (
        b'{"type": "session_meta", "payload": {"id": "s1"}}\n{"type": "event_msg", "payload": {}}\n',
        "{path}:1: a recording of the format codex, but it holds no messages",
    ),
    "mini-swe-agent without messages": (
        b'{"trajectory_format": "mini-swe-agent-1.1", "info": {}}',
        "{path}:1: a recording of the format mini-swe-agent, but it holds no messages",
    ),
    "swe-agent without history": (
        b'{"trajectory": [], "history": [], "info": {}}',
        "{path}:1: a recording of the format swe-agent, but it holds no messages",
    ),
    "openhands without messages": (
        b'[{"id": 0, "source": "environment", "observation": "null"}]',
        "{path}:1: a recording of the format openhands, but it holds no messages",
    ),
    "gemini without messages": (
        b'{"sessionId": "s1", "messages": []}',
        f"{{path}}:1: {UNKNOWN}: it holds no messages",
    ),
    "pi without messages": (
        b'{"type": "session", "id": "s1"}\n{"type": "model_change", "modelId": "m"}\n',
        f"{{path}}:1: {UNKNOWN}: no record holds a user's or an assistant's message",
    ),
    "only titles": (
        b'{"type": "summary", "summary": "title"}\n{"type": "summary", "summary": "title"}\n',
        f"{{path}}:1: {UNKNOWN}: no record holds a user's or an assistant's message",
    ),
}


@pytest.mark.parametrize(("data", "message"), BROKEN.values(), ids=BROKEN)
def test_errors_name_the_line_what_is_wrong_and_the_formats(path: Path, data: bytes, message: str) -> None:
    """What no reader can use is refused with file, line, what, and the formats known."""
    path.write_bytes(data)
    with pytest.raises(TranscriptError) as error:
        read(path)
    assert str(error.value) == message.format(path=path) + f" (formats known: {KNOWN})"


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file and a folder are errors that name the path."""
    with pytest.raises(TranscriptError, match=r"gone: cannot be read: No such file"):
        read(tmp_path / "gone")
    with pytest.raises(TranscriptError, match=r"cannot be read: Is a directory"):
        read(tmp_path)


def test_nested_too_deep(path: Path) -> None:
    """JSON that no decoder takes is an error, not a crash."""
    path.write_text("[" * 200_000, encoding="utf-8")
    with pytest.raises(TranscriptError, match=r"recorded:1: not JSON"):
        read(path)


def test_formats_are_one_list() -> None:
    """Further readers join one list, the particular before the general."""
    names = [format.name for format in FORMATS]
    assert names[-2:] == ["messages", "openai-messages"]
    assert {"claude-code", "codex", "gemini-cli", "mini-swe-agent", "openhands", "pi", "swe-agent"} <= set(names)
    assert len(set(names)) == len(names)
