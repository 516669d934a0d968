"""What an agent sends broken is mended: an example for each rule, and properties over all kinds of broken lists."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trimtab import Session, load
from trimtab.conversation import Conversation
from trimtab.counters.estimate import Estimate
from trimtab.dialects.openai import OpenAIChat, validate
from trimtab.storage.memory import MemoryBlobs, MemoryLedger

DIALECT = OpenAIChat()
GO = {"role": "user", "content": "go"}
WAIT = {"role": "user", "content": "wait"}
HALF = "half \ud83d"


def calls(*ids: str, content: Any = None, **more: Any) -> dict[str, Any]:
    """An answer that calls a tool under each id."""
    made = [{"id": id, "type": "function", "function": {"name": "bash", "arguments": f'{{"n": "{id}"}}'}} for id in ids]
    return {"role": "assistant", "content": content, "tool_calls": made, **more}


def says(text: Any) -> dict[str, Any]:
    """An answer of words."""
    return {"role": "assistant", "content": text}


def result(id: str, content: Any = None) -> dict[str, Any]:
    """A result."""
    return {"role": "tool", "tool_call_id": id, "content": f"result of {id}" if content is None else content}


def path_of(messages: list[Any]) -> list[Any]:
    """The path of a list of messages."""
    return Conversation(DIALECT, Estimate()).locate(messages).path


def repaired(messages: list[Any]) -> list[Any]:
    """The messages as they would be sent; the repairs survive the ledger."""
    path = path_of(messages)
    edits = {edit.message: edit for edit in DIALECT.repair(path, 0)}
    sent = []
    for node in path:
        edit = edits.get(node.id)
        blocks = None if edit is None else json.loads(json.dumps(edit.blocks))
        sent.append(node.wire if blocks is None else DIALECT.rebuild(node, blocks, {}))
    return sent


VALID = {
    "a conversation": [GO, calls("a"), result("a"), says("done"), WAIT],
    "parallel calls in any order": [GO, calls("a", "b"), result("b"), result("a"), WAIT],
    "ids that return": [
        GO,
        calls("a"),
        result("a"),
        calls("a"),
        result("a"),
        calls("b", "a"),
        result("b"),
        result("a"),
    ],
    "answers in a row": [GO, says("one"), says("two"), calls("a"), result("a")],
    "a call that still waits": [GO, calls("a")],
    "system messages": [
        {"role": "system", "content": ""},
        GO,
        calls("a"),
        result("a"),
        {"role": "developer", "content": "x"},
    ],
    "empty results": [GO, calls("a"), result("a", "")],
    "no calls": [GO, {**says("x"), "tool_calls": []}],
    "white space beside calls": [GO, calls("a", content="\n\n"), result("a")],
    "arguments that are no JSON": [
        GO,
        {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{"}}]},
        result("a"),
    ],
    "the old kind": [
        GO,
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "x"},
    ],
    "a refusal": [GO, {"role": "assistant", "content": None, "refusal": "No."}],
    "an audio answer": [GO, {"role": "assistant", "content": None, "audio": {"id": "x"}}],
    "a picture": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://e.org/a"}}]}],
}


@pytest.mark.parametrize("name", VALID)
def test_valid_lists_stay(name: str) -> None:
    """What a server takes is not touched."""
    assert DIALECT.repair(path_of(VALID[name]), 0) == []


ORPHAN = "[Result of a tool call that is not part of this conversation]\n"
UNANSWERED = '[Call of bash whose result is not part of this conversation]\n{{"n": "{}"}}'.format

MENDED: dict[str, tuple[list[Any], list[Any]]] = {
    "a call without result": ([GO, calls("a"), WAIT], [GO, says(UNANSWERED("a")), WAIT]),
    "beside words": ([GO, calls("a", content="I look."), WAIT], [GO, says("I look.\n\n" + UNANSWERED("a")), WAIT]),
    "one of two calls": (
        [GO, calls("a", "b"), result("b"), WAIT],
        [GO, calls("b", content=UNANSWERED("a")), result("b"), WAIT],
    ),
    "another answer follows": ([GO, calls("a"), says("x"), WAIT], [GO, says(UNANSWERED("a")), says("x"), WAIT]),
    "another answer ends the list": ([GO, calls("a"), says("x")], [GO, says(UNANSWERED("a")), says("x")]),
    "reasoning stays with its words": (
        [GO, calls("a", reasoning_content="hm"), WAIT],
        [GO, {**says(UNANSWERED("a")), "reasoning_content": "hm"}, WAIT],
    ),
    "an orphaned result": ([GO, result("x"), says("x")], [GO, {**GO, "content": f"{ORPHAN}result of x"}, says("x")]),
    "an orphan at the start": ([result("x")], [{**GO, "content": f"{ORPHAN}result of x"}]),
    "an orphan between results": (
        [GO, calls("a", "b"), result("a"), result("x"), result("b")],
        [GO, calls("a", "b"), result("a"), result("b"), {**GO, "content": f"{ORPHAN}result of x"}],
    ),
    "a result twice": (
        [GO, calls("a"), result("a", "pending"), result("a", "final")],
        [GO, calls("a"), result("a", "pending"), {**GO, "content": f"{ORPHAN}final"}],
    ),
    "a result after another answer": (
        [GO, calls("a"), WAIT, says("x"), result("a")],
        [GO, says(UNANSWERED("a")), WAIT, says("x"), {**GO, "content": f"{ORPHAN}result of a"}],
    ),
    "the user between call and result": (
        [GO, calls("a", "b"), result("a"), {**WAIT, "name": "bob"}, result("b")],
        [GO, calls("a", "b"), result("a"), result("b"), {**WAIT, "name": "bob"}],
    ),
    "the system between call and result": (
        [GO, calls("a"), {"role": "system", "content": "x"}, result("a")],
        [GO, calls("a"), result("a"), {"role": "system", "content": "x"}],
    ),
    "calls of answers in a row": (
        [GO, calls("a"), calls("b"), result("a"), result("b")],
        [GO, calls("a"), result("a"), calls("b"), result("b")],
    ),
    "words between call and result": (
        [GO, calls("a"), says("meanwhile"), result("a")],
        [GO, says("meanwhile"), calls("a"), result("a")],
    ),
    "one id for two calls": (
        [GO, calls("a", "a"), result("a", "one"), result("a", "two")],
        [GO, calls("a", content=UNANSWERED("a")), result("a", "one"), {**GO, "content": f"{ORPHAN}two"}],
    ),
    "nothing said": (
        [GO, says(None), {**GO, "content": " "}],
        [GO, says("(no content)"), {**GO, "content": "(no content)"}],
    ),
    "nothing but reasoning": (
        [GO, {**says(""), "reasoning_content": "hm"}, WAIT],
        [GO, {**says("(no content)"), "reasoning_content": "hm"}, WAIT],
    ),
    "a result of null": ([GO, calls("a"), {**result("a"), "content": None}], [GO, calls("a"), result("a", "")]),
    "half a character": (
        [{**GO, "content": HALF, "name": HALF}, calls("a", content=HALF, reasoning_content=HALF), result("a", HALF)],
        [
            {**GO, "content": "half \ufffd", "name": "half \ufffd"},
            calls("a", content="half \ufffd", reasoning_content="half \ufffd"),
            result("a", "half \ufffd"),
        ],
    ),
    "two halves": ([{**GO, "content": "\ud83d\ude00"}], [{**GO, "content": "😀"}]),
}


@pytest.mark.parametrize("name", MENDED)
def test_broken_lists_are_mended(name: str) -> None:
    """To exactly this list, which is valid and needs no more."""
    said, sent = MENDED[name]
    assert [DIALECT.canonical(one) for one in repaired(said)] == [DIALECT.canonical(one) for one in sent]
    assert [one for one in validate(sent) if one.certain] == []
    assert repaired(sent) == sent


def test_media_of_an_orphan_stay() -> None:
    """A picture in a result without its call goes into the user's message."""
    picture = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    (sent,) = repaired([result("x", [{"type": "text", "text": "seen"}, picture])])
    assert sent == {"role": "user", "content": [{"type": "text", "text": ORPHAN + "seen"}, picture]}


def test_long_arguments_are_clipped() -> None:
    """Of a call without result the start of the arguments is said."""
    answer = calls("a")
    answer["tool_calls"][0]["function"]["arguments"] = "x" * 100_000
    assert len(repaired([GO, answer, WAIT])[1]["content"]) < 2_200


def test_what_was_mended_keeps_its_faces() -> None:
    """A repair that leaves a result in place leaves its replacement there too."""
    path = path_of([GO, calls("a", "b", reasoning_content="hm"), result("a"), WAIT])
    (edit,) = DIALECT.repair(path, 0)
    wire = DIALECT.rebuild(path[1], edit.blocks, {0: None, 1: '{"n": "-"}'})
    assert wire["reasoning_content"] == ""
    assert wire["tool_calls"][0]["function"]["arguments"] == '{"n": "-"}'
    assert "Call of bash" in wire["content"]


def test_removed_thinking_stays_removed() -> None:
    """Also where half of a character in it was mended."""
    path = path_of([GO, {**says("x"), "reasoning_content": HALF}])
    (edit,) = DIALECT.repair(path, 0)
    assert DIALECT.rebuild(path[1], edit.blocks, {})["reasoning_content"] == "half \ufffd"
    assert DIALECT.rebuild(path[1], edit.blocks, {0: None}) == says("x")


def test_a_repair_can_be_taken_back() -> None:
    """The blocks as said make the message as said, whatever stands there now."""
    for said, _ in MENDED.values():
        for node in path_of(said):
            blocks = [block.wire for block in node.blocks]
            assert DIALECT.canonical(DIALECT.rebuild(node, blocks, {})) == DIALECT.canonical(node.wire)


# ------------------------------------------------------------------ properties


def broken_list(seed: int) -> list[Any]:
    """Messages in an order that no agent should send, each with words of its own."""
    rng = random.Random(seed)
    messages: list[Any] = []
    for n in range(rng.randint(1, 12)):
        word = f"w{n}" + ("\ud83d" if rng.random() < 0.05 else "")
        kind = rng.randrange(12)
        if kind < 4:
            ids = [f"c{rng.randrange(4)}" for _ in range(rng.randint(1, 3))]
            messages.append(calls(*ids, content=rng.choice([None, "", word, [{"type": "text", "text": word}]])))
            if rng.random() < 0.3:
                messages[-1]["reasoning_content"] = f"thought {word}"
            if rng.random() < 0.6:
                messages += [
                    result(id, f"r{n}.{at}") for at, id in enumerate(rng.sample(ids, rng.randint(1, len(ids))))
                ]
        elif kind < 8:
            messages.append(result(f"c{rng.randrange(5)}", rng.choice([word, [{"type": "text", "text": word}], None])))
        elif kind < 10:
            messages.append({"role": "user", "content": rng.choice([word, word, "", " ", None])})
        else:
            messages.append(
                {"role": rng.choice(["assistant", "system", "developer"]), "content": rng.choice([word, ""])}
            )
    return messages


def words_of(messages: list[Any]) -> str:
    """All that is said, as one string."""
    return json.dumps(messages, ensure_ascii=False).replace("\\", "")


@given(st.integers(0, 2**32))
def test_broken_lists_become_valid(seed: int) -> None:
    """No certain violation is left, but for calls that end the list; mending again changes nothing."""
    said = broken_list(seed)
    sent = repaired(said)
    waits = sent[-1]["role"] == "assistant"
    assert [one for one in validate(sent) if one.certain and not (waits and one.rule == "C1")] == []
    assert len(sent) == len(said)
    assert repaired(sent) == sent
    assert repaired(said) == sent


@given(st.integers(0, 2**32))
def test_nothing_said_is_lost(seed: int) -> None:
    """Every text, thought, argument and result is still in the request."""
    said = broken_list(seed)
    sent = words_of(repaired(said))
    for node in path_of(said):
        for block in node.blocks:
            text = block.text.replace("\ud83d", "\ufffd").replace("\\", "")
            assert text.strip() in sent
            assert text.replace('"', "") in sent.replace('"', "")


@given(st.integers(0, 2**32), st.integers(0, 40))
def test_a_later_start_finds_the_same(seed: int, at: int) -> None:
    """From the exchange that ``start`` lies in on, the repairs are those of the whole list."""
    path = path_of(broken_list(seed))
    start = min(at, len(path))
    whole, part = DIALECT.repair(path, 0), DIALECT.repair(path, start)
    assert whole[len(whole) - len(part) :] == part
    later = {node.id for node in path[start:]}
    assert [edit for edit in part if edit.message in later] == [edit for edit in whole if edit.message in later]


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_request_by_request_it_is_the_same(seed: int) -> None:
    """A session that grows message by message sends at each step what the whole list would be mended to."""
    overrides = {"counter": "estimate", "provider": {"kind": "openai"}}
    profile = load("minimal", overrides=overrides, env={}, cwd="/")
    session = Session.open("s", profile, ledger=MemoryLedger("memory:"), blobs=MemoryBlobs("memory:"))
    said = broken_list(seed)
    for length in range(1, len(said) + 1):
        request = session.prepare(said[:length])
        assert request.report.failures == []
        assert [DIALECT.canonical(one) for one in request.messages] == [
            DIALECT.canonical(one) for one in repaired(said[:length])
        ]


def test_a_call_said_as_words_is_taken_back() -> None:
    """Where its result comes after all, with the next request, the call is a call again."""
    profile = load("minimal", overrides={"provider": {"kind": "openai"}}, env={}, cwd="/")
    session = Session.open("s", profile, ledger=MemoryLedger("memory:"), blobs=MemoryBlobs("memory:"))
    messages = [GO, calls("a", "b"), result("a")]
    assert len(session.prepare(messages).messages[1]["tool_calls"]) == 1
    assert session.prepare([*messages, result("b")]).messages == [*messages, result("b")]
