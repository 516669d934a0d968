"""Hooks that refuse: before the first edit, and after the pass (R6)."""

from __future__ import annotations

from typing import Any

import pytest
from play import Play, decided, edits, raw, rounds, shown, talk, why
from stages import Budget, ClearOld, Do, FoldOld, Greet, Watch
from trimtab import ContextOverflow, Scripted, Veto, View

COLD = {"clear-old": {"when": "cold"}}
FOLD = {"fold-old": {"when": "cold"}}


@pytest.fixture(autouse=True)
def fresh() -> None:
    """No test sees what another one told the hook."""
    Watch.calls, Watch.pins, Watch.judge, Do.now, Do.runs = [], None, None, None, 0


def veto(*stages: str) -> Any:
    """A judge that vetoes every pass with a decision of the named stages; of any stage where none is named."""

    def judge(before: View, after: View, report: Any) -> Any:
        if not stages or any(outcome.stage in stages and not outcome.free for outcome in report.decisions):
            raise Veto("not that", stages)
        yield from ()

    return judge


def test_a_veto_before_refuses_what_breaks() -> None:
    """`Veto` from pre_compact: nothing sent is touched in this pass, free edits pass; the next one is free again."""

    def no(view: View) -> Any:
        raise Veto("not today")
        yield

    Watch.pins = no
    play = Play(Watch, ClearOld, Budget, stages=[COLD, "budget"], hooks=["watch"])
    messages = talk(5)
    play.send(messages)
    request = play.cold([*messages, *rounds(1, first=5)])
    assert decided(request) == ["budget"]
    assert why(request, "clear-old") == {"vetoed by watch: not today": 4}
    Watch.pins = None
    assert decided(play.cold(messages)) == ["clear-old"]


def test_an_overflow_names_the_veto() -> None:
    """When a veto keeps the window full, the error says who it was."""

    def no(view: View) -> Any:
        raise Veto("not today")
        yield

    stages = [{"clear-old": {"when": {"over": "auto"}}}]
    play = Play(Watch, ClearOld, stages=stages, hooks=["watch"], provider={"window": 10_000})
    Watch.pins = no
    with pytest.raises(ContextOverflow, match="a hook vetoed: watch: not today"):
        play.send(talk(18))
    Watch.pins, Watch.judge = None, veto("clear-old")
    with pytest.raises(ContextOverflow, match="a hook vetoed: watch: not that"):
        play.send(talk(19))
    Watch.judge = None
    assert decided(play.send(talk(19))) == ["clear-old"]


@pytest.mark.parametrize("names", [("clear-old",), ()], ids=["named", "all"])
def test_a_veto_afterwards_discards_what_broke(names: tuple[str, ...]) -> None:
    """`Veto` from post_compact: the named stages' breaking edits go (all, if none is named); free ones stay."""
    Watch.judge = veto(*names)
    late = {"late": {"when": "cold", "keep": 1}}

    class Late(ClearOld):
        """The other one."""

        name = "late"

    play = Play(Watch, ClearOld, Budget, Late, stages=[COLD, late, "budget"], hooks=["watch"])
    messages = talk(5)
    play.send([*messages[:-1], talk(1)[0]])
    request = play.cold([*messages, *rounds(1, first=5)])
    assert decided(request) == (["late", "budget"] if names else ["budget"])
    assert why(request, "clear-old") == {"vetoed after the pass": 4}
    assert request.report.failures == []
    assert "watch: not that" in str(request.report.warnings)
    assert "c5: The quick" in shown(request)
    assert len(shown(request)) < 20_000


def test_a_veto_of_everything_always_keeps_the_free_edits() -> None:
    """A hook that vetoes every pass whatever it holds cannot stop what costs nothing."""

    def judge(*_: Any) -> Any:
        raise Veto("never")
        yield

    Watch.judge = judge
    play = Play(Watch, Budget, Greet, stages=["budget"], hooks=["watch", "greet"])
    request = play.send(talk(1))
    assert decided(request) == ["greet", "budget"]
    assert len(edits(play)) == 2
    assert raw(play.send(talk(1))) == raw(request)


def test_a_question_is_not_asked_for_a_vetoed_stage() -> None:
    """The run after a veto asks no model for the stage that was vetoed."""
    Watch.judge = veto("fold-old")
    ask = Scripted("They read.", "They read again.")
    play = Play(Watch, FoldOld, stages=[{"fold-old": {"when": "cold", "ask": True}}], hooks=["watch"], ask=ask)
    messages = talk(5)
    play.send(messages)
    play.now += 3_600
    assert decided(play.session.prepare(messages)) == []
    assert len(ask.asked) == 1
