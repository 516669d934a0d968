"""How chat messages are read: blocks, spellings, markers, SDK objects, sizes."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from trimtab.conversation import Conversation
from trimtab.counters.estimate import Estimate
from trimtab.dialects.openai import OpenAIChat

DIALECT = OpenAIChat()
PICTURE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}


def call(id: str = "c1", name: str = "bash", arguments: str = '{"command": "ls"}') -> dict[str, Any]:
    """An entry of tool_calls."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


ANSWER = {"role": "assistant", "reasoning_content": "hm", "content": "I look.", "tool_calls": [call(), call("c2")]}


def blocks(message: dict[str, Any]) -> list[tuple[str, str]]:
    """Type and text of each block."""
    return [(block.type, block.text) for block in DIALECT.parse(DIALECT.plain(message), "m")[1]]


def test_an_answer_in_the_order_of_a_model() -> None:
    """Reasoning, content, calls; each call with its id, name and decoded arguments."""
    role, found = DIALECT.parse(ANSWER, "m")
    assert role == "assistant"
    assert [block.id for block in found] == ["m.0", "m.1", "m.2", "m.3"]
    assert [block.type for block in found] == ["thinking", "text", "tool_use", "tool_use"]
    assert (found[2].call, found[2].name, found[2].input) == ("c1", "bash", {"command": "ls"})
    assert found[2].text == '{"command": "ls"}'


@pytest.mark.parametrize("role", ["function", "tool"])
@pytest.mark.parametrize("content", ["done", [{"type": "text", "text": "do"}, {"type": "text", "text": "ne"}], ""])
def test_a_result_is_a_message_of_the_user(role: str, content: Any) -> None:
    """One tool_result block, whatever its content, of kind `results`; the old kind is known by its name."""
    message = {"role": role, "content": content, **({"name": "f"} if role == "function" else {"tool_call_id": "f"})}
    node = Conversation(DIALECT, Estimate()).locate([message]).path[0]
    assert (node.role, node.kind, len(node.blocks)) == ("user", "results", 1)
    assert node.blocks[0].call == "f"
    assert node.blocks[0].text.replace("\n", "") == ("done" if content else "")


def test_the_old_kind_of_call() -> None:
    """A function_call is a call whose id is its name."""
    message = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"x": 1}'}}
    (found,) = DIALECT.parse(message, "m")[1]
    assert (found.type, found.call, found.name, found.input) == ("tool_use", "f", "f", {"x": 1})


def test_a_call_of_a_custom_tool() -> None:
    """Its input is text."""
    entry = {"id": "c", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    (found,) = DIALECT.parse({"role": "assistant", "tool_calls": [entry]}, "m")[1]
    assert (found.name, found.text, found.input) == ("patch", "*** Begin", {})


@pytest.mark.parametrize("arguments", ["", "{", "[1]", "null", None, 5, "[" * 100_000])
def test_arguments_that_are_no_object(arguments: Any) -> None:
    """They count as none, and their text stays."""
    (found,) = DIALECT.parse({"role": "assistant", "tool_calls": [call(arguments=arguments)]}, "m")[1]
    assert found.input == {}
    assert isinstance(found.text, str)


def test_parts() -> None:
    """Texts, pictures, files; what the kernel has no word for is `other`, a refusal with its text."""
    audio = {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}
    parts = [{"type": "text", "text": "a"}, PICTURE, {"type": "file", "file": {"file_id": "f"}}, audio]
    assert blocks({"role": "user", "content": parts}) == [("text", "a"), ("image", ""), ("document", ""), ("other", "")]
    refusal = {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
    assert blocks(refusal) == [("other", "No.")]


@pytest.mark.parametrize(
    ("role", "known"), [("system", "system"), ("developer", "system"), ("user", "user"), ("robot", "user")]
)
def test_roles(role: str, known: str) -> None:
    """A developer speaks as the system; an unknown role as the user."""
    assert DIALECT.parse({"role": role, "content": "x"}, "m")[0] == known


SAME = [
    ({"role": "user", "content": "x"}, {"role": "user", "content": [{"type": "text", "text": "x"}]}),
    ({"role": "user", "content": "x"}, {"role": "user", "content": "x", "name": None}),
    ({"role": "assistant", "content": "x"}, {"role": "assistant", "content": "x", "tool_calls": []}),
    (
        {"role": "assistant", "tool_calls": [call()]},
        {
            "role": "assistant",
            "content": None,
            "refusal": None,
            "function_call": None,
            "tool_calls": [call() | {"index": None}],
        },
    ),
    ({"role": "assistant", "content": "", "tool_calls": [call()]}, {"role": "assistant", "tool_calls": (call(),)}),
    (
        {"role": "tool", "tool_call_id": "a", "content": "x"},
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "x"}]},
    ),
    ({"role": "tool", "tool_call_id": "a", "content": ""}, {"role": "tool", "tool_call_id": "a", "content": None}),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_two_spellings_of_one_message(left: Any, right: Any) -> None:
    """They are known as the same message, and a conversation that changes from one to the other has no branch."""
    assert DIALECT.canonical(DIALECT.plain(left)) == DIALECT.canonical(DIALECT.plain(right))
    conversation = Conversation(DIALECT, Estimate())
    assert conversation.locate([left]).path[0] is conversation.locate([right]).path[0]


DIFFERENT = [
    ({"role": "user", "content": "x"}, {"role": "user", "content": "y"}),
    ({"role": "tool", "tool_call_id": "a", "content": "x"}, {"role": "tool", "tool_call_id": "b", "content": "x"}),
    ({"role": "assistant", "tool_calls": [call()]}, {"role": "assistant", "tool_calls": [call("c2")]}),
    ({"role": "assistant", "content": "x"}, {"role": "assistant", "content": "x", "reasoning_content": "y"}),
]


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_two_messages(left: Any, right: Any) -> None:
    """What says something else is another message."""
    assert DIALECT.canonical(DIALECT.plain(left)) != DIALECT.canonical(DIALECT.plain(right))


def test_a_canonical_message_is_read_alike() -> None:
    """Its blocks say the same, and it is its own canonical form."""
    for message in (ANSWER, {"role": "user", "content": "x"}, SAME[5][0]):
        spelt = DIALECT.canonical(message)
        assert DIALECT.canonical(spelt) == spelt
        assert blocks(dict(spelt)) == blocks(message)


MARKER = {"cache_control": {"type": "ephemeral"}, "prompt_cache_breakpoint": {"mode": "explicit"}}


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": [{"type": "text", "text": "x", **MARKER}, PICTURE]},
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "x", **MARKER}]},
        {"role": "system", "content": "x", **MARKER},
    ],
)
def test_markers_come_off_and_back_on(message: Any) -> None:
    """A plain message has none, the original is not touched, and `marked` restores them all."""
    before = copy.deepcopy(message)
    plain = DIALECT.plain(message)
    assert not any(name in json.dumps(plain) for name in MARKER)
    assert DIALECT.marked(plain, message) == message == before
    assert DIALECT.marked(plain, None) == plain


def test_a_marker_on_what_was_rendered() -> None:
    """A text that was a string becomes a part for it; where a part is gone the nearest one gets it."""
    handed = {"role": "user", "content": [PICTURE, {"type": "text", "text": "x", **MARKER}]}
    marked = DIALECT.marked({"role": "user", "content": "short"}, handed)
    assert marked == {"role": "user", "content": [{"type": "text", "text": "short", **MARKER}]}
    bare = {"role": "assistant", "content": None, "tool_calls": [call()]}
    assert DIALECT.marked(bare, handed) == bare


def test_bare_tools_have_no_marker() -> None:
    """Neither tools nor system parts."""
    assert DIALECT.bare([{"type": "function", "function": {"name": "f"}, **MARKER}]) == [
        {"type": "function", "function": {"name": "f"}}
    ]
    assert DIALECT.bare("Be brief.") == "Be brief."


def test_extras_are_carried_through() -> None:
    """What the kernel does not know stays where it is."""
    extras = {
        "name": "bob",
        "reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}],
        "annotations": [{"type": "url_citation"}],
        "audio": {"id": "a"},
        "provider_specific_fields": {"x": 1},
    }
    signed = call() | {"extra_content": {"google": {"thought_signature": "s"}}}
    message = {**ANSWER, **extras, "tool_calls": [signed]}
    assert DIALECT.plain(message) == message
    node = Conversation(DIALECT, Estimate()).locate([message]).path[0]
    assert DIALECT.render(node, {1: "short"}) == {**message, "content": "short"}


class Dumped:
    """A message as an SDK gives it."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self, mode: str = "python", exclude_none: bool = False) -> dict[str, Any]:
        """Its fields."""
        return {key: value for key, value in self.fields.items() if value is not None or not exclude_none}


def test_objects_of_an_sdk() -> None:
    """They are read as the mapping they stand for, inside mappings too."""
    whole = Dumped(**ANSWER, refusal=None)
    mixed = {**ANSWER, "tool_calls": [Dumped(**call()), Dumped(**call("c2"))]}
    assert DIALECT.plain(whole) == DIALECT.plain(mixed) == ANSWER


def test_a_message_of_the_real_sdk() -> None:
    """What `openai` parses is read like the JSON it came from."""
    types = pytest.importorskip("openai.types.chat")
    parsed = types.ChatCompletionMessage.model_validate({**ANSWER, "tool_calls": [call()]})
    assert DIALECT.canonical(DIALECT.plain(parsed)) == DIALECT.canonical({**ANSWER, "tool_calls": [call()]})


@pytest.mark.parametrize(
    "odd",
    [
        5,
        None,
        {"content": "x"},
        {"role": "user", "content": 5},
        {"role": "user", "content": ["x"]},
        {"role": "assistant", "tool_calls": "x"},
        {"role": "assistant", "tool_calls": ["x"]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
    ],
)
def test_what_is_no_message(odd: Any) -> None:
    """It is refused, and so is what belongs to another format, whose calls and results would be lost."""
    with pytest.raises(TypeError):
        DIALECT.plain(odd)


@pytest.mark.parametrize(
    "odd",
    [
        {"role": "user"},
        {"role": "user", "content": [{}]},
        {"role": "user", "content": [{"type": "text"}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": "x"}]},
        {"role": "user", "content": [{"type": "image_url"}]},
        {"role": "user", "content": [{"type": "file"}]},
        {"role": "user", "content": [{"type": "input_audio", "input_audio": 5}]},
        {"role": "user", "content": [{"type": ["x"]}]},
        {"role": "tool"},
        {"role": "tool", "tool_call_id": 5, "content": [{"type": "image_url"}]},
        {"role": "assistant", "tool_calls": [{}]},
        {"role": "assistant", "tool_calls": [{"function": None, "id": 5}]},
        {"role": "assistant", "reasoning_content": 5, "function_call": "x"},
    ],
)
def test_what_is_odd_is_read_all_the_same(odd: Any) -> None:
    """Parsing, sizes and spelling never fail on it, and rendering without faces changes nothing."""
    node = Conversation(DIALECT, Estimate()).locate([odd]).path[0]
    assert node.tokens >= 4
    assert DIALECT.render(node, {}) == DIALECT.plain(odd)
