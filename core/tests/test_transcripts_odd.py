"""Damaged sessions of every format: a recording or an error that says so, never anything else."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trimtab.errors import TranscriptError
from trimtab.transcripts import FORMATS, detect, read

TIME = "2026-01-02T00:00:00Z"
SECRET = "secret of the user"
CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
CHAT: list[Any] = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": SECRET},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": SECRET},
    {"role": "assistant", "content": SECRET},
]
ANTHROPIC: list[Any] = [
    {"role": "user", "content": SECRET},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "bash", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": SECRET}]},
    {"role": "assistant", "content": SECRET},
]


def claude_code() -> list[Any]:
    """One record a message."""
    kinds = [message["role"] for message in ANTHROPIC]
    return [
        {"type": kind, "uuid": f"u{n}", "sessionId": "s1", "timestamp": TIME, "message": {**message, "id": f"m{n}"}}
        for n, (kind, message) in enumerate(zip(kinds, ANTHROPIC, strict=True))
    ]


def codex() -> list[Any]:
    """A rollout with both kinds of compaction."""

    def message(role: str) -> dict[str, Any]:
        return {"type": "message", "role": role, "content": [{"type": "input_text", "text": SECRET}]}

    count = {"info": {"last_token_usage": {"input_tokens": 9, "cached_input_tokens": 1, "output_tokens": 1}}}
    lines = [
        ("session_meta", {"id": "s1", "base_instructions": {"text": "be brief"}}),
        ("turn_context", {"model": "gpt"}),
        ("response_item", message("user")),
        ("response_item", {"type": "function_call", "name": "bash", "arguments": "{}", "call_id": "c1"}),
        ("event_msg", {"type": "token_count", **count}),
        ("response_item", {"type": "function_call_output", "call_id": "c1", "output": SECRET}),
        ("compacted", {"message": "", "replacement_history": [message("user"), message("assistant")]}),
        ("response_item", message("assistant")),
        ("compacted", {"message": SECRET}),
        ("response_item", message("assistant")),
    ]
    return [{"timestamp": TIME, "type": type, "payload": payload} for type, payload in lines]


def pi() -> list[Any]:
    """A session with a compaction."""
    usage = {"input": 1, "output": 1, "cacheRead": 1, "cacheWrite": 1}
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {}}
    text = {"type": "text", "text": SECRET}
    answer = {"role": "assistant", "model": "m", "usage": usage, "stopReason": "toolUse"}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [text]},
        {**answer, "content": [call]},
        {"role": "toolResult", "toolCallId": "c1", "content": [text]},
    ]
    lines = [{"type": "message", "timestamp": TIME, "message": message} for message in messages]
    compaction = {"type": "compaction", "firstKeptEntryIndex": 1, "summary": SECRET}
    last = {"type": "message", "timestamp": TIME, "message": {**answer, "content": [text]}}
    return [{"type": "session", "id": "s1"}, *lines, compaction, last]


def openhands() -> list[Any]:
    """Events with a condensation."""
    model = {"id": "r", "model": "m", "choices": [{"message": CHAT[2]}], "usage": {"prompt_tokens": 9}}
    data = {"function_name": "bash", "tool_call_id": "c1", "model_response": model}
    events: list[dict[str, Any]] = [
        {"action": "system", "args": {"content": "be brief", "tools": []}},
        {"action": "message", "args": {"content": SECRET, "image_urls": ["data:"]}},
        {"action": "run", "args": {"command": "ls"}, "tool_call_metadata": data},
        {"observation": "run", "content": SECRET, "cause": 2},
        {"action": "condensation", "args": {"forgotten_event_ids": [2], "summary": SECRET, "summary_offset": 1}},
        {"action": "finish", "args": {"final_thought": SECRET}, "tool_call_metadata": {**data, "tool_call_id": "c2"}},
    ]
    sources = ["agent", "user", *["agent"] * 4]
    return [
        {"id": n, "timestamp": TIME, "source": source, **event}
        for n, (source, event) in enumerate(zip(sources, events, strict=True))
    ]


def gemini() -> dict[str, Any]:
    """A session."""
    result = [{"functionResponse": {"id": "c1", "response": {"output": SECRET}}}]
    call = {"id": "c1", "name": "read", "args": {}, "timestamp": TIME, "result": result}
    tokens = {"input": 9, "output": 1, "cached": 1, "thoughts": 1, "tool": 1}
    answer = {"type": "gemini", "timestamp": TIME, "content": SECRET, "toolCalls": [call], "tokens": tokens}
    return {"sessionId": "s1", "messages": [{"type": "user", "timestamp": TIME, "content": SECRET}, answer]}


def mini() -> dict[str, Any]:
    """A trajectory."""
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}}
    extra = {"timestamp": 1.5, "response": {"model": "m", "usage": usage}}
    messages = [*({**message, "extra": extra} for message in CHAT), {"role": "exit", "content": SECRET}]
    return {"trajectory_format": "mini-swe-agent-1.1", "info": {}, "instance_id": "i1", "messages": messages}


def swe() -> dict[str, Any]:
    """A trajectory whose ids repeat."""
    observed = {"role": "tool", "tool_call_ids": ["c1"], "content": SECRET}
    return {"trajectory": [], "history": [*CHAT[:3], observed, CHAT[2], observed], "info": {}}


WHOLE: dict[str, Any] = {
    "claude-code": claude_code(),
    "codex": codex(),
    "gemini-cli": gemini(),
    "messages": ANTHROPIC,
    "mini-swe-agent": mini(),
    "openai-messages": {"messages": CHAT, "tools": []},
    "openhands": openhands(),
    "pi": pi(),
    "swe-agent": swe(),
}
LINES = ("claude-code", "codex", "pi")


def written(document: Any, lines: bool) -> bytes:
    """A document as one JSON value, or a list as one value a line."""
    split = document if lines and isinstance(document, list) else [document]
    return "".join(json.dumps(value) + "\n" for value in split).encode()


@pytest.mark.parametrize("name", WHOLE)
def test_whole_ones_are_what_they_are_and_show_nothing(name: str, tmp_path: Path) -> None:
    """Each sample is read by its own reader, to its last answer; no repr shows what was said."""
    path = tmp_path / "recorded"
    path.write_bytes(written(WHOLE[name], name in LINES))
    recording = read(path)
    assert recording.format == name
    assert recording.requests[-1].answer is recording.requests[-1].history[recording.requests[-1].length]
    assert SECRET not in repr(recording) + repr(recording.requests)


def test_every_format_is_tried() -> None:
    """A new format of somebody else's has to be damaged here too; what we record ourselves has its own tests."""
    assert sorted(WHOLE) == sorted({format.name for format in FORMATS} - {"recorded"})


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each container with each of its keys or indexes, at any depth."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


NUMBERS: list[Any] = [None, True, False, 0, -1, 3, 10**400, 1e308, float("nan"), float("inf")]
TEXTS: list[Any] = ["", "x", "c1", "user", "\ud800", "0001-01-01"]
DEEP: list[Any] = [[], {}, [None], ["x"], [[]], [{}], {"x": 1}, {"type": "text"}, {"id": {}}, [{"type": []}]]
ODD = st.sampled_from([*NUMBERS, *TEXTS, *DEEP])
CHANGES = st.lists(st.tuples(st.integers(0, 10**4), st.none() | ODD.map(lambda odd: [odd])), min_size=1, max_size=4)


@settings(max_examples=600, deadline=2000)
@given(name=st.sampled_from(sorted(WHOLE)), changes=CHANGES, cut=st.none() | st.integers(1, 400))
@example(name="openhands", changes=[(0, [{}])], cut=None)
def test_damaged_ones_give_a_recording_or_an_error(
    name: str, changes: list[tuple[int, list[Any] | None]], cut: int | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With keys dropped, values of other types and the end cut off: requests in order, or an error, and soon."""
    document = copy.deepcopy(WHOLE[name])
    for number, change in changes:
        found = list(places(document))
        container, key = found[number % len(found)] if found else ([None], 0)
        if change is None:
            del container[key]
        else:
            container[key] = copy.deepcopy(change[0])
    path = tmp_path_factory.getbasetemp() / "odd"
    data = written(document, name in LINES)
    path.write_bytes(data[:-cut] if cut else data)
    begin = time.perf_counter()
    try:
        recording = read(path)
    except TranscriptError:
        return
    assert time.perf_counter() - begin < 1
    clocks = [request.now for request in recording.requests]
    assert clocks == sorted(clocks)
    for request in recording.requests:
        assert 0 < request.length < len(request.history)
        for message in request.history:
            assert any(isinstance(message.get(key), str) for key in ("role", "type"))
    repr(recording)


@pytest.mark.parametrize("error", [RecursionError, TypeError, OverflowError, KeyError, AttributeError, MemoryError])
@pytest.mark.parametrize("step", ["sniff", "read"])
def test_what_a_reader_stumbles_over_is_named(
    step: str, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The format and the file, as the one kind of error that a caller has to expect."""

    def stumble(source: object) -> Any:
        raise error("over it")

    steps: dict[str, Any] = {"sniff": lambda source: True, "read": stumble, step: stumble}
    monkeypatch.setattr(detect, "FORMATS", (detect.Format("theirs", **steps),))
    path = tmp_path / "recorded"
    path.write_bytes(written(ANTHROPIC, False))
    with pytest.raises(TranscriptError, match=rf"recorded: damaged: .*theirs.*{error.__name__}"):
        read(path)
