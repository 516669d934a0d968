"""Tools that stages offer, in every format: the list, calls as they come in answers, results as they go back."""

from __future__ import annotations

from typing import Any

import pytest
from trimtab.dialect import Call, Tool
from trimtab.parts import part

CLAUDE, CHAT, ITEMS = (part("dialect", name)() for name in ("anthropic", "openai", "responses"))
SCHEMA = {"type": "object", "properties": {"ids": {"type": "array"}}}
SNIP = Tool("snip", "Drops messages.", SCHEMA)
NOTE = Tool("note", "Keeps a note.", SCHEMA)
READ = {
    "anthropic": {"name": "read", "input_schema": {"type": "object"}},
    "openai": {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}},
    "responses": {"type": "function", "name": "read", "parameters": {"type": "object"}},
}


def test_the_definitions_of_added_tools() -> None:
    """Behind those of the caller, in each format's words."""
    snip = {"name": "snip", "description": "Drops messages.", "input_schema": SCHEMA}
    assert CLAUDE.tools([READ["anthropic"]], [SNIP]) == [READ["anthropic"], snip]
    function = {"name": "snip", "description": "Drops messages.", "parameters": SCHEMA}
    assert CHAT.tools(None, [SNIP]) == [{"type": "function", "function": function}]
    assert ITEMS.tools(None, [SNIP]) == [{"type": "function", **function, "strict": False}]


@pytest.mark.parametrize("name", READ)
def test_names_are_offered_once(name: str) -> None:
    """A tool whose name is taken is left out; where none is added the list is the object handed in."""
    dialect = part("dialect", name)()
    tools = [READ[name]]
    more = dialect.tools(tools, [SNIP, Tool("read", "Another.", SCHEMA), NOTE])
    assert dialect.tool_names(more) == ("read", "snip", "note")
    assert more[0] is tools[0]
    assert tools == [READ[name]]
    assert dialect.tools(more, [SNIP, NOTE]) is more
    assert dialect.tools(tools, []) is tools
    assert dialect.tools(None, []) is None
    assert dialect.tool_names(None) == ()


def test_names_of_other_kinds_of_tools() -> None:
    """Tools of the provider have a name, sets of tools have none; custom tools of chat keep theirs elsewhere."""
    tools = [{"type": "web_search_20250305", "name": "web_search"}, {"type": "mcp_toolset", "mcp_server_name": "x"}]
    assert CLAUDE.tool_names(tools) == ("web_search",)
    assert CHAT.tool_names([{"type": "custom", "custom": {"name": "patch"}}]) == ("patch",)


def chat(arguments: Any, **more: Any) -> dict[str, Any]:
    """A call of chat."""
    return {"id": "c1", "type": "function", "function": {"name": "snip", "arguments": arguments}, **more}


def test_calls_as_they_come() -> None:
    """A mapping or an object of the SDK; arguments of chat are JSON in a text, and may be broken."""
    block = {"type": "tool_use", "id": "c1", "name": "snip", "input": {"ids": ["a"]}}
    assert CLAUDE.call(block) == Call("c1", "snip", {"ids": ["a"]})
    assert CLAUDE.call({**block, "input": None}) == Call("c1", "snip", {})
    assert CHAT.call(chat('{"ids": ["a"]}')) == Call("c1", "snip", {"ids": ["a"]})
    assert [CHAT.call(chat(said)) for said in ('{"ids": ["a', "[1]", "", None)] == [Call("c1", "snip", {})] * 4
    custom = {"id": "c1", "type": "custom", "custom": {"name": "snip", "input": "all"}}
    assert CHAT.call(custom) == Call("c1", "snip", {})
    item = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "snip", "arguments": '{"ids": ["a"]}'}
    assert ITEMS.call(item) == Call("c1", "snip", {"ids": ["a"]})
    assert ITEMS.call({**item, "arguments": '{"ids'}) == Call("c1", "snip", {})
    assert ITEMS.call({"type": "message", "role": "assistant", "content": []}) is None


def test_calls_as_objects_of_the_sdks() -> None:
    """As they stand in an answer."""
    anthropic, openai = pytest.importorskip("anthropic"), pytest.importorskip("openai")
    block = anthropic.types.ToolUseBlock(type="tool_use", id="c1", name="snip", input={"ids": ["a"]})
    assert CLAUDE.call(block) == Call("c1", "snip", {"ids": ["a"]})
    call = openai.types.chat.ChatCompletionMessageFunctionToolCall.model_validate(chat('{"ids": ["a"]}'))
    assert CHAT.call(call) == Call("c1", "snip", {"ids": ["a"]})


def test_what_is_no_call() -> None:
    """Other blocks, calls that the provider runs, and nonsense."""
    server = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    for block in (server, {"type": "text", "text": "x"}, {"type": "tool_use", "name": "x"}, "x", None, 7, {}):
        assert CLAUDE.call(block) is None
    for block in (chat("{}", id=None), chat("{}", function={}), {"type": "text", "text": "x"}, "x", None, 7, {}):
        assert CHAT.call(block) is None


def test_results_as_they_go_back() -> None:
    """A block, or a message; chat has no mark for errors, so that the text says it."""
    assert CLAUDE.result("c1", "Done.", False) == {"type": "tool_result", "tool_use_id": "c1", "content": "Done."}
    assert CLAUDE.result("c1", "No.", True)["is_error"] is True
    assert CHAT.result("c1", "Done.", False) == {"role": "tool", "tool_call_id": "c1", "content": "Done."}
    assert CHAT.result("c1", "No.", True)["content"] == "Error: No."
