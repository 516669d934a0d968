"""Tools that stages offer, and the tags by which a model names messages (R13)."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

import pytest
from play import Play, bare, call, edits, raw, result, says, shown, talk, user
from trimtab import Drop, Note, Stage, Tool, ToolError

OURS = {"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "string"}}}, "required": ["ids"]}


class Forget(Stage):
    """Drops the rounds whose tags the model named."""

    name = "forget"

    def propose(self, view: Any) -> Iterator[Any]:
        """Whole rounds."""
        wanted = view.notes("forget") or []
        for round in view.rounds[:-1]:
            if any(view.tag(item) in wanted for item in round.messages if view.tag(item)):
                yield Drop(round, "asked for")

    def tags(self) -> bool:
        """It needs them."""
        return True

    def tools(self, view: Any) -> Sequence[Tool]:
        """One."""
        return [Tool("forget", "Forget messages by tag.", OURS)]

    def call_tool(self, view: Any, name: str, input: Mapping[str, Any]) -> Generator[Any, Any, str]:
        """Note what is known, refuse what is not."""
        ids = input.get("ids") or []
        if not all(view.tagged(id) for id in ids):
            raise ToolError("no message has that tag")
        if ids == ["boom"]:
            raise ValueError("boom")
        yield Note("forget", [*(view.notes("forget") or []), *ids])
        return f"{len(ids)} will go."


def play(**more: Any) -> Play:
    """A session with stage tools."""
    return Play(Forget, stages=[{"forget": {"when": "cold"}}], **{"stage_tools": True, **more})


def grow(one: Play, count: int) -> Any:
    """Requests one by one; the last."""
    requests = [one.send(talk(n)) for n in range(count + 1)]
    return requests[-1]


def tags(request: Any) -> list[str]:
    """The tags in a request, in order."""
    return re.findall(r"\[id:([0-9a-f]{6})\]", shown(request))


def test_every_user_role_message_ends_with_a_tag() -> None:
    """On its last text, else at the end of the last result; assistant messages have none."""
    one = play()
    request = grow(one, 3)
    assert len(tags(request)) == len(set(tags(request))) == 4
    assert request.messages[0]["content"][-1]["text"].endswith(f"\n[id:{tags(request)[0]}]")
    assert request.messages[2]["content"][-1]["content"].endswith("]")
    assert request.messages[1] is not None
    assert "[id:" not in str(request.messages[1])


def test_tags_begin_with_what_was_not_sent() -> None:
    """A conversation met in mid-course is not rewritten."""
    one = play(stage_tools=False)
    messages = talk(3)
    before = one.send(messages)
    assert tags(before) == []
    one.stage_tools = True
    one.again()
    request = one.send([*messages, says(call("x")), user(result("x"))])
    assert len(tags(request)) == 1
    assert bare(request.messages[: len(messages)]) == bare(before.messages)


def test_requests_only_grow() -> None:
    """A tag never changes and never goes: each request begins with the one before."""
    one = play()
    messages = talk(1)
    last: list[Any] = []
    for n in range(6):
        request = one.send(messages)
        assert bare(request.messages[: len(last)]) == last
        last = bare(request.messages)
        messages = [*messages, says(call(f"n{n}")), user(result(f"n{n}"))]


def test_our_output_handed_back_changes_nothing() -> None:
    """Tagged messages are known as what they stand for, in this process and in the next (R25)."""
    one = play()
    request = grow(one, 3)
    again = one.send(request.messages)
    assert raw(again) == raw(request)
    one.again()
    assert raw(one.send(request.messages)) == raw(request)
    assert len(one.session.view.projection.path) == 7
    assert one.session.conversation.roots[1:] == []


def test_a_user_may_write_what_looks_like_a_tag() -> None:
    """Only the tag that we would have given is taken away again."""
    one = play()
    request = one.send([user("Look at this:\n[id:abcdef]")])
    assert "[id:abcdef]\n[id:" in request.messages[0]["content"][0]["text"]
    assert raw(one.send(request.messages)) == raw(request)


def test_a_call_is_answered_and_carried_out() -> None:
    """The result is a block to send back; what was asked for goes when the stage's `when` is open."""
    one = play()
    messages = talk(4)
    request = grow(one, 4)
    answer = one.session.call_tool(call("f1", "forget", ids=[tags(request)[1]]))
    assert answer == {"type": "tool_result", "tool_use_id": "f1", "content": "1 will go."}
    messages = [*messages, says(call("f1", "forget", ids=[tags(request)[1]])), user(answer)]
    assert raw(one.send(messages)).count("c0.py") > 0
    assert "c0.py" not in raw(one.cold(messages))


def test_a_refusal_is_an_error_result() -> None:
    """The reason reaches the model, nothing is recorded; a tool that fails says so too."""
    one = play()
    one.send(talk(2))
    answer = one.session.call_tool(call("f1", "forget", ids=["000000"]))
    assert answer["is_error"] is True
    assert answer["content"] == "no message has that tag"
    assert one.session.notes() == {}


def test_calls_of_other_tools_are_the_callers() -> None:
    """None for what no stage offers, and for what is no call."""
    one = play()
    one.send(talk(2))
    assert one.session.call_tool(call("c9", "Read")) is None
    assert one.session.call_tool({"type": "text", "text": "hello"}) is None


def test_tools_go_behind_the_callers_and_stay() -> None:
    """Offered from the first request on, once, also where the caller hands them back."""
    one = play()
    mine = [{"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}}]
    request = one.send(talk(1), tools=mine)
    assert [tool["name"] for tool in request.tools] == ["Read", "forget"]
    assert [tool["name"] for tool in one.send(talk(2), tools=request.tools).tools] == ["Read", "forget"]
    assert [tool["name"] for tool in mine] == ["Read"]


def test_tools_are_fixed_at_the_first_request() -> None:
    """A profile that changes in mid-conversation changes no tool: the cache of everything would be lost."""
    one = play()
    first = one.send(talk(1))
    one.again(stages=[])
    assert one.send(talk(2)).tools == first.tools


@pytest.mark.parametrize("stage_tools", [False])
def test_nobody_who_did_not_ask_gets_tools(stage_tools: bool) -> None:
    """Without `stage_tools` there are no tools, no tags, and no answers."""
    one = play(stage_tools=stage_tools)
    request = one.send(talk(2))
    assert request.tools is None
    assert tags(request) == []
    assert one.session.call_tool(call("f1", "forget", ids=[])) is None


def test_a_resumed_session_tags_the_same() -> None:
    """The next process sends the same bytes."""
    one = play()
    request = grow(one, 3)
    one.again()
    assert raw(one.send(talk(3))) == raw(request)
    assert len(edits(one, "tag")) == 1
