"""Questions to a model: the only I/O of a pass, checked, driven by sync and async callers alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from play import Play, raw, shown, talk
from stages import Budget, FoldOld
from trimtab import Ask, AskFailed, Drop, Fold, Replace, Scripted, Stage, View

ASKING: list[Any] = [{"fold-old": {"when": "cold", "ask": True}}]
ALL: list[Any] = [*ASKING, {"clear-old": {"when": "cold"}}, "budget"]


class Covers(Stage):
    """Asks about what a test names, and tries again with its own words when the answer is no use."""

    name = "covers"
    pick: Callable[[View], Any]
    failed: AskFailed | None = None

    def propose(self, view: View) -> Any:
        """One question, one fold."""
        run = type(self).pick(view)
        try:
            words = yield Ask("Summarise.", covers=run)
        except AskFailed as failed:
            type(self).failed = failed
            words = "Mechanical."
        yield Fold(view.rounds[:2], words)


PICKS: dict[str, Callable[[View], Any]] = {
    "messages": lambda view: view.messages[1:5],
    "ids": lambda view: [item.id for item in view.messages[1:5]],
    "rounds": lambda view: view.rounds[:2],
    "results": lambda view: list(view.results)[:2],
    "one round": lambda view: view.rounds[0],
}


@pytest.mark.parametrize("covers", PICKS)
def test_an_answer_is_shorter_than_what_it_covers(covers: str) -> None:
    """Whatever form the covered content has: a longer answer is thrown into the stage, a shorter one given."""
    Covers.pick = PICKS[covers]
    for words, fails in (("x " * 5_000, True), ("They read.", False)):
        Covers.failed = None
        play = Play(Covers, stages=[{"covers": {"when": "cold"}}], ask=Scripted(words))
        play.send(talk(5))
        request = play.cold(talk(5))
        assert ("Mechanical." in shown(request)) == (Covers.failed is not None) == fails
    assert Covers.failed is None


def test_nobody_to_ask() -> None:
    """Without an asker the stage is told so, and may go on without."""
    Covers.pick, Covers.failed = PICKS["rounds"], None
    play = Play(Covers, stages=[{"covers": {"when": "cold"}}])
    play.send(talk(5))
    assert "Mechanical." in shown(play.cold(talk(5)))
    assert "open the session with ask=" in str(Covers.failed)


def test_answers_go_to_who_asked() -> None:
    """Several questions of several stages in one pass, each answered in its order."""

    class Two(Stage):
        """Asks twice."""

        name = "two"

        def propose(self, view: View) -> Any:
            """Two questions, two edits."""
            for n in range(2):
                words = yield Ask(f"Question {n}")
                yield Replace(view.results[n], words)

    ask = Scripted("one", "two", "three")
    play = Play(
        Two,
        FoldOld,
        stages=[{"two": {"when": "cold"}}, {"fold-old": {"when": "cold", "keep": 4, "ask": True}}],
        ask=ask,
    )
    play.send(talk(6))
    assert "three" in shown(play.cold(talk(6)))
    assert [question.prompt[:10] for question in ask.asked] == ["Question 0", "Question 1", "Summarise:"]
    assert ask.answers == []


def test_what_an_asker_raises_reaches_the_stage() -> None:
    """Any exception of the asker is an `AskFailed` for the stage; an interrupt is the caller's."""
    Covers.pick, Covers.failed = PICKS["rounds"], None
    play = Play(Covers, stages=[{"covers": {"when": "cold"}}], ask=Scripted(OSError("no route")))
    play.send(talk(5))
    play.cold(talk(5))
    assert str(Covers.failed) == "OSError: no route"

    def interrupted(ask: Ask) -> str:
        raise KeyboardInterrupt

    play = Play(Covers, Budget, stages=[{"covers": {"when": "cold"}}, "budget"], ask=interrupted)
    before = play.send(talk(5))
    play.now += 3_600
    with pytest.raises(KeyboardInterrupt):
        play.session.prepare(talk(5))
    play.again(stages=["budget"])
    assert raw(play.send(talk(5))) == raw(before)


def test_edits_behind_a_question_are_judged_when_it_is_answered() -> None:
    """A stage may ask, drop, and ask again: every edit meets the view as it is then."""

    class Slow(Stage):
        """Drops between two questions."""

        name = "slow"

        def propose(self, view: View) -> Any:
            """The second edit targets what the first one removed."""
            yield Ask("One?")
            yield Drop(view.rounds[0])
            yield Ask("Two?")
            yield Replace(view.projection.path[2].blocks[0], "gone")
            yield Replace(view.results[0], "cleared")

    play = Play(Slow, stages=[{"slow": {"when": "cold"}}], ask=Scripted("a", "b"))
    play.send(talk(5))
    request = play.cold(talk(5))
    assert dict(request.report.refused["slow"]) == {"not in the view": 1}
    assert request.report.decisions[0].edits == 2
    assert "c0" not in shown(request)
