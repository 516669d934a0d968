"""Hazards H26 to H33: nothing is repeated for ever, and one number decides."""

from __future__ import annotations

from typing import Any

import pytest
from play import LONG, Play, call, decided, edits, result, rounds, says, talk, text, user, why
from stages import Budget, ClearOld, Do, FoldOld
from trimtab import ContextOverflow, Drop, Fold, Replace, Scripted

EAGER = {"fold-old": {"when": {"over": 1_000}, "target": 10}}


def tight(**more: Any) -> Play:
    """A session whose stage folds on every request that is over 1,000 tokens: on all of them."""
    return Play(FoldOld, stages=[EAGER], **more)


def test_H26_ineffective_passes_come_to_an_end() -> None:
    """A reduction that frees next to nothing, request after request, is stopped after three, and it is said."""
    play = Play(FoldOld, stages=[{"fold-old": {**EAGER["fold-old"], "text": LONG * 2, "keep": 2}}])
    messages = talk(6)
    told: list[str] = []
    for n in range(8):
        told += play.send(messages).report.warnings
        messages = [*messages, *rounds(3, first=10 + 3 * n)]
    assert len(edits(play, "fold")) == 3
    assert told == [
        "fold-old is switched off for this session: 3 boundaries within 3 requests of each other"
        "; compact() switches it on again"
    ]


def test_H27_rapid_fire_compaction_trips_the_breaker() -> None:
    """Three boundaries within three requests of each other open the stage's breaker, also for the next process."""
    play = tight()
    messages = talk(4)
    for n in range(5):
        play.send(messages)
        messages = [*messages, says("done"), user(f"and {n}?"), *rounds(2, first=100 + 2 * n)]
    assert len(edits(play, "fold")) == 3
    play.again()
    assert decided(play.send(messages)) == []
    assert decided(play.session.compact(messages))[0] == "kernel"  # all breakers shut again


def test_H27_boundaries_that_lie_apart_do_not() -> None:
    """A long session may compact as often as it needs to when requests lie between."""
    play = tight()
    messages = talk(4)
    for n in range(5):
        play.send(messages)
        chat = [message for k in range(5) for message in (says("yes"), user(f"{n}.{k}?"))]
        messages = [*messages, *chat, *rounds(2, first=100 + 2 * n)]
    assert len(edits(play, "fold")) == 5


def test_H28_nothing_to_forget_is_no_success() -> None:
    """An empty set is refused with a reason: no decision, no row, no boundary."""
    play = Play(Do, stages=[{"do": {"when": "cold"}}])
    Do.now = lambda view: [Drop([]), Fold([], "Summary."), Drop(())]
    request = play.session.compact(talk(3))
    assert why(request, "do") == {"no targets": 3}
    assert decided(request) == []
    assert play.ledger.sessions() == []


def test_H29_a_floor_that_nothing_can_lower() -> None:
    """System and tools above the window are an error that names the sizes, not one compaction after another."""
    play = Play(FoldOld, stages=[EAGER], provider={"window": 4_000})
    tools = [{"name": f"tool{n}", "description": LONG, "input_schema": {"type": "object"}} for n in range(12)]
    for _ in range(4):
        with pytest.raises(ContextOverflow, match=r"system, tools and what is not seen: [5-9],\d\d\d"):
            play.send(talk(3), tools=tools)
    assert len(edits(play, "fold")) <= 1


def test_H30_stale_usage_does_not_fire_again() -> None:
    """A reduction lowers the count at once; the next request does not act on the size from before it."""
    play = Play(ClearOld, stages=[{"clear-old": {"when": {"over": 3_000}, "target": 1_500}}])
    messages = talk(3)
    play.send(messages)
    play.session.observe({"input_tokens": 2_900, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0})
    messages += rounds(1, first=3)
    first = play.send(messages)
    assert decided(first) == ["clear-old"]
    assert first.report.tokens_after < 2_500
    second = play.send([*messages, says("so"), user("go on")])
    assert decided(second) == []
    assert second.report.tokens_before < 2_600


def test_H31_the_size_is_the_last_request() -> None:
    """Usage of several requests is never added up."""
    play = Play()
    messages = talk(1)
    for size in (1_000, 2_000, 3_000):
        play.send(messages)
        play.session.observe({"input_tokens": 10, "cache_read_input_tokens": size - 10})
        assert play.session.view.tokens == pytest.approx(size)
        messages = [*messages, *rounds(1, first=size)]


@pytest.mark.parametrize("limit", range(1_000, 4_000, 250))
def test_H32_one_number_is_shown_and_decides(limit: int) -> None:
    """A stage opens at exactly the size that the report shows."""
    play = Play(Do, stages=[{"do": {"when": {"over": limit}}}])
    Do.now, Do.runs = None, 0
    messages = talk(1)
    for n in range(6):
        runs = Do.runs
        report = play.send(messages).report
        assert (Do.runs > runs) == (report.tokens_before >= limit)
        assert report.tokens_after == play.session.view.tokens == pytest.approx(sum(report.weights))
        messages += rounds(1, first=10 + n)


def test_H33_questions_to_a_model_do_not_count() -> None:
    """What a stage asks is no request of the conversation: it moves neither size nor calibration nor cache."""
    ask = Scripted("They read the parser.")
    play = Play(FoldOld, stages=[{"fold-old": {"when": "cold", "ask": True}}], ask=ask)
    messages = talk(5)
    play.send(messages)
    play.session.observe({"input_tokens": 4_000, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0})
    factor = play.session.meter.factor
    request = play.cold(messages)
    assert len(ask.asked) == 1
    assert "They read the parser." in str(request.messages)
    assert play.session.meter.factor == factor
    assert request.report.tokens_after < request.report.tokens_before == pytest.approx(4_000)
    assert play.send(messages).report.held == 1 + len(request.messages)


def test_H28_a_replacement_that_does_not_shrink() -> None:
    """What would not free anything is refused, on sent and on unsent content."""
    play = Play(Do, Budget, stages=["do"])
    Do.now = lambda view: [Replace(view.results[-1], view.results[-1].text + "!")]
    request = play.send([user("go"), says(text("I read."), call("a")), user(result("a"))])
    assert why(request, "do") == {"does not shrink": 1}
