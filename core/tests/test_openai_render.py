"""Messages with faces, repairs, pins and summaries, as they go out in the chat format."""

from __future__ import annotations

from typing import Any

import pytest
from trimtab.conversation import Conversation, Message
from trimtab.counters.estimate import Estimate
from trimtab.dialects.openai import OpenAIChat

DIALECT = OpenAIChat()
PICTURE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
CALL = {"id": "a", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}


def node(message: dict[str, Any]) -> Message:
    """The message as the kernel holds it."""
    return Conversation(DIALECT, Estimate()).locate([message]).path[0]


def text(words: str) -> dict[str, Any]:
    """A text part."""
    return {"type": "text", "text": words}


@pytest.mark.parametrize("content", ["long", "", None, [text("long"), PICTURE]])
def test_a_result_shows_other_text(content: Any) -> None:
    """Its whole content is replaced; the id and what else it holds stay."""
    message = {"role": "tool", "tool_call_id": "a", "name": "bash", "content": content}
    assert DIALECT.render(node(message), {0: "short"}) == {**message, "content": "short"}


def test_the_old_kind_of_result() -> None:
    """Its name stays."""
    message = {"role": "function", "name": "f", "content": "long"}
    assert DIALECT.render(node(message), {0: "short"}) == {**message, "content": "short"}


def test_parts_show_other_text() -> None:
    """A text part its text, a picture a text part; a content of one string stays a string."""
    message = {"role": "user", "content": [text("a"), PICTURE, text("a"), PICTURE]}
    shown = DIALECT.render(node(message), {1: "[picture]", 2: "b"})
    assert shown == {"role": "user", "content": [text("a"), text("[picture]"), text("b"), PICTURE]}
    assert DIALECT.render(node({"role": "user", "content": "long"}), {0: "short"}) == {
        "role": "user",
        "content": "short",
    }


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        (CALL, {**CALL, "function": {"name": "bash", "arguments": '{"command": "-"}'}}),
        (
            {"id": "a", "type": "custom", "custom": {"name": "x", "input": "long"}},
            {"id": "a", "type": "custom", "custom": {"name": "x", "input": '{"command": "-"}'}},
        ),
    ],
)
def test_a_call_shows_other_arguments(call: Any, shown: Any) -> None:
    """As text; the other call is not touched."""
    message = {"role": "assistant", "content": None, "tool_calls": [call, CALL]}
    found = DIALECT.render(node(message), {0: '{"command": "-"}'})
    assert found == {**message, "tool_calls": [shown, CALL]}


def test_the_old_kind_of_call_shows_other_arguments() -> None:
    """In its own field."""
    message = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"x": 1}'}}
    found = DIALECT.render(node(message), {0: '{"x": 0}'})
    assert found["function_call"] == {"name": "f", "arguments": '{"x": 0}'}


def test_removed_thinking_beside_calls_leaves_the_key() -> None:
    """DeepSeek V4 and Kimi refuse calls without `reasoning_content`; empty will do, and it is no thinking any more."""
    message = {"role": "assistant", "content": "", "reasoning_content": "hm", "tool_calls": [CALL]}
    shown = DIALECT.render(node(message), {0: None})
    assert shown == {**message, "reasoning_content": ""}
    assert [block.type for block in DIALECT.parse(shown, "m")[1]] == ["tool_use"]


@pytest.mark.parametrize(
    "fields", [{"reasoning_content": "hm"}, {"reasoning": "hm"}, {"reasoning_content": "hm", "reasoning": "hm"}]
)
def test_removed_thinking_goes(fields: dict[str, str]) -> None:
    """Without calls the key goes, under whatever name, and all of them together."""
    message = {"role": "assistant", "content": "So.", **fields}
    assert DIALECT.render(node(message), {0: None}) == {"role": "assistant", "content": "So."}


def test_reasoning_under_another_name_leaves_nothing() -> None:
    """No key is invented for a server that has another one."""
    message = {"role": "assistant", "content": None, "reasoning": "hm", "tool_calls": [CALL]}
    assert DIALECT.render(node(message), {0: None}) == {"role": "assistant", "content": None, "tool_calls": [CALL]}


def test_rendering_leaves_the_original_alone() -> None:
    """What was said never changes."""
    message = node({"role": "assistant", "content": [text("long")], "reasoning_content": "hm", "tool_calls": [CALL]})
    before = repr(message.wire)
    DIALECT.render(message, {0: None, 1: "short", 2: '{"command": "-"}'})
    assert repr(message.wire) == before


def test_a_message_of_the_user() -> None:
    """Texts are one string, since not every server takes parts; with anything else all are parts."""
    assert DIALECT.user(["a"]) == {"role": "user", "content": "a"}
    assert DIALECT.user(["a", text("b")]) == {"role": "user", "content": "a\n\nb"}
    assert DIALECT.user(["a", PICTURE]) == {"role": "user", "content": [text("a"), PICTURE]}


def test_what_a_summary_carries() -> None:
    """Words, or the whole block with its media."""
    result = node({"role": "tool", "tool_call_id": "a", "content": [text("seen"), PICTURE]}).blocks[0]
    assert DIALECT.carry(result, "") == [text("seen"), PICTURE]
    assert DIALECT.carry(result, "see") == [text("see")]
    assert DIALECT.carry(node({"role": "user", "content": [PICTURE]}).blocks[0], "") == [PICTURE]
    assert DIALECT.carry(node({"role": "tool", "tool_call_id": "a", "content": ""}).blocks[0], "") == []


def test_system_text() -> None:
    """It is a message here, so the parameter stays what it is."""
    assert DIALECT.instruction("Be brief.") == {"role": "system", "content": "Be brief."}
    assert DIALECT.system(None, []) is None
    assert not DIALECT.breaks_all(node({"role": "user", "content": [PICTURE]}).blocks[0])
