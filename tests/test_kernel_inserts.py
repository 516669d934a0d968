"""What session_start and post_compact put in (R7, R15)."""

from __future__ import annotations

from typing import Any

import pytest
from play import LONG, Everything, Play, decided, edits, raw, rounds, says, shown, talk, user, why
from stages import Budget, Do, FoldOld, Greet, Watch
from trimtab import Insert, View

COLD = {"clear-old": {"when": "cold"}}
FOLD = {"fold-old": {"when": "cold"}}


@pytest.fixture(autouse=True)
def fresh() -> None:
    """No test sees what another one told the hook."""
    Watch.calls, Watch.pins, Watch.judge, Do.now, Do.runs = [], None, None, None, 0


def test_session_start_once_by_source_and_text() -> None:
    """A new session, each resume, each boundary: the same words are inserted once for each kind of start."""
    play = Play(Greet, FoldOld, stages=[FOLD], hooks=["greet"])
    messages = talk(5)
    for again, expected in ((False, 1), (False, 1), (True, 2), (True, 2)):
        if again:
            play.again()
        assert shown(play.send(messages)).count("House rule") == expected
        messages = [*messages, *rounds(1, first=len(messages))]
    assert [row["why"] for row in edits(play, "insert")] == ["session_start:startup", "session_start:resume"]
    for n in range(2):
        messages = [*messages, *rounds(2, first=len(messages))]
        request = play.cold(messages)
        assert decided(request)[-1] == "greet"
        assert request.messages[1] == user("House rule: test first.")
        assert shown(request).count("House rule") == 1, n


def test_session_start_for_each_conversation() -> None:
    """An agent that goes on with another first message, as a sub-agent does, has another start, in any process."""
    play = Play(Greet, hooks=[{"greet": {"anchor": "system"}}])
    other = [user("Summary so far: the parser was read."), *rounds(1)]
    for _ in range(2):
        for messages in (talk(0), other[:1], talk(2), other):
            assert play.send(messages).system == [{"type": "text", "text": "House rule: test first."}]
        play.again()
    assert [row["why"] for row in edits(play, "insert")] == ["session_start:startup"] * 2


def test_session_start_into_the_system_text() -> None:
    """Before the first request text may go behind the system text, whatever form that has; then it stays there."""
    for system in (None, "", "Be brief.", [{"type": "text", "text": "Be brief."}]):
        play = Play(Greet, hooks=[{"greet": {"anchor": "system"}}])
        first = play.send(talk(0), system=system)
        assert [part["text"] for part in first.system][-1] == "House rule: test first."
        later = play.send([*talk(0), says("so"), user("on")], system=system)
        assert later.system == first.system
        play.again(hooks=[])
        assert play.send(talk(2), system=system).system == first.system


def test_session_start_comes_again_if_it_could_not_be_recorded() -> None:
    """A start whose pass failed is still to be made."""
    play = Play(Greet, hooks=["greet"])
    store: Any = play.ledger
    append = store.append
    store.append = lambda *_: 1 / 0
    assert play.session.prepare(talk(1)).report.failures
    store.append = append
    assert "House rule" in shown(play.send(talk(1)))


def test_inserts_behind_a_boundary_leave_room() -> None:
    """What session_start adds behind a boundary must end below the pass's target; else it goes, newest last."""
    stages = [{"fold-old": {"when": {"over": 3_000}, "target": 1_400}}]
    hooks = [{"greet": {"text": words}} for words in ("Short rule.", LONG, "Another rule.", LONG + "!")]
    play = Play(Greet, FoldOld, stages=stages, hooks=hooks)
    play.session._started = Everything()
    request = play.send(talk(6))
    assert request.report.tokens_after < 1_400
    texts = [message["content"][0]["text"] for message in request.messages[1:-2]]
    assert texts == ["Short rule.", LONG, "Another rule."]
    assert why(request, "greet") == {"no room behind the boundary": 1}


def test_no_insert_behind_a_boundary_without_one() -> None:
    """post_compact may add behind a boundary of the same pass only, and the same words once."""
    Watch.judge = lambda before, after, report: [Insert("after_boundary", "Behind."), Insert("tail", "At the end.")]
    play = Play(Watch, FoldOld, Budget, stages=[FOLD, "budget"], hooks=["watch"])
    messages = talk(5)
    request = play.send(messages)
    assert why(request, "watch") == {"no boundary": 1}
    assert request.messages[-1] == user("At the end.")
    messages = [*messages, *rounds(1, first=5)]
    request = play.cold(messages)
    assert request.messages[1] == user("Behind.")
    assert why(request, "watch") == {"already inserted": 1}
    Watch.judge = lambda before, after, report: [Insert("after_boundary", "Too late.")]
    later = play.send([*messages, *rounds(1, first=6)])
    assert why(later, "watch") == {"no boundary in this pass": 1}
    assert raw(later).startswith(raw(request)[:-1])


def test_post_compact_sees_before_and_after() -> None:
    """Both views and the decisions with their figures."""
    seen: list[Any] = []

    def judge(before: View, after: View, report: Any) -> Any:
        seen.append((before.tokens, after.tokens, [(o.stage, o.edits) for o in report.decisions]))
        yield from ()

    Watch.judge = judge
    play = Play(Watch, Budget, stages=["budget"], hooks=["watch"])
    report = play.send(talk(1)).report
    assert seen == [(report.tokens_before, report.tokens_after, [("budget", 1)])]
    play.send(talk(1))
    assert len(seen) == 1
