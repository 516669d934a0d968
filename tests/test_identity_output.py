"""What we returned means what it stands for, when it comes back and when it is spoilt (R25)."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from play import (
    Play,
    call,
    edits,
    marked,
    raw,
    result,
    rounds,
    says,
    shown,
    talk,
    user,
)
from scenes import PLUGINS, STAGES, every_kind
from stages import ClearOld, Do, FoldOld, Greet
from trimtab import Drop


@pytest.mark.parametrize("again", [False, True], ids=["same process", "new process"])
def test_our_own_output_sent_back(again: bool) -> None:
    """What we returned means what it stands for: prepared again, it is the same request, behind every kind of edit."""
    play, messages, request = every_kind()
    if again:
        play.again(stages=[])
    for history in (request.messages, marked(request.messages), copy.deepcopy(request.messages)):
        assert raw(play.send(history)) == raw(request)
        assert raw(play.send(messages)) == raw(request)


@pytest.mark.parametrize("again", [False, True], ids=["same process", "new process every turn"])
def test_the_agent_keeps_our_output(again: bool) -> None:
    """An agent whose history is what we returned, for the rest of the session, through further edits of all kinds."""
    play = Play(*PLUGINS, stages=STAGES)
    history: list[Any] = talk(8)
    for turn in range(6):
        if again:
            play.again()
        request = play.session.compact(history) if turn % 2 else play.send(history)
        assert raw(play.send(history)) == raw(play.send(request.messages)) == raw(request)
        history = [*request.messages, says(call(f"k{turn}")), user(result(f"k{turn}"))]
    said = [message.wire for message in play.session.view.projection.path]
    assert said[: len(talk(8))] == talk(8)
    assert len(said) == len(talk(8)) + 2 * 5
    assert len(edits(play, "fold")) > 1
    assert len(edits(play)) > 20


@pytest.mark.parametrize("again", [False, True], ids=["same process", "new process"])
def test_one_text_that_came_to_stand_for_more(again: bool) -> None:
    """Where a stage folds ever more under the same words, each of our outputs still means what it meant."""
    play = Play(FoldOld, stages=[{"fold-old": {"when": "cold"}}])
    history: list[Any] = talk(4)
    outputs = []
    for turn in range(3):
        outputs.append(play.session.compact(history).messages)
        assert outputs[-1][0] == user("Summary: the parser was read.")
        history = [*outputs[-1], *rounds(2, first=10 + 2 * turn)]
    final = play.session.prepare(history)
    for n, output in enumerate(outputs):
        if again:
            play.again(stages=[])
        older = [*output, *(message for k in range(n, 3) for message in rounds(2, first=10 + 2 * k))]
        assert raw(play.send(older)) == raw(final)
        play.send(history)


def test_a_mixture_of_ours_and_theirs() -> None:
    """A history whose first half is our rendering and whose second half is the agent's own is still the same one."""
    play = Play(ClearOld, stages=[{"clear-old": {"when": "cold"}}])
    messages = talk(8)
    play.send(messages)
    request = play.cold(messages)
    for cut in range(1, len(messages)):
        assert raw(play.send([*request.messages[:cut], *messages[cut:]])) == raw(request)
        assert raw(play.send([*messages[:cut], *request.messages[cut:]])) == raw(request)


def test_the_caller_changes_what_we_returned() -> None:
    """Our copies are the caller's to spoil: the next request and the next process are not touched by it."""
    play, messages, request = every_kind()
    said, before = json.dumps(messages), raw(request)
    for message in request.messages:
        if not any(message is one for one in messages):
            for block in message["content"]:
                block["text" if block["type"] == "text" else "content"] = "spoilt"
            message["content"].append({"type": "text", "text": "more"})
    request.messages.clear()
    assert json.dumps(messages) == said
    assert raw(play.send(messages)) == before
    play.again(stages=[])
    assert raw(play.send(messages)) == before


def test_retries_change_nothing() -> None:
    """The same messages prepared twice: the same bytes, no second decision, no second insert."""
    play = Play(*PLUGINS, Greet, stages=STAGES, hooks=["greet"])
    messages = talk(8)
    for wait in (5, 5, 3_600, 5, 5):
        first = play.send(messages, later=wait)
        rows = len(play.session.ledger.decisions)
        second = play.send(copy.deepcopy(messages))
        assert raw(first) == raw(second)
        assert len(play.session.ledger.decisions) == rows
    assert shown(second).count("Remember the tests.") == 1
    assert shown(second).count("House rule") == 2  # at the start, and behind the boundary


@pytest.mark.parametrize("anew", [False, True], ids=["same process", "new process"])
def test_a_rendering_that_looks_like_what_it_hides(anew: bool) -> None:
    """Turns that begin with the same words, the first one dropped: neither list is taken for the other."""
    messages = [
        user("Mend it."),
        says("So."),
        user("Go on."),
        *rounds(2),
        says("Done."),
        user("Go on."),
        says("Again."),
    ]
    messages += [user("And now?"), *rounds(1, first=7)]
    play = Play(Do, stages=[{"do": {"when": "cold"}}])
    Do.now = None
    play.send(messages)
    Do.now = lambda view: [Drop(view.messages[2:8])]
    ours = play.cold(messages)
    assert len(ours.messages) == len(messages) - 6
    Do.now = None
    for handed in (messages, ours.messages, messages, ours.messages):
        if anew:
            play.again()
        assert raw(play.send(handed)) == raw(ours)
        assert len(play.session.view.projection.path) == len(messages)
