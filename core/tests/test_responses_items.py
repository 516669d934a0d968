"""Items of Responses: what is one and the same, how they are read, and how they look when something is changed."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from trimtab.conversation import Conversation, Message
from trimtab.counters.estimate import Estimate
from trimtab.dialects.responses import Responses

DIALECT = Responses()
USER = {"role": "user", "content": "go"}
SAID = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "phase": "commentary",
    "content": [{"type": "output_text", "text": "I look.", "annotations": [], "logprobs": []}],
}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read", "arguments": '{"path": "a.py"}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "text"}
SHELL = {"type": "shell_call", "call_id": "s1", "action": {"commands": ["make"], "timeout_ms": 5}}
CHUNK = {"stdout": "out", "stderr": "err", "outcome": {"type": "exit", "exit_code": 2}}


def same(one: Any, other: Any) -> bool:
    """Whether two items are one message."""
    return DIALECT.canonical(DIALECT.plain(one)) == DIALECT.canonical(DIALECT.plain(other))


def node(item: Any) -> Message:
    """The item as a message of a conversation."""
    conversation = Conversation(DIALECT, Estimate())
    return conversation.locate([item]).path[0]


def without(item: dict[str, Any], *keys: str) -> dict[str, Any]:
    """The item without these fields."""
    return {key: value for key, value in item.items() if key not in keys}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (USER, {"type": "message", **USER}),
        (USER, {"role": "user", "content": [{"type": "input_text", "text": "go"}]}),
        (SAID, without(SAID, "id", "status", "phase")),
        (SAID, {"role": "assistant", "content": "I look."}),
        (CALL, {**CALL, "status": "completed", "caller": None, "id": None}),
        (OUTPUT, {**OUTPUT, "output": [{"type": "input_text", "text": "text"}], "id": "fco_1"}),
        ({"type": "item_reference", "id": "rs_1"}, {"id": "rs_1"}),
        (
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x", "status": None},
            {"type": "reasoning", "summary": [], "content": None, "encrypted_content": "x"},
        ),
    ],
)
def test_spellings_of_one_item(one: Any, other: Any) -> None:
    """With and without id, status, type, nulls and empty lists; content as a string or as parts."""
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (USER, {"role": "developer", "content": "go"}),
        (CALL, {**CALL, "arguments": "{}"}),
        (OUTPUT, {**OUTPUT, "call_id": "c2"}),
        ({"id": "rs_1"}, {"id": "rs_2"}),
        ({"type": "reasoning", "id": "rs_1", "summary": []}, {"type": "reasoning", "id": "rs_2", "summary": []}),
        (
            {"type": "apply_patch_call_output", "call_id": "p", "status": "failed"},
            {"type": "apply_patch_call_output", "call_id": "p", "status": "completed"},
        ),
    ],
)
def test_items_that_are_two(one: Any, other: Any) -> None:
    """Where the id is all that an item says, and where the status is, they count."""
    assert not same(one, other)


def test_objects_of_the_sdk() -> None:
    """An item of an answer as the object, as all that it dumps, and as JSON without nulls, is one message."""
    responses = pytest.importorskip("openai").types.responses
    call = responses.ResponseFunctionToolCall.model_validate({**CALL, "async": True})
    assert DIALECT.plain(call)["async"] is True
    message = responses.ResponseOutputMessage.model_validate(SAID)
    reasoning = responses.ResponseReasoningItem.model_validate(
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    )
    for item in (message, reasoning, responses.ResponseFunctionToolCall.model_validate(CALL)):
        for dumped in (item.model_dump(), item.model_dump(mode="json", exclude_none=True), item.to_dict()):
            assert same(item, dumped)


def test_breakpoints_are_no_part_of_an_item() -> None:
    """A plain copy has none, nothing handed in is changed, and a rendering gets them back."""
    mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    handed = {"role": "user", "content": [{"type": "input_text", "text": "go", **mark}]}
    before = copy.deepcopy(handed)
    assert same(handed, USER)
    plain = DIALECT.plain(handed)
    assert DIALECT.marked({**plain, "content": "other"}, handed)["content"] == [
        {"type": "input_text", "text": "other", **mark}
    ]
    assert DIALECT.marked(plain, None) == plain
    assert handed == before


@pytest.mark.parametrize(
    "item",
    [
        {"content": "go"},
        {"role": "tool", "tool_call_id": "a", "content": "x"},
        {"role": "assistant", "content": "x", "tool_calls": []},
        {"role": "user", "content": [{"type": "image_url", "image_url": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "x", "role": "system"}]},
        {"role": "user", "content": None},
        {"role": "user", "content": ["go"]},
        {"type": "function_call_output", "call_id": "a", "output": ["x"]},
        "go",
    ],
)
def test_what_is_no_item(item: Any) -> None:
    """Messages of other formats, and what would pass for one of our own wire blocks."""
    with pytest.raises(TypeError):
        DIALECT.plain(item)


@pytest.mark.parametrize(
    ("item", "role", "type"),
    [
        (USER, "user", "text"),
        ({"role": "developer", "content": "x"}, "system", "text"),
        (SAID, "assistant", "text"),
        (CALL, "assistant", "tool_use"),
        (OUTPUT, "user", "tool_result"),
        (SHELL, "assistant", "tool_use"),
        ({"type": "shell_call_output", "call_id": "s1", "output": [CHUNK]}, "user", "tool_result"),
        ({"type": "reasoning", "summary": []}, "assistant", "other"),
        ({"type": "web_search_call", "status": "completed"}, "assistant", "other"),
        ({"type": "mcp_approval_request", "id": "a"}, "assistant", "other"),
        ({"type": "mcp_approval_response", "approval_request_id": "a", "approve": True}, "user", "tool_result"),
        ({"type": "computer_call_output", "call_id": "a", "output": {}}, "user", "tool_result"),
        ({"type": "program_output", "call_id": "a", "result": "x"}, "assistant", "other"),
        ({"type": "tool_search_output", "execution": "client", "call_id": "a"}, "user", "tool_result"),
        ({"type": "compaction", "encrypted_content": "x"}, "system", "other"),
        ({"type": "additional_tools", "role": "developer", "tools": []}, "system", "other"),
        ({"type": "configuration_update"}, "system", "other"),
        ({"id": "x"}, "assistant", "other"),
        ({"type": "of_next_year"}, "assistant", "other"),
    ],
)
def test_whose_an_item_is(item: Any, role: str, type: str) -> None:
    """Calls are the model's, outputs the user's but for those of what the provider runs; all else passes as it is."""
    message = node(item)
    assert (message.role, [block.type for block in message.blocks]) == (role, [type])
    assert DIALECT.render(message, {}) == item


def test_calls_and_outputs_pair_by_their_ids() -> None:
    """Also where the output has its call's id in another field."""
    local = {"type": "local_shell_call", "id": "lc_1", "call_id": "l1", "action": {"type": "exec", "command": ["ls"]}}
    asked = {"type": "mcp_approval_request", "id": "a1", "name": "x", "arguments": "{}"}
    pairs = [
        (CALL, OUTPUT),
        (local, {"type": "local_shell_call_output", "id": "l1", "output": "{}"}),
        (asked, {"type": "mcp_approval_response", "approval_request_id": "a1", "approve": True}),
    ]
    for call, output in pairs:
        assert node(call).blocks[0].call == node(output).blocks[0].call != ""


def test_what_a_reader_sees() -> None:
    """Arguments, free text as an argument, an action, all that a shell wrote, a summary of what was thought."""
    call = node(CALL).blocks[0]
    assert (call.name, call.input, call.text) == ("read", {"path": "a.py"}, '{"path": "a.py"}')
    custom = node({"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** a"}).blocks[0]
    assert (custom.name, custom.input, json.loads(custom.text)) == ("patch", {"input": "*** a"}, {"input": "*** a"})
    shell = node(SHELL).blocks[0]
    assert (shell.name, shell.input) == ("shell", SHELL["action"])
    assert node({"type": "shell_call_output", "call_id": "s", "output": [CHUNK]}).blocks[0].text == "out\nerr"
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "x"}
    assert node(thought).blocks[0].text == "Hm."
    failed = node({"type": "apply_patch_call_output", "call_id": "p", "status": "failed", "output": "no"}).blocks[0]
    assert (failed.text, failed.error) == ("no", True)
    picture = {"type": "input_image", "image_url": "data:image/png;base64,"}
    assert node({**OUTPUT, "output": [{"type": "input_text", "text": "a"}, picture]}).blocks[0].media


@pytest.mark.parametrize(
    ("item", "text", "shown"),
    [
        (OUTPUT, "short", {**OUTPUT, "output": "short"}),
        ({**OUTPUT, "id": "o1", "status": "completed"}, "short", {**OUTPUT, "output": "short"}),
        (CALL, '{"path": "b"}', {**without(CALL, "id"), "arguments": '{"path": "b"}'}),
        (
            {"type": "custom_tool_call", "id": "x", "call_id": "c", "name": "patch", "input": "long"},
            '{"input": "b"}',
            {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "b"},
        ),
        (SHELL, '{"commands": ["ls"], "timeout_ms": "x"}', {**SHELL, "action": {"commands": ["ls"], "timeout_ms": 5}}),
        (
            {"type": "shell_call_output", "call_id": "s1", "output": [CHUNK]},
            "short",
            {
                "type": "shell_call_output",
                "call_id": "s1",
                "output": [{"stdout": "short", "stderr": "", "outcome": CHUNK["outcome"]}],
            },
        ),
        (
            {"type": "apply_patch_call_output", "id": "o", "call_id": "p", "status": "failed", "output": "long"},
            "short",
            {"type": "apply_patch_call_output", "call_id": "p", "status": "failed", "output": "short"},
        ),
        (
            {"type": "local_shell_call_output", "id": "l1", "output": "long"},
            "short",
            {"type": "local_shell_call_output", "id": "l1", "output": "short"},
        ),
        (USER, "on", {"role": "user", "content": "on"}),
        (
            SAID,
            "on",
            {**without(SAID, "id", "status"), "content": [{"type": "output_text", "text": "on"}]},
        ),
    ],
)
def test_what_is_shown_instead(item: Any, text: str, shown: Any) -> None:
    """What pairs an item stays, an action keeps the types of its values, the id of what was said before goes."""
    assert DIALECT.render(node(item), {0: text}) == shown


def test_parts_are_shown_one_by_one() -> None:
    """A picture becomes text, the other parts stay."""
    picture = {"type": "input_image", "image_url": "https://example.com/a.png"}
    message = node({"role": "user", "content": [{"type": "input_text", "text": "see"}, picture]})
    shown = DIALECT.render(message, {1: "[a picture]"})
    assert shown["content"] == [{"type": "input_text", "text": "see"}, {"type": "input_text", "text": "[a picture]"}]


def test_what_is_carried_speaks_with_the_users_voice() -> None:
    """Words of the model and of an output become a user's, media stay what they are."""
    picture = {"type": "input_image", "image_url": "https://example.com/a.png"}
    carried = DIALECT.carry(node(SAID).blocks[0], "")
    carried += DIALECT.carry(node({**OUTPUT, "output": [{"type": "input_text", "text": "see"}, picture]}).blocks[0], "")
    made = DIALECT.user(["So far.", *carried])
    texts = [{"type": "input_text", "text": text} for text in ("So far.", "I look.", "see")]
    assert made == {"role": "user", "content": [*texts, picture]}
    assert DIALECT.user(["So far."]) == {"role": "user", "content": "So far."}


def test_system_text_is_the_instructions() -> None:
    """Appended to what the agent says, or all there is; there is no message for it."""
    assert DIALECT.system("Be brief.", ["Be kind."]) == "Be brief.\n\nBe kind."
    assert DIALECT.system(None, ["Be kind."]) == "Be kind."
    assert DIALECT.system(None, []) is None
    assert DIALECT.instruction("Be kind.") is None
