"""The strict check of Anthropic Messages: a good and a bad list for each rule, places, certainty, speed."""

from __future__ import annotations

import base64
import struct
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab.dialects.anthropic.validate import Violation, validate


def user(*content: Any) -> dict[str, Any]:
    """A user message of these blocks."""
    return {"role": "user", "content": list(content)}


def assistant(*content: Any) -> dict[str, Any]:
    """An assistant message of these blocks."""
    return {"role": "assistant", "content": list(content)}


def text(value: str = "words") -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": value}


def call(id: str = "t1", **more: Any) -> dict[str, Any]:
    """A client call."""
    return {"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "a.py"}, **more}


def result(id: str = "t1", **more: Any) -> dict[str, Any]:
    """The result of a client call."""
    return {"type": "tool_result", "tool_use_id": id, "content": "text of a.py", **more}


def server(id: str = "srvtoolu_1", **more: Any) -> dict[str, Any]:
    """A call that the provider runs."""
    return {"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "q"}, **more}


def found(id: str = "srvtoolu_1", **hit: Any) -> dict[str, Any]:
    """The result of a web search with one hit."""
    hits = [{"type": "web_search_result", "url": "https://example.com", "encrypted_content": "x", **hit}]
    return {"type": "web_search_tool_result", "tool_use_id": id, "content": hits}


def png(width: int, height: int) -> dict[str, Any]:
    """An image block whose header states this size."""
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\x08\x06\0\0\0" * 4
    data = base64.b64encode(head).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


GO = user(text("go"))
SYSTEM = {"role": "system", "content": "From now on in French."}
MCP = {"type": "mcp_tool_use", "id": "m1", "name": "find", "server_name": "docs", "input": {}}
MCP_RESULT = {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": False, "content": [text()]}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}
URL = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}

GOOD = {
    "A1 answered in the next message": [GO, assistant(call()), user(result())],
    "A1 parallel calls": [GO, assistant(call("a"), call("b")), user(result("b"), result("a"))],
    "A1 results over merged user messages": [
        GO,
        assistant(call("a"), call("b")),
        user(result("a")),
        user(result("b")),
    ],
    "A1 calls over merged assistant messages": [
        GO,
        assistant(call("a")),
        assistant(call("b")),
        user(result("a"), result("b")),
    ],
    "A2 two rounds": [GO, assistant(call("a")), user(result("a")), assistant(call("b")), user(result("b"))],
    "A3 text after results": [GO, assistant(call()), user(result(), text())],
    "A3 text after results, in the next message": [GO, assistant(call()), user(result()), user(text())],
    "A5 neighbours of one role": [GO, GO, assistant(text()), assistant(text("more")), GO],
    "A6 user first": [GO],
    "A6 compaction block first": [assistant({"type": "compaction", "content": "s"}), assistant(text()), GO],
    "A7 result without content": [GO, assistant(call()), user({"type": "tool_result", "tool_use_id": "t1"})],
    "A7 result with empty content": [GO, assistant(call()), user(result(content=""))],
    "A7 result with an empty list": [GO, assistant(call()), user(result(content=[]))],
    "A7 empty thinking": [GO, assistant({**THOUGHT, "thinking": ""}, text()), GO],
    "A8 user last": [GO, assistant(text("ends in a space ")), GO],
    "A9 server pair in one message": [GO, assistant(server(), found(), text()), GO],
    "A9 server pair over a pause": [GO, assistant(text(), server()), assistant(found(), text()), GO],
    "A9 MCP pair": [GO, assistant(MCP, MCP_RESULT, text()), GO],
    "A9 waiting at the end": [GO, assistant(server())],
    "A10 results only, then the server's result": [
        GO,
        assistant(server(), call()),
        user(result()),
        assistant(found(), text()),
        GO,
    ],
    "A10 the search failed": [
        GO,
        assistant(server(), {**found(), "content": {"type": "web_search_tool_result_error"}}),
        GO,
    ],
    "A12 toolset repeated": [
        GO,
        assistant(call(toolset_name="browser")),
        user(result(toolset_name="browser")),
    ],
    "A12 opaque blocks": [
        user({"type": "container_upload", "file_id": "f"}),
        assistant({"type": "fallback"}, {"type": "mcp_tool_listing"}, text()),
        GO,
    ],
    "A13 an image at the limit": [user(png(8000, 8000))],
    "A13 an image of unknown kind": [
        user({"type": "image", "source": {"type": "base64", "media_type": "x", "data": "%%%%"}})
    ],
    "A13 an image of no data": [user({"type": "image", "source": {"type": "base64", "media_type": "x", "data": "é"}})],
    "A13 a hundred images": [user(*[URL] * 100)],
    "role system after a user": [GO, SYSTEM, assistant(text()), GO],
    "role system after a server result": [GO, assistant(server(), found()), SYSTEM],
    "shape string content": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "yes"}, GO],
    "shape every known block": [
        user(text(), {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"}}),
        assistant(THOUGHT, {"type": "redacted_thinking", "data": "x"}, call()),
        user(result(content=[text(), URL], is_error=True)),
    ],
    "surrogate a pair is a character": [user(text("\U0001f600 é 漢"))],
}

BAD: dict[str, tuple[list[Any], str, str]] = {
    "A1 no result": ([GO, assistant(call()), GO], "A1", "messages[1].content[0]"),
    "A1 last message": ([GO, assistant(text(), call())], "A1", "messages[1].content[1]"),
    "A1 one of two": (
        [GO, assistant(call("a"), call("b")), user(result("a"))],
        "A1",
        "messages[1].content[1]",
    ),
    "A1 answered too late": (
        [GO, assistant(call()), GO, assistant(text()), user(result())],
        "A1",
        "messages[1].content[0]",
    ),
    "A1 answered in an earlier round only": (
        [GO, assistant(call()), user(result()), assistant(call()), GO],
        "A1",
        "messages[3].content[0]",
    ),
    "A1 a system message between": (
        [GO, assistant(call()), SYSTEM, user(result())],
        "A1",
        "messages[1].content[0]",
    ),
    "A2 no call": ([user(result())], "A2", "messages[0].content[0]"),
    "A2 answered again a round later": (
        [GO, assistant(call()), user(result()), assistant(text()), user(result())],
        "A2",
        "messages[4].content[0]",
    ),
    "A2 in the assistant's own message": (
        [GO, assistant(call(), result()), user(result())],
        "A2",
        "messages[1].content[1]",
    ),
    "A3 text first": ([GO, assistant(call()), user(text(), result())], "A3", "messages[2].content[1]"),
    "A3 text first, in the message before": (
        [GO, assistant(call()), user(text()), user(result())],
        "A3",
        "messages[3].content[0]",
    ),
    "A3 string first": (
        [GO, assistant(call()), {"role": "user", "content": "hm"}, user(result())],
        "A3",
        "messages[3].content[0]",
    ),
    "A7 empty text": ([user(text(""))], "A7", "messages[0].content[0]"),
    "A7 blank text": ([GO, assistant(text(" \n\t")), GO], "A7", "messages[1].content[0]"),
    "A7 blank string": ([{"role": "user", "content": "  "}], "A7", "messages[0].content"),
    "A7 empty string": ([{"role": "user", "content": ""}], "A7", "messages[0].content"),
    "A7 empty list": ([GO, assistant(), GO], "A7", "messages[1].content"),
    "A7 blank text in a result": (
        [GO, assistant(call()), user(result(content=[text("")]))],
        "A7",
        "messages[2].content[0].content[0]",
    ),
    "A8 white space last": ([GO, assistant(text("so "))], "A8", "messages[1]"),
    "A8 white space last, as a string": ([GO, {"role": "assistant", "content": "so\n"}], "A8", "messages[1]"),
    "A9 no server result": (
        [GO, assistant(server(), text()), GO, assistant(text()), GO],
        "A9",
        "messages[1].content[0]",
    ),
    "A9 no server call": ([GO, assistant(found(), text()), GO], "A9", "messages[1].content[0]"),
    "A9 result before call": ([GO, assistant(found(), server()), GO], "A9", "messages[1].content[0]"),
    "A9 no MCP result": ([GO, assistant(MCP, text()), GO], "A9", "messages[1].content[0]"),
    "A10 more than results while a server call waits": (
        [GO, assistant(server(), call()), user(result(), text())],
        "A10",
        "messages[2].content[1]",
    ),
    "A10 a hit without its encrypted content": (
        [GO, assistant(server(), found(encrypted_content="")), GO],
        "A10",
        "messages[1].content[1].content[0]",
    ),
    "A12 toolset lost": (
        [GO, assistant(call(toolset_name="browser")), user(result())],
        "A12",
        "messages[2].content[0]",
    ),
    "A13 image too wide": ([user(png(8001, 1))], "A13", "messages[0].content[0]"),
    "A13 image in a result too high": (
        [GO, assistant(call()), user(result(content=[png(1, 8001)]))],
        "A13",
        "messages[2].content[0].content[0]",
    ),
    "A13 too many images": (
        [user(*[URL] * 600), assistant(call()), user(result(content=[URL]))],
        "A13",
        "messages",
    ),
    "A13 too many messages": ([GO] * 100_001, "A13", "messages"),
    "role unknown": ([{"role": "tool", "content": "x"}], "role", "messages[0]"),
    "role missing": ([{"content": "x"}], "role", "messages[0]"),
    "role no object": (["go"], "role", "messages[0]"),
    "role system first": ([SYSTEM, GO], "role", "messages[0]"),
    "role system after an assistant's text": ([GO, assistant(text()), SYSTEM], "role", "messages[2]"),
    "role user after system": ([GO, SYSTEM, GO], "role", "messages[2]"),
    "role call by the user": ([user(text(), call())], "role", "messages[0].content[1]"),
    "role thinking by the user": ([user(text(), THOUGHT)], "role", "messages[0].content[1]"),
    "role result by the assistant": ([GO, assistant(text(), result()), GO], "role", "messages[1].content[1]"),
    "role server result by the user": ([user(text(), found())], "role", "messages[0].content[1]"),
    "shape no messages": ([], "shape", "messages"),
    "shape no content": ([{"role": "user"}], "shape", "messages[0].content"),
    "shape number as content": ([{"role": "user", "content": 1}], "shape", "messages[0].content"),
    "shape string as block": ([user("go")], "shape", "messages[0].content[0]"),
    "shape block without type": ([user({"text": "go"})], "shape", "messages[0].content[0]"),
    "shape text without text": ([user({"type": "text"})], "shape", "messages[0].content[0].text"),
    "shape call without input": (
        [GO, assistant({"type": "tool_use", "id": "t1", "name": "Read"}), user(result())],
        "shape",
        "messages[1].content[0].input",
    ),
    "shape input as a string": (
        [GO, assistant(call(input="{}")), user(result())],
        "shape",
        "messages[1].content[0].input",
    ),
    "shape empty id": ([GO, assistant(call("")), user(result(""))], "shape", "messages[1].content[0].id"),
    "shape thinking without signature": (
        [GO, assistant({"type": "thinking", "thinking": "hm"}), GO],
        "shape",
        "messages[1].content[0].signature",
    ),
    "shape image without source": ([user({"type": "image"})], "shape", "messages[0].content[0].source"),
    "shape image without data": (
        [user({"type": "image", "source": {"type": "base64", "media_type": "image/png"}})],
        "shape",
        "messages[0].content[0].source.data",
    ),
    "shape source without type": (
        [user({"type": "image", "source": {}})],
        "shape",
        "messages[0].content[0].source",
    ),
    "shape content of a result": (
        [GO, assistant(call()), user(result(content=3))],
        "shape",
        "messages[2].content[0].content",
    ),
    "shape block in a result": (
        [GO, assistant(call()), user(result(content=["text"]))],
        "shape",
        "messages[2].content[0].content[0]",
    ),
    "shape MCP call without server": (
        [GO, assistant({**MCP, "server_name": None}, MCP_RESULT), GO],
        "shape",
        "messages[1].content[0].server_name",
    ),
    "surrogate in a text": ([user(text("half \ud83d"))], "surrogate", "messages[0].content[0]"),
    "surrogate in a string": (
        [{"role": "user", "content": "half \udc00"}],
        "surrogate",
        "messages[0].content",
    ),
    "surrogate deep in an input": (
        [GO, assistant(call(input={"a": [{"b": "\ud800"}]})), user(result())],
        "surrogate",
        "messages[1].content[0]",
    ),
    "surrogate in a key": (
        [GO, assistant(call(input={"\ud800": 1})), user(result())],
        "surrogate",
        "messages[1].content[0]",
    ),
    "surrogate in a result's text": (
        [GO, assistant(call()), user(result(content=[text("x\ud800")]))],
        "surrogate",
        "messages[2].content[0]",
    ),
    "surrogate in an opaque block": (
        [user({"type": "new", "x": "\ud800"})],
        "surrogate",
        "messages[0].content[0]",
    ),
}

UNCERTAIN: dict[str, tuple[list[Any], str, str]] = {
    "A4 a call id twice": (
        [GO, assistant(call()), user(result()), assistant(call()), user(result())],
        "A4",
        "messages[3].content[0]",
    ),
    "A4 a result twice": ([GO, assistant(call()), user(result(), result())], "A4", "messages[2].content[1]"),
    "A4 a server result twice": (
        [GO, assistant(server(), found(), found()), GO],
        "A4",
        "messages[1].content[2]",
    ),
    "A6 assistant first": ([assistant(text()), GO], "A6", "messages[0]"),
    "A7 an empty prefill": ([user(text("go ")), assistant()], "A7", "messages[1].content"),
    "A8 a prefill": ([GO, assistant(text("so"))], "A8", "messages[1]"),
    "A13 a hundred and one images": ([user(*[URL] * 101)], "A13", "messages"),
}


def certain(violations: list[Violation]) -> list[tuple[str, str]]:
    """Rule and place of those that refuse a request."""
    return [(found.rule, found.where) for found in violations if found.certain]


@pytest.mark.parametrize("messages", GOOD.values(), ids=GOOD)
def test_valid_lists_have_no_certain_violation(messages: list[Any]) -> None:
    """What the API accepts is not refused."""
    assert certain(validate(messages)) == []


@pytest.mark.parametrize(("messages", "rule", "where"), BAD.values(), ids=BAD)
def test_each_rule_is_found_at_its_place(messages: list[Any], rule: str, where: str) -> None:
    """What the API refuses is reported under its rule, at the block or message that breaks it."""
    assert (rule, where) in certain(validate(messages))


@pytest.mark.parametrize(("messages", "rule", "where"), UNCERTAIN.values(), ids=UNCERTAIN)
def test_unsettled_facts_never_refuse(messages: list[Any], rule: str, where: str) -> None:
    """Where the sources disagree or the model decides, the violation is there but not certain."""
    violations = validate(messages)
    assert (rule, where) in [(found.rule, found.where) for found in violations if not found.certain]
    assert certain(violations) == []


FOLLOWED = {
    "A1 answered too late",
    "A1 a system message between",
    "A2 in the assistant's own message",
    "A9 result before call",
    "shape empty id",
}
"""Faults that cannot come alone: a result too late for one message is unexpected in another."""


@pytest.mark.parametrize("name", [name for name in BAD if name not in FOLLOWED and not name.startswith("role")])
def test_one_fault_is_one_violation(name: str) -> None:
    """A single broken rule does not make a crowd of reports."""
    messages, rule, where = BAD[name]
    assert certain(validate(messages)) == [(rule, where)]


def test_a_result_by_the_assistant_answers_nothing() -> None:
    """A result in the wrong role is out of place and without a call, but not out of order."""
    found = certain(validate([GO, assistant(text(), result()), GO]))
    assert found == [("role", "messages[1].content[1]"), ("A2", "messages[1].content[1]")]


def test_a11_is_checked_where_the_tools_are_known() -> None:
    """A tool that the history calls must be among the request's tools; without tools nobody can say."""
    messages = [GO, assistant(call()), user(result())]
    assert validate(messages, tools=[{"name": "Read"}]) == []
    assert certain(validate(messages, tools=[{"name": "Write"}])) == [("A11", "messages[1].content[0]")]
    in_toolset = [GO, assistant(call(toolset_name="browser")), user(result(toolset_name="browser"))]
    assert validate(in_toolset, tools=[{"name": "browser"}]) == []


def test_a_paused_turn_is_no_prefill() -> None:
    """A last assistant message that waits for its server tool goes back unchanged."""
    assert validate([GO, assistant(text("searching "), server())]) == []


def test_a_violation_reads_as_a_sentence() -> None:
    """Rule, place and words are what a person needs to mend the list."""
    assert validate([user(result("x"))]) == [
        Violation("A2", "messages[0].content[0]", "no call 'x' in the message before", certain=True)
    ]


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None), max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "x", "id"]), inner, max_size=3)
    ),
    max_leaves=6,
)
TYPES = [
    "text",
    "tool_use",
    "tool_result",
    "thinking",
    "image",
    "server_tool_use",
    "web_search_tool_result",
    "new",
]
BLOCKS = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES)},
    optional=dict.fromkeys(("id", "name", "input", "text", "tool_use_id", "content", "source"), JSONISH),
)
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "tool", None])},
    optional={"content": st.text(max_size=3) | st.lists(BLOCKS | JSONISH, max_size=4) | JSONISH},
)


@given(st.lists(MESSAGES | JSONISH, max_size=6))
def test_any_input_is_answered_with_violations_only(messages: list[Any]) -> None:
    """However broken the list is, the check itself never fails."""
    for violation in validate(messages):
        assert violation.where.startswith("messages")


def test_seven_hundred_messages_take_under_ten_milliseconds() -> None:
    """The witness is cheap enough for every request of a replay; processor time, best of several runs."""
    messages = [GO]
    for index in range(350):
        said = [{**THOUGHT, "signature": "s" * 300}, text("a few words – " * 20), call(f"t{index}")]
        messages += [assistant(*said), user(result(f"t{index}", content="a line – of text\n" * 200))]
    spent = []
    for _ in range(7):
        begin = time.process_time()
        assert validate(messages) == []
        spent.append(time.process_time() - begin)
    assert min(spent) < 0.010
