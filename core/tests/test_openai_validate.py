"""The strict check of chat messages: a bad list for each rule, its place, and whether it is certain."""

from __future__ import annotations

import time
from typing import Any

import pytest
from trimtab.dialects.openai import validate

GO = {"role": "user", "content": "go"}
CALL = {"id": "a", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
ANSWER = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": ""}
OTHER = {**CALL, "id": "b"}
CUSTOM = {"id": "a", "type": "custom", "custom": {"name": "patch", "input": "x"}}

GOOD = {
    "a round": [GO, ANSWER, RESULT],
    "two calls": [GO, {**ANSWER, "tool_calls": [CALL, OTHER]}, {**RESULT, "tool_call_id": "b"}, RESULT],
    "an id used again": [GO, ANSWER, RESULT, ANSWER, RESULT],
    "a custom tool": [GO, {**ANSWER, "tool_calls": [CUSTOM]}, RESULT],
    "roles in any order": [GO, GO, {"role": "assistant", "content": "x"}, {"role": "assistant", "content": "y"}, GO],
    "the old kind": [GO, {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}],
    "parts": [{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {}}]}],
}

BAD: dict[str, tuple[list[Any], list[tuple[str, str, bool]]]] = {
    "C1 no result": ([GO, ANSWER, GO], [("C1", "messages[1].tool_calls[0]", True)]),
    "C1 at the end": ([GO, ANSWER], [("C1", "messages[1].tool_calls[0]", True)]),
    "C1 one of two": (
        [GO, {**ANSWER, "tool_calls": [CALL, OTHER]}, RESULT],
        [("C1", "messages[1].tool_calls[1]", True)],
    ),
    "C1 and C2 something between": (
        [GO, ANSWER, GO, RESULT],
        [("C1", "messages[1].tool_calls[0]", True), ("C2", "messages[3]", True)],
    ),
    "C1 an id twice": (
        [GO, {**ANSWER, "tool_calls": [CALL, CALL]}, RESULT],
        [("C1", "messages[1].tool_calls[1]", False)],
    ),
    "C2 no call": ([GO, RESULT], [("C2", "messages[1]", True)]),
    "C2 another call": (
        [GO, ANSWER, RESULT, {**RESULT, "tool_call_id": "x"}],
        [("C2", "messages[3]", True)],
    ),
    "C2 a result twice": ([GO, ANSWER, RESULT, RESULT], [("C2", "messages[3]", False)]),
    "C3": ([{"role": "assistant", "content": "x", "tool_calls": []}], [("C3", "messages[0].tool_calls", False)]),
    "no messages": ([], [("shape", "messages", True)]),
    "a role": ([{"role": "robot", "content": "x"}], [("role", "messages[0]", True)]),
    "no object": ([5], [("role", "messages[0]", True)]),
    "no content": ([{"role": "user"}], [("empty", "messages[0].content", True)]),
    "no parts": ([{"role": "user", "content": []}], [("empty", "messages[0].content", True)]),
    "an answer of nothing": ([{"role": "assistant", "content": None}], [("empty", "messages[0].content", True)]),
    "a blank text": ([{"role": "user", "content": " "}], [("empty", "messages[0].content", False)]),
    "a result of null": ([GO, ANSWER, {**RESULT, "content": None}], [("empty", "messages[2].content", True)]),
    "content a number": ([{"role": "user", "content": 5}], [("shape", "messages[0].content", True)]),
    "a part": ([{"role": "user", "content": ["x"]}], [("shape", "messages[0].content[0]", True)]),
    "a part without text": (
        [{"role": "user", "content": [{"type": "text"}]}],
        [("shape", "messages[0].content[0]", True)],
    ),
    "a part of another role": (
        [{"role": "assistant", "content": [{"type": "image_url"}]}],
        [("role", "messages[0].content[0]", False)],
    ),
    "a result without id": ([GO, {"role": "tool", "content": ""}], [("shape", "messages[1].tool_call_id", True)]),
    "calls no list": ([{**ANSWER, "tool_calls": "x"}], [("shape", "messages[0].tool_calls", True)]),
    "a call without id": (
        [GO, {**ANSWER, "tool_calls": [{**CALL, "id": ""}]}],
        [("shape", "messages[1].tool_calls[0].id", True)],
    ),
    "a call without name": (
        [GO, {**ANSWER, "tool_calls": [{**CALL, "function": {"arguments": ""}}]}, RESULT],
        [("shape", "messages[1].tool_calls[0]", True)],
    ),
    "arguments no text": (
        [GO, {**ANSWER, "tool_calls": [{**CALL, "function": {"name": "f", "arguments": {}}}]}, RESULT],
        [("shape", "messages[1].tool_calls[0]", False)],
    ),
    "half a character": ([{"role": "user", "content": "\ud83d"}], [("surrogate", "messages[0]", True)]),
}


@pytest.mark.parametrize("name", GOOD)
def test_good_lists(name: str) -> None:
    """What OpenAI takes has no violation."""
    assert validate(GOOD[name]) == []


@pytest.mark.parametrize("name", BAD)
def test_bad_lists(name: str) -> None:
    """Each rule is found, at its place, and only what surely is refused is certain."""
    messages, expected = BAD[name]
    assert [(one.rule, one.where, one.certain) for one in validate(messages)] == expected


def test_it_is_fast() -> None:
    """20,000 messages take less than two seconds."""
    start = time.perf_counter()
    assert validate([GO, *[ANSWER, {**RESULT, "content": "é" * 500}] * 10_000]) == []
    assert time.perf_counter() - start < 2
