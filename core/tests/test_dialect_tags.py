"""A tag at the end of a message, in every format: where it stands, and that taking it off again is exact."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab.parts import part

TAG = "\n[id:0a1b2c]"
PATTERN = re.compile(r"\n\[id:([0-9a-f]{6})\]\Z")
CLAUDE, CHAT = part("dialect", "anthropic")(), part("dialect", "openai")()
IMAGES = {
    "anthropic": {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
    "openai": {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
    "responses": {"type": "input_image", "image_url": "https://example.com/a.png"},
}
IMAGE = IMAGES["anthropic"]
OUTPUT = {"type": "function_call_output", "call_id": "a"}


def text(words: str) -> dict[str, Any]:
    """A text block; a text part is the same."""
    return {"type": "text", "text": words}


def user(content: Any) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": content}


def result(content: Any, id: str = "a") -> dict[str, Any]:
    """A result as a block."""
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def tool(content: Any) -> dict[str, Any]:
    """A result as a message."""
    return {"role": "tool", "tool_call_id": "a", "content": content}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("go", f"go{TAG}"),
        ([text("go")], [text(f"go{TAG}")]),
        ([text("go"), text("on"), IMAGE], [text("go"), text(f"on{TAG}"), IMAGE]),
        ([result("of a"), text("go")], [result("of a"), text(f"go{TAG}")]),
        ([result("of a"), result("of b", "b"), IMAGE], [result("of a"), result(f"of b{TAG}", "b"), IMAGE]),
        ([result([text("of a"), text("more")])], [result([text("of a"), text(f"more{TAG}")])]),
        ([result([text("of a"), IMAGE])], [result([text(f"of a{TAG}"), IMAGE])]),
        ([result([IMAGE])], [result([IMAGE, text(TAG)])]),
        ([result([])], [result([text(TAG)])]),
        ([result("")], [result(TAG)]),
        ([result(None)], [result([text(TAG)])]),
    ],
)
def test_where_it_stands_in_blocks(before: Any, after: Any) -> None:
    """At the end of the last text, else of the text of the last result, which gets one where it has none."""
    assert CLAUDE.tag(user(before), TAG) == user(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (user("go"), user(f"go{TAG}")),
        (user([text("go"), IMAGES["openai"]]), user([text(f"go{TAG}"), IMAGES["openai"]])),
        (tool("of a"), tool(f"of a{TAG}")),
        (tool(""), tool(TAG)),
        (tool([IMAGES["openai"]]), tool([IMAGES["openai"], text(TAG)])),
        ({"role": "function", "name": "a", "content": None}, {"role": "function", "name": "a", "content": [text(TAG)]}),
    ],
)
def test_where_it_stands_in_chat(before: Any, after: Any) -> None:
    """At the end of the last text part; a result is a message of its own."""
    assert CHAT.tag(before, TAG) == after


def test_messages_without_a_place() -> None:
    """Answers, system text and messages of nothing but media have none, also none to be taken off."""
    for dialect, image in ((CLAUDE, IMAGE), (CHAT, IMAGES["openai"])):
        deaf = [{"role": role, "content": f"go{TAG}"} for role in ("assistant", "system")]
        for wire in (*deaf, user([image]), user([]), user(""), user(None), {"role": "user"}):
            assert dialect.tag(wire, TAG) is None
            assert dialect.untag(wire, PATTERN) is None
    assert CHAT.tag({"role": "developer", "content": "go"}, TAG) is None
    assert CLAUDE.tag(user([result({"odd": 1})]), TAG) is None


def test_only_the_end_counts() -> None:
    """A tag in the middle of a text, in an earlier block or in a result before a text is what somebody wrote."""
    for content in (f"go{TAG}.", [text(f"go{TAG}"), text("on")], [result(f"of a{TAG}"), text("go")]):
        assert CLAUDE.untag(user(content), PATTERN) is None
    assert CHAT.untag(user(f"go{TAG} on"), PATTERN) is None


def test_of_two_the_last_is_taken_off() -> None:
    """What is left is the message as it was with the first."""
    assert CLAUDE.untag(user(f"go{TAG}\n[id:ffffff]"), PATTERN) == (user(f"go{TAG}"), "\n[id:ffffff]")


words = st.sampled_from(["", "go", "a\n", "\n[id:", "x\n[id:0a1b2c]", "\n[id:0a1b2c]", "the end"])


def _parts(name: str) -> st.SearchStrategy[list[Any]]:
    spelled = "input_text" if name == "responses" else "text"
    texts = words.map(lambda said: {**text(said), "type": spelled})
    return st.lists(st.one_of(texts, st.just(IMAGES[name])), max_size=3)


def _wires(name: str) -> st.SearchStrategy[dict[str, Any]]:
    inner = st.one_of(st.none(), words, _parts(name))
    if name == "openai":
        return st.one_of(inner.map(user), inner.map(tool), st.just({"role": "user"}), st.just({"role": "tool"}))
    if name == "responses":
        said = st.one_of(words, _parts(name))
        return st.one_of(said.map(user), said.map(lambda output: {**OUTPUT, "output": output}))
    results = st.one_of(inner.map(result), st.just({"type": "tool_result", "tool_use_id": "a"}))
    blocks = st.lists(st.one_of(results, results, words.map(text), st.just(IMAGE)), max_size=3)
    return st.one_of(inner.map(user), blocks.map(user), st.just({"role": "user"}))


@pytest.mark.parametrize("name", IMAGES)
@given(data=st.data())
def test_taking_it_off_is_exact(name: str, data: st.DataObject) -> None:
    """Whatever the message: without its tag it is the same message; nothing handed in is changed."""
    dialect, wire = part("dialect", name)(), data.draw(_wires(name))
    before = copy.deepcopy(wire)
    tagged = dialect.tag(wire, TAG)
    if tagged is not None:
        assert dialect.canonical(tagged) != dialect.canonical(wire)
        for spelled in (tagged, dialect.canonical(tagged)):  # clients change one spelling to the other
            rest, found = dialect.untag(spelled, PATTERN)
            assert (dialect.canonical(rest), found) == (dialect.canonical(wire), TAG)
    assert wire == before
    if "[id:0a1b2c]" not in str(wire):
        assert dialect.untag(wire, PATTERN) is None
