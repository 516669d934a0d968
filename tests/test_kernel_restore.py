"""Undoing decisions: on request, and by a stage."""

from __future__ import annotations

import json

import pytest
from play import Play, bare, call, decided, raw, result, rounds, says, shown, talk, text, thinks, user, why
from stages import Budget, ClearOld, Do, DropOld, FoldOld
from trimtab import Insert, Restore, Stage
from trimtab.errors import Unknown

COLD = {"clear-old": {"when": "cold"}}


@pytest.fixture(autouse=True)
def fresh() -> None:
    """No test sees what another one told the stage."""
    Do.now = None


@pytest.mark.parametrize("stage", [ClearOld, DropOld, FoldOld])
def test_restore_brings_the_bytes_back(stage: type[Stage]) -> None:
    """An undone decision is as if it had never been, stays undone, and does not come back on a rewind or a resume."""
    play = Play(stage, stages=[{stage.name: {"when": "cold"}}])
    messages = talk(6)
    play.send(messages)
    hidden = play.cold(messages)
    assert raw(hidden) != json.dumps(messages, sort_keys=True)
    play.session.restore(hidden.report.decisions[0].seq)
    back = play.send(messages)
    assert bare(back.messages) == messages
    assert next(outcome.stage for outcome in back.report.decisions) == "restore"
    rewound = [*messages[:-1], user(result("c5", "another result"))]
    for history in (messages, rewound, [*messages, *rounds(1, first=6)]):
        assert bare(play.send(history).messages) == history
    play.again()
    assert bare(play.send(messages).messages) == messages
    assert bare(play.cold(messages).messages) == messages


def test_restore_is_reported_as_what_it_costs() -> None:
    """Bringing something back breaks the prefix where it stood."""
    play = Play(ClearOld, stages=[COLD])
    messages = talk(6)
    play.send(messages)
    seq = play.cold(messages).report.decisions[0].seq
    play.session.restore(seq)
    outcome = play.send(messages).report.decisions[0]
    assert (outcome.stage, outcome.free) == ("restore", False)
    assert outcome.freed < -1_500
    assert outcome.rewritten > 1_500


def test_manual_overrides_what_was_restored() -> None:
    """Who asks for a compaction gets it."""
    play = Play(ClearOld, stages=[COLD])
    messages = talk(6)
    play.send(messages)
    play.session.restore(play.cold(messages).report.decisions[0].seq)
    play.send(messages)
    assert why(play.cold(messages), "clear-old") == {"was restored": 4}
    assert decided(play.session.compact(messages)) == ["clear-old"]


def test_restore_of_what_is_not_there() -> None:
    """An unknown number is an error that lists what there is."""
    play = Play(Budget, stages=["budget"])
    play.send(talk(1))
    for seq in (0, -1, 2, 99):
        with pytest.raises(Unknown, match=rf"no decision {seq} in session 's' \(decisions: 1\)"):
            play.session.restore(seq)


def test_restore_sees_what_other_processes_decided() -> None:
    """A number that another session's `explain` shows can be undone here."""
    play = Play(ClearOld, stages=[COLD])
    messages = talk(6)
    play.send(messages)
    mine = play.session
    play.again()
    play.send(messages)
    seq = play.cold(messages).report.decisions[0].seq
    mine.restore(seq)
    assert bare(mine.prepare(messages).messages) == messages


def test_a_stage_may_restore() -> None:
    """A stage's Restore is an edit of sent content like any other; of nothing, or of what is undone, it is refused."""
    play = Play(ClearOld, Do, stages=[COLD, {"do": {"when": "cold"}}])
    messages = talk(6)
    play.send(messages)
    play.cold(messages)
    play.again(stages=[{"do": {"when": {"over": 5}, "target": 2}}])
    Do.now = lambda view: [Restore((9,)), Restore(()), Restore((1,))]
    request = play.send(messages)
    assert why(request, "do") == {"no such decision": 2}
    assert bare(request.messages) == messages
    Do.now = lambda view: [Restore((1,))]
    assert why(play.send(messages), "do") == {"no targets": 1}
    play.again(stages=[{"do": {"when": {"over": 5}, "target": 2}}])
    assert why(play.send([user("elsewhere"), says("x"), user("y")]), "do") == {"no targets": 1}


def test_restore_of_an_insert_that_was_sent_waits() -> None:
    """Taking back a line that the provider has read is no free edit."""
    play = Play(Do, stages=["do"])
    Do.now = lambda view: [Insert("tail", "Hello.")]
    messages = talk(1)
    play.send(messages)
    Do.now = lambda view: [Restore((1,))]
    messages = [*messages, *rounds(1, first=1)]
    request = play.send(messages)
    assert why(request, "do") == {"waits for ever: it has no `when`": 1}
    assert "Hello." in shown(request)


def test_removed_thinking_does_not_come_back() -> None:
    """On a prefix-bound model an edit takes thinking with it; undoing the edit leaves that out (R23)."""
    thought = says(thinks("t0"), text("Yes."))
    messages = [user("0?"), says(call("a")), user(result("a")), thought, user("1?"), says("So.")]
    messages = [*messages, user("2?")]
    play = Play(ClearOld, stages=[{"clear-old": {"when": "cold", "keep": 0}}], provider={"prefix_bound": True})
    play.send(messages)
    hidden = play.cold(messages)
    assert "cleared" in shown(hidden)
    assert "signed t0" not in shown(hidden)
    play.session.restore(hidden.report.decisions[0].seq)
    for again in (False, True):
        if again:
            play.again()
        back = play.send(messages)
        assert "a: The quick" in shown(back)
        assert "signed t0" not in shown(back)
