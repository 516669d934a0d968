"""One conversation is recognised in whatever form it comes back, and two are never mixed (R25, R8)."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from play import (
    LONG,
    Play,
    bare,
    call,
    decided,
    edits,
    marked,
    raw,
    result,
    rounds,
    says,
    shown,
    talk,
    text,
    thinks,
    user,
)
from scenes import every_kind
from stages import Budget, Greet, KeepWords, Remind


class Dumped:
    """A content block as an SDK gives it: fields, and `model_dump`."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = {"citations": None, **fields}

    def model_dump(self, mode: str = "python", exclude_none: bool = False, **_: Any) -> dict[str, Any]:
        """Its fields, copied."""
        fields = copy.deepcopy(self.fields)
        return {key: value for key, value in fields.items() if value is not None or not exclude_none}


def dumped(messages: list[Any]) -> list[Any]:
    """The answers of a history as an SDK's objects."""
    return [
        {**message, "content": [Dumped(block) for block in message["content"]]}
        if message["role"] == "assistant"
        else message
        for message in messages
    ]


def as_strings(messages: list[Any]) -> list[Any]:
    """Contents of one text block as strings, a result's too."""
    copies = copy.deepcopy(messages)
    for message in copies:
        if len(message["content"]) == 1 and message["content"][0]["type"] == "text":
            message["content"] = message["content"][0]["text"]
    return copies


def with_nulls(messages: list[Any]) -> list[Any]:
    """A history read back from disk, with the empty fields of an SDK's model."""
    copies = copy.deepcopy(messages)
    for message in copies:
        message["content"] = [{**block, "citations": None, "cache_control": None} for block in message["content"]]
    return copies


SPELLINGS: dict[str, Callable[[list[Any]], Any]] = {
    "copies": copy.deepcopy,
    "key order": lambda messages: [dict(reversed(list(message.items()))) for message in messages],
    "marker first": lambda messages: marked(messages, 0),
    "marker last": marked,
    "markers": lambda messages: marked(marked(messages, -3)),
    "nulls": with_nulls,
    "objects": dumped,
    "strings": as_strings,
    "tuple": tuple,
    "tuples": lambda messages: tuple({**message, "content": tuple(message["content"])} for message in messages),
}


@pytest.mark.parametrize("between", ["nothing", "another conversation", "a new process"])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_is_the_same_conversation(spelling: str, between: str) -> None:
    """Markers, SDK objects, tuples, strings for blocks, nulls and key order change nothing of what is sent."""
    play, messages, request = every_kind()
    if between == "a new process":
        play.again(stages=[])
    elif between == "another conversation":
        play.again(stages=[])
        play.send(messages)
        play.send([messages[0], user("elsewhere")])
    spelt = SPELLINGS[spelling](messages)
    new = play.session.prepare(spelt)
    assert new.report.failures == []
    assert decided(new) == []
    path = {message.id for message in play.session.view.projection.path}
    assert path <= {*play.session.conversation.nodes}
    assert len(play.session.conversation.roots) == 1
    nodes = play.session.conversation.nodes
    assert len(nodes) == len(messages) + (between == "another conversation")
    assert sum(len(node.children) for node in nodes.values()) == len(nodes) - 1
    for ours, theirs in zip(new.messages, request.messages, strict=True):
        if theirs in messages:
            assert any(ours is one for one in spelt)
        else:
            assert without_nulls(bare(ours)) == theirs


def without_nulls(value: Any) -> Any:
    """A copy without empty fields."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def test_spellings_that_alternate() -> None:
    """A client that sends the newest message as a block with a marker and later as a string loses no pin, no face."""
    hooks = [{"keep-words": {"words": "never push"}}]
    play = Play(Budget, KeepWords, Remind, stages=["budget", "remind"], hooks=hooks)
    messages: list[Any] = [{"role": "user", "content": "Please never push. Mend it."}, *rounds(1)]
    before = None
    for turn in range(4):
        request = play.send(marked(messages))
        assert [pin.text for pin in request.report.pins] == ["never push"]
        assert before is None or (request.report.held == 1 + len(before.messages))
        before = request
        messages = [*messages, *rounds(1, first=10 + turn), says("So?"), {"role": "user", "content": f"Yes {turn}."}]
    assert len(play.session.conversation.nodes) == len(messages) - 4


def test_forks_share_what_lies_before_and_nothing_behind() -> None:
    """A fork shows the decisions on its own path only; the first branch comes back byte for byte."""
    play, messages, request = every_kind()
    fork = [*messages[:5], user("Another way."), *rounds(2, first=40)]
    other = play.send(fork)
    assert "Another way." in shown(other)
    assert "c7: " not in shown(other)
    assert raw(play.send(messages)) == raw(request)
    assert raw(play.send(fork)) == raw(other)
    play.again(stages=[])
    assert raw(play.send(fork)) == raw(other)
    assert raw(play.send(messages)) == raw(request)


def test_a_rewind_keeps_what_was_decided_before_it() -> None:
    """Going back to an earlier point and answering otherwise leaves the faces in front of it alone."""
    play = Play(Budget, stages=["budget"])
    messages = talk(1)
    for n in range(4):
        play.send(messages)
        messages = [*messages, *rounds(1, first=10 + n)]
    first = play.send(messages)
    back = [*messages[:5], user("No: stop here.")]
    second = play.send(back)
    assert raw(second).startswith(json.dumps(bare(first.messages[:5]), sort_keys=True)[:-1])
    assert decided(play.send(messages)) == []
    assert raw(play.send(messages)) == raw(first)


def test_two_conversations_under_one_id() -> None:
    """A sub-agent that shares the id: requests alternate, each gets its own bytes, both stay cached."""
    play = Play(Budget, Greet, stages=["budget"], hooks=["greet"])
    main, sub = talk(1), [user("You search."), *rounds(1, first=500)]
    last: dict[int, str] = {}
    for n in range(4):
        for who, messages in enumerate((main, sub)):
            request = play.send(messages)
            assert "c50" in shown(request) if who else "c50" not in shown(request)
            if n:
                assert raw(request).startswith(last[who][:-1])
                assert request.report.held > 2 * n
            last[who] = raw(request)
            messages += rounds(1, first=len(messages) + 500 * who)
    assert [said.count("House rule") for said in last.values()] == [1, 1]


def test_edits_in_place_by_the_caller() -> None:
    """A message or a nested block that the caller changes in its own list is another message from then on."""
    play = Play(Budget, stages=["budget"])
    messages = talk(3)
    before = play.send(messages)
    messages[3]["content"][0]["input"]["file_path"] = "/elsewhere.py"
    after = play.send(messages)
    assert "/elsewhere.py" in shown(after)
    assert after.report.held == 4
    messages[0]["content"][0]["text"] = "Mend the lexer."
    assert "Mend the lexer." in shown(play.send(messages))
    messages[0]["content"] = "Mend the parser, please."
    messages[3]["content"][0]["input"]["file_path"] = "/src/c1.py"
    back = play.send(messages)
    assert [bare(message) for message in back.messages[1:]] == bare(before.messages[1:])
    assert back.messages[0] is messages[0]


def test_an_image_edited_in_place() -> None:
    """Two pictures of the same size are two messages."""
    play = Play()
    picture: dict[str, Any] = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}}
    messages = [user(picture, "What is it?")]
    play.send(messages)
    picture["source"]["data"] = "bbbb"
    assert play.send(messages).report.held == 1
    assert len(play.session.conversation.roots) == 2


def test_a_number_that_equals_nothing() -> None:
    """NaN in arguments, parsed anew for every request, is one message all the same."""
    play = Play(Budget, stages=["budget"])
    for _ in range(3):
        messages = [user("go"), says(call("a", limit=float("nan"))), user(result("a"))]
        play.session.prepare(messages)
    nodes = play.session.conversation.nodes
    assert len(nodes) == 3
    assert sum(len(node.children) for node in nodes.values()) == 2
    assert len(edits(play)) == 1


def test_thinking_as_objects_keeps_its_bytes() -> None:
    """An SDK's thinking blocks go out as the very objects that came in."""
    play = Play(Budget, stages=["budget"])
    messages = dumped([user("go"), says(thinks("hm"), call("a")), user(result("a")), says(text("Done.")), user("on")])
    request = play.session.prepare(messages)
    assert all(new is old for new, old in zip(request.messages, messages, strict=True))
    assert LONG in str(request.messages)
