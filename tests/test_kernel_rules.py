"""What no stage may do, whenever it may do something: the local rules, each with the words of its refusal (R7, R24)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from play import Play, bare, call, decided, raw, result, rounds, says, shown, talk, text, thinks, user, why
from stages import ClearOld, Do
from trimtab import Drop, Fold, Insert, Note, Pin, Replace, Restore

LONG_ANSWER = "I have read all of the parser now and will mend it, one function after the other. " * 3
TALK = [*talk(3), says(text(LONG_ANSWER)), user("Thanks. Now the lexer."), *rounds(2, first=3)]
"""user, three rounds, an answer, user, two rounds."""


@pytest.fixture(autouse=True)
def fresh() -> None:
    """No test sees what another one told the stage."""
    Do.now = None


def refusals(messages: list[Any], *proposals: Callable[[Any], Any]) -> list[str]:
    """What each proposal is refused for, in a manual pass of its own; empty where it passes."""
    found = []
    for propose in proposals:
        Do.now = lambda view, propose=propose: [propose(view)]
        request = Play(Do, stages=[{"do": {"when": "cold"}}]).session.compact(messages)
        assert request.report.failures == []
        found.append(next(iter(why(request, "do")), ""))
        assert (found[-1] == "") == ("do" in decided(request))
    return found


def test_replace() -> None:
    """Texts, results and media of shown messages, shorter, not in the latest answer."""
    wrong: Any = 5
    said = [*TALK, says(text(LONG_ANSWER), thinks("hm"), call("z")), user(result("z", ""))]
    assert refusals(
        said,
        lambda view: Replace(view.results[0], "[cleared]"),
        lambda view: Replace(view.messages[7].message.blocks[0], "Short."),
        lambda view: Replace(view.messages[-2].message.blocks[0], "Short."),
        lambda view: Replace(view.messages[-2].message.blocks[1], "x"),
        lambda view: Replace(view.messages[1].message.blocks[0], "x"),
        lambda view: Replace(view.results[0], view.results[0].text),
        lambda view: Replace("nowhere.0", "x"),
        lambda view: Replace(view.results[0].id + "9", "x"),
        lambda view: Replace(view.results[-1], "The tool said nothing, as it does when all is well."),
        lambda view: Replace(view.results[-1], "x" * 101),
        lambda view: Replace(view.results[0], ""),
        lambda view: Replace(view.results[0], wrong),
    ) == [
        "",
        "",
        "latest assistant message",
        "thinking of assistant cannot be replaced",
        "not a JSON object with the call's keys",
        "does not shrink",
        "no such block",
        "no such block",
        "",
        "does not shrink",
        "empty text",
        "empty text",
    ]


def test_drop() -> None:
    """Whole rounds, or turns with their user message; never the latest round, never a part."""
    assert refusals(
        TALK,
        lambda view: Drop(view.rounds[0]),
        lambda view: Drop(view.rounds[:3]),
        lambda view: Drop(view.turns[0]),
        lambda view: Drop(view.rounds[-1]),
        lambda view: Drop(view.turns[-1]),
        lambda view: Drop([view.messages[1]]),
        lambda view: Drop([view.messages[2]]),
        lambda view: Drop([view.messages[0]]),
        lambda view: Drop([view.messages[0], *view.rounds[0].messages]),
        lambda view: Drop(["nowhere"]),
        lambda view: Drop([]),
    ) == ["", "", "", "latest round", "latest round", *["not whole"] * 4, "not on this path", "no targets"]


def test_fold() -> None:
    """One run of whole rounds of the view, with the user messages between; its text is shorter."""
    assert refusals(
        TALK,
        lambda view: Fold(view.messages[:3], "Sum."),
        lambda view: Fold(view.messages[:9], "Sum."),
        lambda view: Fold(view.messages[1:7], "Sum."),
        lambda view: Fold(view.messages[:2], "Sum."),
        lambda view: Fold([view.messages[1], view.messages[2], view.messages[5], view.messages[6]], "Sum."),
        lambda view: Fold(view.messages[:12], "Sum."),
        lambda view: Fold(view.messages[:3], "x " * 2_000),
        lambda view: Fold(view.messages[:3], " "),
    ) == ["", "", "", "not whole", "not one run of the view", "latest round", "does not shrink", "empty text"]


def test_nothing_crosses_a_fold() -> None:
    """A fold is taken whole or left whole: by folds, by drops, by edits of what is inside."""
    play = Play(Do, stages=[{"do": {"when": "cold"}}])
    Do.now = lambda view: [Fold(view.messages[:5], "First two rounds.")]
    play.session.compact(TALK)
    path = play.session.view.projection.path
    ids = [message.id for message in path]
    tries: dict[str, list[Any]] = {
        "crosses a fold": [Drop(ids[1:3]), Drop([*ids[3:5]])],
        "not one run of the view": [Fold(ids[3:7], "Sum.")],
        "not in the view": [Replace(path[2].blocks[0], "x"), Drop(ids[1:5])],
    }
    for reason, edits in tries.items():
        for edit in edits:
            Do.now = lambda view, edit=edit: [edit]
            request = play.session.compact(TALK)
            assert list(why(request, "do")) in ([reason], ["crosses a fold"]), edit
            assert request.messages[0] == user("First two rounds.")
    Do.now = lambda view: [Fold(view.messages[:3], "All three.")]
    assert play.session.compact(TALK).messages[0] == user("All three.")
    Do.now = lambda view: [Drop(view.messages[0])]
    assert list(why(play.session.compact(TALK), "do")) == ["not whole"]


def test_roles_stay_apart() -> None:
    """No drop leaves two answers side by side, or one at the very start; no system message goes."""
    system = {"role": "system", "content": "From now on in French."}
    said = [user("go"), says(text("I see.")), user("on"), says("Done."), user("x"), system, *rounds(2)]
    said += [says("y"), user("z")]
    assert refusals(
        [*said, *rounds(1, first=8)],
        lambda view: Drop([view.messages[5]]),
        lambda view: Drop([view.messages[4], view.messages[5], *view.messages[6:11]]),
        lambda view: Fold(view.messages[3:9], "Sum."),
        lambda view: Drop([view.messages[0], view.messages[1]]),
    ) == ["system message", "system message", "system message", ""]


def test_insert() -> None:
    """At the end behind a user message, once; behind a boundary; into the system text before the first request."""
    system, wrong = {"role": "system", "content": "Mind the time."}, cast(Any, "elsewhere")
    assert refusals(
        TALK,
        lambda view: Insert("tail", "Hello."),
        lambda view: Insert("system", "Hello."),
        lambda view: Insert("after_boundary", "Hello."),
        lambda view: Insert(wrong, "Hello."),
        lambda view: Insert("tail", " "),
    ) == [
        "",
        "system text is fixed after the first request",
        "no boundary",
        "no anchor 'elsewhere'; it is one of after_boundary, system, tail",
        "empty text",
    ]
    for last in (says("So."), system):
        assert refusals([*TALK, last], lambda view: Insert("tail", "Hello.")) == [
            "the conversation does not end with a user message"
        ]
    Do.now = lambda view: [Insert("tail", "Hello."), Insert("tail", "Hello."), Insert("tail", "And?")]
    request = Play(Do, stages=["do"]).send(TALK)
    assert why(request, "do") == {"already inserted": 1}
    assert request.messages[-2:] == [user("Hello."), user("And?")]


def test_thinking() -> None:
    """Thinking goes by whole messages, from one end, never of the open turn; what is gone never comes back."""
    said: list[Any] = []
    for n in range(4):
        said += [user(f"{n}?"), says(thinks(f"a{n}"), thinks(f"b{n}"), text("Yes."))]
    said += [user("And?"), says(thinks("open"), call("o")), user(result("o"))]

    def blocks(view: Any, *at: int) -> list[Any]:
        return [block for n in at for block in view.messages[2 * n + 1].message.blocks[:2]]

    assert refusals(
        said,
        lambda view: Drop([block.id for block in blocks(view, 0, 1, 2)]),
        lambda view: Drop([block.id for block in blocks(view, 3)]),
        lambda view: Drop([block.id for block in blocks(view, 1)]),
        lambda view: Drop([blocks(view, 0)[0].id]),
        lambda view: Drop([view.messages[9].message.blocks[0].id]),
        lambda view: Drop([view.messages[1].message.blocks[2].id]),
    ) == [
        "",
        "would break the run of thinking",
        "would break the run of thinking",
        "part of a message's thinking",
        "thinking of the open turn or the latest answer",
        "not thinking that the view shows",
    ]
    play = Play(Do, stages=[{"do": {"when": "cold"}}])
    Do.now = lambda view: [Drop([block.id for block in blocks(view, 0)])]
    play.session.compact(said)
    Do.now = None
    play.session.restore(1)
    assert "signed a0" not in shown(play.send(said))
    assert "signed a1" in shown(play.send(said))


def test_a_message_of_nothing_but_thinking_keeps_it() -> None:
    """Without its thinking it would be empty."""
    said = [user("0?"), says(thinks("all of it")), user("1?"), says("Yes."), user("2?")]
    assert refusals(said, lambda view: Drop([view.messages[1].message.blocks[0].id])) == [
        "would leave an empty message"
    ]


def test_what_a_stage_may_not_yield() -> None:
    """Pins are for hooks; anything else is no edit."""
    assert refusals(
        TALK,
        lambda view: Pin(view.messages[0].message.blocks[0]),
        lambda view: "an edit",
        lambda view: None,
        lambda view: Note("k", 1, upto="nowhere"),
        lambda view: Restore((1,)),
    ) == [
        "a stage may not yield Pin",
        "a stage may not yield str",
        "a stage may not yield NoneType",
        "the note's message is not on this path",
        "no such decision",
    ]


def test_a_broken_message_is_edited_as_it_is_sent() -> None:
    """Of a mended message only those blocks can be replaced that are still what was said."""
    said = [user("go"), says(call("a")), user(result("none"), result("a"), text(" ")), says("So."), user("on")]
    said += rounds(1)
    assert refusals(
        said,
        lambda view: Replace(view.messages[2].message.blocks[0], "x"),
        lambda view: Replace(view.messages[2].message.blocks[1], "x"),
        lambda view: Replace(view.messages[2].message.blocks[2], "x"),
    ) == ["repaired", "", "repaired"]
    Do.now = lambda view: [Replace(view.messages[2].message.blocks[1], "[cleared]")]
    play = Play(Do, stages=[{"do": {"when": "cold"}}])
    request = play.session.compact(said)
    assert [block["type"] for block in request.messages[2]["content"]] == ["tool_result", "text"]
    assert request.messages[2]["content"][0] == result("a", "[cleared]")
    assert bare(play.send(said).messages) == bare(request.messages)


def test_an_answer_of_nothing_but_thinking_goes_with_what_it_is_bound_to() -> None:
    """Where the model was interrupted: what was edited before it takes it along, whole, and it never comes back."""
    play = Play(ClearOld, stages=[{"clear-old": {"keep": 1, "when": "cold"}}], provider={"prefix_bound": True})
    asked = [*talk(6), says(thinks("hm")), user("Go on, you were interrupted."), says("Yes."), user("Now?")]
    play.send(asked)
    messages = [*asked, says("No."), user("Why?")]
    request = play.cold(messages)
    assert decided(request) == ["clear-old"]
    assert len(request.messages) == len(messages) - 1
    assert raw(play.send(request.messages)) == raw(request)
    play.session.restore(1)
    assert "hm" not in raw(play.cold([*messages, says("So."), user("Ah.")]))
    play.again()
    assert "hm" not in raw(play.send([*messages, says("So."), user("Ah.")]))
