"""Plain OpenAI lists, mini-swe-agent and SWE-agent: each trap on a small recording made for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trimtab.transcripts import Recording, read

SYSTEM = {"role": "system", "content": "Be brief."}
GO = {"role": "user", "content": "go"}
DONE = {"role": "assistant", "content": "done"}


def call(id: str, command: str = "ls") -> dict[str, Any]:
    """A call of the shell tool."""
    return {"id": id, "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": command})}}


def asked(*ids: str, content: Any = None) -> dict[str, Any]:
    """An answer that calls tools."""
    return {"role": "assistant", "content": content, "tool_calls": [call(id) for id in ids]}


def out(id: str, content: str = "out") -> dict[str, Any]:
    """A tool's result."""
    return {"role": "tool", "tool_call_id": id, "content": content}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file whose name says nothing about its format."""
    return tmp_path / "recorded"


def made(path: Path, document: Any) -> Recording:
    """Write one document and read it."""
    path.write_text(json.dumps(document), encoding="utf-8")
    return read(path)


# ------------------------------------------------------------------ plain lists

LISTED = [SYSTEM, GO, asked("c1", "c2"), out("c1"), out("c2"), DONE, {"role": "user", "content": "thanks"}]


@pytest.mark.parametrize("form", ["list", "lines", "request"])
def test_openai_lists(path: Path, form: str) -> None:
    """A list, an object or a message a line: each answer is a request, the system prompt the first message."""
    tools = [{"type": "function", "function": {"name": "bash"}}]
    data = {
        "list": json.dumps(LISTED),
        "lines": "\n".join(map(json.dumps, LISTED)),
        "request": json.dumps({"model": "m", "messages": LISTED, "tools": tools}),
    }[form]
    path.write_text(data, encoding="utf-8")
    recording = read(path)
    assert (recording.format, recording.dialect, recording.session) == ("openai-messages", "openai", "recorded")
    assert [request.messages for request in recording.requests] == [LISTED[:2], LISTED[:5]]
    assert recording.requests[1].answer == DONE
    assert recording.requests[0].history == LISTED
    assert [request.now for request in recording.requests] == [0.0, 10.0]
    assert (recording.system, recording.tools) == (None, tools if form == "request" else None)
    assert recording.notes == ["no clock recorded: a request every 10 s"]
    assert (recording.records, recording.skipped) == (7, {})


IMAGE = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}
TEXT = {"role": "user", "content": [{"type": "text", "text": "go"}]}
WHICH: dict[str, tuple[list[dict[str, Any]], str]] = {
    "texts": ([GO, DONE], "messages"),
    "text blocks": ([TEXT, DONE], "messages"),
    "system later": ([GO, SYSTEM, DONE], "messages"),
    "tool_use": ([GO, {"role": "assistant", "content": [{"type": "tool_use", "id": "t"}]}], "messages"),
    "tool_result": ([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}], "messages"),
    "system first": ([SYSTEM, GO, DONE], "openai-messages"),
    "developer": ([GO, {"role": "developer", "content": "hm"}, DONE], "openai-messages"),
    "image part": ([IMAGE, DONE], "openai-messages"),
    "tool role": ([GO, DONE, out("c1")], "openai-messages"),
    "tool calls": ([GO, asked("c1")], "openai-messages"),
    "no tool calls": ([GO, {**DONE, "tool_calls": None}], "openai-messages"),
    "a refusal": ([SYSTEM, GO, {"role": "assistant", "content": None, "refusal": "no"}], "openai-messages"),
    "a custom call": (
        [GO, {"role": "assistant", "tool_calls": [{"id": "c", "type": "custom", "custom": {"input": "x"}}]}],
        "openai-messages",
    ),
}


@pytest.mark.parametrize(("messages", "format"), WHICH.values(), ids=WHICH)
def test_lists_of_two_apis_are_told_apart(path: Path, messages: list[dict[str, Any]], format: str) -> None:
    """Calls, roles, parts and blocks tell whose list it is; where all is text, a system message in front does."""
    recording = made(path, messages)
    assert recording.format == format
    assert recording.dialect == ("anthropic" if format == "messages" else "openai")


# ------------------------------------------------------------------ mini-swe-agent

COUNTS = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36}


def answer(id: str, time: float, usage: Any = None, **fields: Any) -> dict[str, Any]:
    """An answer as mini-swe-agent keeps it."""
    response = {"model": "deepseek", "usage": {**COUNTS, "total_tokens": 107} if usage is None else usage}
    call_of_stream = {"index": 0, **call(id)}
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [call_of_stream],
        "function_call": None,
        "provider_specific_fields": {"reasoning_content": "hm"},
        "extra": {"response": response, "timestamp": time, "actions": [{"command": "ls"}]},
        **fields,
    }


def mini(*messages: Any) -> dict[str, Any]:
    """A trajectory."""
    return {"info": {}, "messages": list(messages), "trajectory_format": "mini-swe-agent-1.1", "instance_id": "i1"}


def test_mini_swe_agent(path: Path) -> None:
    """Only what was sent is kept; the run's end is none of it, and its unanswered call is the last answer."""
    result = {**out("c1", "out\r\n"), "extra": {"raw_output": "all of it", "timestamp": 103.5}}
    end = {"role": "exit", "content": "bye", "extra": {"submission": "bye"}}
    details = {"prompt_tokens_details": {"cached_tokens": 64}}
    first = answer("c1", 102.0, reasoning_content="why")
    recording = made(path, mini(SYSTEM, GO, first, result, answer("c2", 105.0, {**COUNTS, **details}), end))
    sent = [SYSTEM, GO, {**asked("c1", content=""), "reasoning_content": "why"}, out("c1", "out\r\n")]
    assert (recording.format, recording.dialect, recording.session) == ("mini-swe-agent", "openai", "i1")
    assert recording.requests[0].history == [*sent, asked("c2", content="")]
    assert [request.length for request in recording.requests] == [2, 4]
    assert [request.now for request in recording.requests] == [102.0, 103.5]
    assert [request.usage for request in recording.requests] == [COUNTS, {**COUNTS, **details}]
    assert {request.model for request in recording.requests} == {"deepseek"}
    assert recording.requests[1].answer == asked("c2", content="")
    assert (recording.records, recording.skipped, recording.notes) == (5, {"exit messages": 1}, [])


def test_mini_swe_agent_leaves_out_what_cannot_be_sent(path: Path) -> None:
    """Odd records, messages without content and calls without a name are counted; a missing size is None."""
    nameless = answer("c1", 3.0, {"prompt_tokens": 0}, content="hm", tool_calls=[{"id": "c1"}])
    recording = made(path, mini(GO, 3, {"role": "user", "content": None}, nameless))
    assert recording.requests[0].history == [GO, {"role": "assistant", "content": "hm"}]
    assert recording.requests[0].usage is None
    assert recording.skipped == {"odd records": 1, "messages without content": 1, "calls without id or name": 1}


# ------------------------------------------------------------------ SWE-agent


def swe(*history: Any) -> dict[str, Any]:
    """A trajectory; its steps say what the history says."""
    return {"environment": "e", "trajectory": [{"action": "ls"}], "history": list(history), "info": {}}


def observed(id: str, content: str = "out") -> dict[str, Any]:
    """A result as SWE-agent keeps it."""
    return {"role": "tool", "content": content, "agent": "main", "tool_call_ids": [id]}


def test_swe_agent_with_calls(path: Path) -> None:
    """Ids that repeat, next to each other or far apart, are made unique, past one that is taken; results follow."""
    answers = [{**asked(id, content="do"), "thought": "do", "action": "ls"} for id in ("c1", "c1", "c1-2", "c1")]
    steps = [step for each in answers for step in (each, observed(each["tool_calls"][0]["id"]))]
    recording = made(path, swe({**SYSTEM, "agent": "main"}, GO, *steps))
    ids = ["c1", "c1-3", "c1-2", "c1-4"]
    pairs = [message for id in ids for message in (asked(id, content="do"), out(id))]
    assert (recording.format, recording.dialect) == ("swe-agent", "openai")
    assert recording.requests[0].history == [SYSTEM, GO, *pairs]
    assert recording.notes == [
        "call ids that repeat, made unique by position: 2",
        "no clock recorded: a request every 10 s",
    ]
    assert [(request.now, request.usage) for request in recording.requests] == [(10.0 * n, None) for n in range(4)]


def test_swe_agent_repeats_in_one_answer(path: Path) -> None:
    """Two calls of one answer under one id get their results in order."""
    recording = made(path, swe(GO, asked("c", "c"), observed("c", "1"), observed("c", "2"), observed("c", "3")))
    assert recording.requests[0].history == [GO, asked("c", "c-2"), out("c", "1"), out("c-2", "2"), out("c", "3")]


def test_swe_agent_results_answer_the_calls_before_them(path: Path) -> None:
    """A call that nothing answered leaves the result of a later one, under the same id, alone."""
    recording = made(path, swe(GO, asked("c"), GO, asked("c"), observed("c")))
    assert recording.requests[0].history == [GO, asked("c"), GO, asked("c-2"), out("c-2")]


def test_swe_agent_in_text(path: Path) -> None:
    """Without calls the action stands in the answer, and what came of it is the user's next message."""
    demo = {"role": "user", "content": "like this", "is_demo": True, "agent": "main"}
    act = {"role": "assistant", "content": "look\n```\nls\n```", "thought": "look", "action": "ls"}
    recording = made(path, swe(SYSTEM, demo, act, {"role": "user", "content": "a b"}, DONE))
    assert recording.requests[1].messages == [
        SYSTEM,
        {"role": "user", "content": "like this"},
        {"role": "assistant", "content": "look\n```\nls\n```"},
        {"role": "user", "content": "a b"},
    ]
    assert recording.notes == ["no clock recorded: a request every 10 s"]
