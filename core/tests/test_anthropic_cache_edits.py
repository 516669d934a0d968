"""Deletions from the provider's cache: where they stand, what they refer to, and that taking them away is exact."""

from __future__ import annotations

import copy
import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab.dialects.anthropic import Anthropic, validate, without_edits
from trimtab.dialects.anthropic.cache_edits import FILLER, evicting
from trimtab.dialects.anthropic.parse import markers

MARK = {"cache_control": {"type": "ephemeral"}}
DIALECT = Anthropic()


def user(*content: Any) -> dict[str, Any]:
    """A user message of these blocks."""
    return {"role": "user", "content": list(content)}


def text(words: str = "words", **more: Any) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": words, **more}


def result(id: str, **more: Any) -> dict[str, Any]:
    """A result."""
    return {"type": "tool_result", "tool_use_id": id, "content": f"of {id}", **more}


def says(*ids: str) -> dict[str, Any]:
    """An answer with these calls, else with words."""
    calls = [{"type": "tool_use", "id": id, "name": "read", "input": {}} for id in ids]
    return {"role": "assistant", "content": calls or [text()]}


def edits(*ids: str) -> dict[str, Any]:
    """The block that deletes these."""
    return {"type": "cache_edits", "edits": [{"type": "delete", "cache_reference": id} for id in ids]}


def kinds(message: Any) -> list[str]:
    """The types of a message's blocks."""
    return [block["type"] for block in message["content"]]


TALK = [
    user(text("go")),
    says("a", "b"),
    user(result("a"), result("b")),
    says("c"),
    user(result("c"), text("and?")),
    says(),
    user(text("on"), text("and on")),
]


def test_the_wire_of_a_deletion() -> None:
    """References before the last message, the deletion before the last block of one without results."""
    sent = evicting(TALK, {6: ["a", "c"]})
    assert sent[2]["content"] == [result("a", cache_reference="a"), result("b", cache_reference="b")]
    assert sent[4]["content"] == [result("c", cache_reference="c"), text("and?")]
    assert sent[6]["content"] == [text("on"), edits("a", "c"), text("and on")]
    assert [sent[n] is TALK[n] for n in (0, 1, 3, 5)] == [True] * 4
    assert validate(sent) == []


def test_behind_the_last_result_and_with_a_filler_at_the_end() -> None:
    """It follows the last result; where it would end the message something of one character follows it."""
    talk = [*TALK[:2], user(result("a"), result("b")), says("c"), user(result("c"))]
    assert evicting(talk, {4: ["b"]})[4]["content"] == [result("c"), edits("b"), text(FILLER)]
    assert evicting(TALK, {4: ["b"]})[4]["content"] == [result("c", cache_reference="c"), edits("b"), text("and?")]
    assert len(FILLER) == 1


def test_references_end_at_the_last_marker() -> None:
    """Whatever block carries it, also one inside a result; without one at the last message."""

    def referred(talk: list[Any]) -> list[bool]:
        sent = evicting(talk, {})
        return ["cache_reference" in block for n in (2, 4) for block in sent[n]["content"] if "tool_use_id" in block]

    assert referred(TALK) == [True, True, True]
    assert referred([*TALK[:6], user(text(**MARK))]) == [True, True, True]
    assert referred([*TALK[:4], user(result("c", **MARK)), *TALK[5:]]) == [True, True, False]
    inner = result("c", content=[text("x", **MARK)])
    assert referred([*TALK[:4], user(inner), *TALK[5:]]) == [True, True, False]
    assert referred([user(text(**MARK)), *TALK[1:]]) == [False, False, False]


def test_each_result_is_deleted_once_and_only_where_it_is_known() -> None:
    """The first block in the order of messages has it; what nothing refers to is left out, and so is an empty block."""
    sent = evicting(TALK, {6: ["a", "b", "zzz", "a"], 4: ["a", "c"]})
    assert edits("a") in sent[4]["content"]
    assert edits("b") in sent[6]["content"]
    assert "cache_edits" not in kinds(evicting(TALK, {6: ["zzz"], 4: []})[6])
    assert evicting([user(text(**MARK)), *TALK[1:]], {6: ["a"]})[6] is TALK[6]


def test_a_string_becomes_blocks() -> None:
    """Only where a deletion stands in it."""
    talk = [*TALK[:6], {"role": "user", "content": "on"}]
    assert evicting(talk, {6: ["a"]})[6]["content"] == [edits("a"), text("on")]
    assert evicting(talk, {})[6] is talk[6]


def test_blocks_that_are_objects() -> None:
    """What an SDK returned is read, never changed."""
    block = SimpleNamespace(type="text", text="hm", model_dump=lambda **_: {"type": "text", "text": "hm"})
    answer = SimpleNamespace(role="assistant", content=[block])
    talk = [TALK[0], answer, *TALK[:5]]
    assert evicting(talk, {6: ["a"]})[1] is answer


def test_our_own_output_is_the_same_message() -> None:
    """R25: deletions, fillers and references are no part of what was said; a marker on a filler is on what it fills."""
    talk = [*TALK[:2], user(result("a"), result("b")), says("c"), user(result("c"))]
    sent = evicting(talk, {4: ["b"]})
    assert [DIALECT.plain(message) for message in sent] == [DIALECT.plain(message) for message in talk]
    sent[4]["content"][-1] |= MARK
    assert markers(sent[4]) == {0: MARK["cache_control"]}
    assert without_edits(sent[4])["content"] == [result("c", **MARK)]
    assert DIALECT.marked(talk[4], sent[4])["content"] == [result("c", **MARK)]
    assert DIALECT.plain(sent[4]) == talk[4]


def test_words_like_the_filler_are_kept() -> None:
    """A user who says nothing but a full stop has said that."""
    for said in ([text(FILLER)], [result("c"), text(FILLER)], [text(FILLER), text(FILLER)], [text(), text(FILLER)]):
        message = user(*said)
        sent = evicting([*TALK[:4], message], {4: ["a"]})[4]
        assert "cache_edits" in kinds(sent)
        assert without_edits(sent) == message
        assert DIALECT.plain(sent) == message


IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
parts = st.sampled_from([text(FILLER), text("on"), text("here", **MARK), IMAGE])


@st.composite
def requests(draw: st.DrawFn) -> tuple[list[Any], dict[int, list[str]]]:
    """A list of messages with calls, results, texts like fillers and markers, and deletions all over it."""
    first = st.sampled_from(["go", [text("go")], [text("go", **MARK)]])
    talk: list[Any] = [{"role": "user", "content": draw(first)}]
    known: list[str] = []
    for n in range(draw(st.integers(1, 7))):
        ids = [f"{n}{letter}" for letter in "ab"[: draw(st.integers(0, 2))]]
        results = [result(id, **draw(st.sampled_from([{}, {}, MARK]))) for id in ids]
        said = draw(st.lists(parts, min_size=not ids, max_size=2))
        talk += [says(*ids), user(*results, *said)]
        known += ids
    ids = st.lists(st.sampled_from([*known, "zzz"]), max_size=4)
    places = st.integers(0, len(talk) // 2).map(lambda n: 2 * n)
    return talk, draw(st.dictionaries(places, ids, max_size=4))


@given(requests())
def test_taking_it_away_is_exact(made: tuple[list[Any], dict[int, list[str]]]) -> None:
    """Promise 3: without deletions, references and fillers the same bytes; nothing handed in is changed."""
    talk, deletions = made
    before = copy.deepcopy(talk)
    sent = evicting(talk, deletions)
    assert talk == before
    for old, new in zip(talk, sent, strict=True):
        assert (new is old) == (new == old)
        back = without_edits(new)
        if isinstance(old["content"], str) and new is not old:
            old = {**old, "content": [text(old["content"])]}
        assert json.dumps(back) == json.dumps(old)
        assert DIALECT.plain(new) == DIALECT.plain(old)
        assert markers(new) == markers(old)


@given(requests())
def test_again_it_is_the_same(made: tuple[list[Any], dict[int, list[str]]]) -> None:
    """Idempotent, and then every message is the object handed in; with nothing to delete nothing of it is left."""
    talk, deletions = made
    sent = evicting(talk, deletions)
    assert all(a is b for a, b in zip(sent, evicting(sent, deletions), strict=True))
    assert evicting(sent, {}) == evicting([DIALECT.marked(DIALECT.plain(one), one) for one in sent], {})
    assert "cache_edits" not in json.dumps(evicting(sent, {}))


def _expected(talk: list[Any], deletions: dict[int, list[str]], last: int) -> list[str]:
    """The deletions in order: each once, of results that stand before it and before the last marker."""
    expected: list[str] = []
    for place in sorted(deletions):
        known = [block.get("tool_use_id") for n in range(2, min(place, last), 2) for block in talk[n]["content"]]
        expected += [id for id in dict.fromkeys(deletions[place]) if id in known and id not in expected]
    return expected


@given(requests())
def test_it_stands_where_the_rules_say(made: tuple[list[Any], dict[int, list[str]]]) -> None:
    """Behind the last result, else before the last block; never last; once for each; only behind its reference."""
    talk, deletions = made
    sent = evicting(talk, deletions)
    marked = [n for n, message in enumerate(talk) if isinstance(message["content"], list) and markers(message)]
    last = max(marked, default=len(talk) - 1)
    referred: set[str] = set()
    deleted: list[str] = []
    for n, message in enumerate(sent):
        content = message["content"] if isinstance(message["content"], list) else []
        places = [at for at, block in enumerate(content) if block["type"] == "cache_edits"]
        results = [at for at, block in enumerate(content) if block["type"] == "tool_result"]
        assert len(places) <= 1
        for at in places:
            assert at == (results[-1] + 1 if results else len(talk[n]["content"]) - 1)
            assert at < len(content) - 1
            ids = [edit["cache_reference"] for edit in content[at]["edits"]]
            assert ids
            assert set(ids) <= referred & set(deletions[n])
            deleted += ids
        for at in results:
            assert content[at].get("cache_reference") == (content[at]["tool_use_id"] if n < last else None)
        referred |= {content[at]["tool_use_id"] for at in results if n < last}
    assert deleted == _expected(talk, deletions, last)
    assert [found for found in validate(sent) if found.certain] == []


WRONG = [
    ("text with a reference", [user(text(cache_reference="a"))], "cache_edits"),
    ("another id", [*TALK[:2], user(result("a", cache_reference="x"), result("b"))], "cache_edits"),
    ("nothing known", [*TALK[:4], user(result("c"), edits("zzz"), text())], "cache_edits"),
    ("no reference", [*TALK[:4], user(result("c"), edits("a"), text())], "cache_edits"),
    ("of its own message", [*TALK[:2], user(*evicting(TALK, {})[2]["content"], edits("a"), text())], "cache_edits"),
    ("at the end", [*evicting(TALK, {})[:4], user(result("c"), edits("a"))], "cache_edits"),
    ("before a result", [*evicting(TALK, {})[:4], user(edits("a"), result("c"), text())], "cache_edits"),
    ("twice in a block", [*evicting(TALK, {})[:4], user(result("c"), edits("a", "a"), text())], "cache_edits"),
    ("twice", [*evicting(TALK, {6: ["a"]}), says(), user(edits("a"), text())], "cache_edits"),
    ("in an answer", [TALK[0], {"role": "assistant", "content": [edits("a"), text()]}, TALK[0]], "role"),
    ("nothing in it", [user({"type": "cache_edits", "edits": []}, text())], "shape"),
    ("no deletion", [user({"type": "cache_edits", "edits": [{"type": "add"}]}, text())], "shape"),
]


@pytest.mark.parametrize(("talk", "rule"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_the_witness_finds_what_is_misplaced(talk: list[Any], rule: str) -> None:
    """Each fault of a deletion or a reference is certain."""
    assert rule in {found.rule for found in validate(talk) if found.certain}
