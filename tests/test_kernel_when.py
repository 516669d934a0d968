"""When edits of sent content pass: the words of `when`, free edits, two looks (R1, R4, R5)."""

from __future__ import annotations

from typing import Any

import pytest
from play import Play, bare, decided, edits, rounds, says, shown, talk, user, why
from stages import ClearOld, Do
from trimtab import Replace, View


class Late(ClearOld):
    """A second clearing stage, under its own name."""

    name = "late"


class Broken(ClearOld):
    """A stage that always fails."""

    name = "broken"

    def propose(self, view: View) -> Any:
        """Fail."""
        raise LookupError("broken")
        yield


def clear(when: Any, **more: Any) -> list[Any]:
    """The stage list of one clearing stage."""
    return [{"clear-old": {"when": when, **more}}]


def held(play: Play, messages: list[Any]) -> None:
    """Send twice, so that the provider holds it."""
    play.send(messages)
    play.send(messages)


def test_without_a_word_only_free_edits_pass() -> None:
    """No `when`: what was sent stays, cold or full; what was not passes at once."""
    play = Play(ClearOld, stages=["clear-old"])
    messages = talk(4)
    play.send(messages)
    assert why(play.cold(messages), "clear-old") == {"waits for ever: it has no `when`": 2}
    unsent = [user("go"), says(*(block for n in range(4) for block in talk(1 + n)[-2]["content"][:1]))]
    unsent.append(user(*(block for n in range(4) for block in talk(1 + n)[-1]["content"][:1])))
    request = play.send(unsent)
    assert [(outcome.free, outcome.edits) for outcome in request.report.decisions] == [(True, 2)]


@pytest.mark.parametrize(("wait", "passes"), [(299.0, False), (300.0, True), (3_600.0, True)])
def test_cold_follows_the_time_to_live(wait: float, passes: bool) -> None:
    """A cached prefix lives for the provider's TTL after the start of the request that last used it."""
    play = Play(ClearOld, stages=clear("cold"))
    messages = talk(5)
    held(play, messages)
    request = play.send(messages, later=wait)
    assert decided(request) == (["clear-old"] if passes else [])
    assert (request.report.held == 0) == passes


def test_cold_behind_a_fork() -> None:
    """Where the request differs from what is held, everything at or behind that point is free to change; not before."""
    play = Play(ClearOld, stages=clear("cold", keep=1))
    messages = talk(6)
    held(play, messages)
    fork = [*messages[:5], says("other"), user("way"), *rounds(3, first=50)]
    request = play.send(fork)
    (outcome,) = request.report.decisions
    assert outcome.rewritten == 0.0
    assert why(request, "clear-old") == {"waits": 2}
    assert bare(request.messages[:5]) == bare(messages[:5])
    assert [("cleared" in str(message)) for message in request.messages[7:]] == [False, True, False, True, False, False]


def test_cold_below_the_smallest_prefix() -> None:
    """What is too small to be cached is never warm."""
    play = Play(ClearOld, stages=clear("cold"), provider={"cache": {"minimum": 100_000}})
    play.send(talk(5))
    assert decided(play.send(talk(5))) == ["clear-old"]


@pytest.mark.parametrize(("wait", "passes"), [(3_599.0, False), (3_600.0, True)])
def test_idle_is_the_clock_alone(wait: float, passes: bool) -> None:
    """`idle` counts seconds since the last request, whatever the cache holds; what is read anew is reported."""
    play = Play(ClearOld, stages=clear({"idle": "60m"}), provider={"cache": {"ttl": "1d", "minimum": 0}})
    messages = talk(5)
    held(play, messages)
    request = play.send(messages, later=wait)
    assert decided(request) == (["clear-old"] if passes else [])
    assert all(outcome.rewritten > 1_000 for outcome in request.report.decisions)


def test_over_ends_at_its_target() -> None:
    """A pass that the size opened takes edits until the view is down to the target, and no more."""
    play = Play(ClearOld, stages=clear({"over": 3_000}, target=2_000, keep=0))
    messages = talk(4)
    assert decided(play.send(messages)) == []
    request = play.send([*messages, *rounds(2, first=4)])
    (outcome,) = request.report.decisions
    assert 1_450 < request.report.tokens_after <= 2_000
    assert outcome.edits == 3
    later = play.send([*messages, *rounds(3, first=4)])
    assert decided(later) == []


def test_over_without_a_target_ends_at_itself() -> None:
    """The lowest size that opened the pass is where it ends."""
    play = Play(ClearOld, stages=clear([{"over": 3_000}, {"over": 2_500}], keep=0))
    request = play.send(talk(6))
    assert 1_900 < request.report.tokens_after <= 2_500


@pytest.mark.parametrize("word", ["cold", {"idle": "10m"}])
@pytest.mark.parametrize("first", [True, False])
def test_a_pass_that_more_than_the_size_opened_has_no_target(word: Any, first: bool) -> None:
    """Where `cold` or `idle` is open beside `over`, the target bounds nothing."""
    words = [word, {"over": 3_000}] if first else [{"over": 3_000}, word]
    play = Play(ClearOld, stages=clear(words, target=2_000, keep=0))
    messages = talk(5)
    held(play, messages)
    play.now += 3_600
    assert play.send([*messages, *rounds(1, first=5)]).report.tokens_after < 1_000


@pytest.mark.parametrize("level", ["warn", "auto", 0.5])
def test_over_knows_the_levels(level: Any) -> None:
    """A level or a share is a size of this window."""
    play = Play(Do, stages=[{"do": {"when": {"over": level}}}], provider={"window": 10_000})
    Do.now, Do.runs = None, 0
    size = play.session.window.tokens(level)
    for n in range(15):
        runs = Do.runs
        report = play.send(talk(n + 1)).report
        assert (Do.runs > runs) == (report.tokens_before >= size)
    assert Do.runs


@pytest.mark.parametrize(("warm", "passes"), [("allow", True), ("refuse", False)])
def test_always_needs_leave(warm: str, passes: bool) -> None:
    """`always` edits sent content only where the profile says `warm: allow`."""
    play = Play(ClearOld, stages=clear("always", warm=warm))
    messages = talk(5)
    held(play, messages)
    assert bool(edits(play)) == passes


def test_at_least_keeps_its_free_edits() -> None:
    """A batch that is too small waits; what of it is free passes all the same."""
    play = Play(Do, stages=[{"do": {"when": "cold", "at_least": 5_000}}])
    Do.now = lambda view: [Replace(result, "short") for result in view.results]
    messages = talk(3)
    held(play, messages)
    request = play.cold([*messages, *rounds(1, first=3)])
    assert [(o.free, o.edits) for o in request.report.decisions] == [(True, 1)]
    assert "c2: The" in shown(request)
    assert "c3: The" not in shown(request)


def test_unless_another_stage_works() -> None:
    """`unless` closes a stage while the named one is listed and its breaker is shut."""
    stages = [{"broken": {"when": "cold"}}, {"clear-old": {"when": "cold", "unless": "broken"}}]
    play = Play(ClearOld, Broken, stages=stages)
    messages = talk(5)
    play.send(messages)
    for n in range(4):
        play.now += 3_600
        request = play.session.prepare(messages)
        assert decided(request) == [[], [], ["kernel", "clear-old"], []][n]


def test_a_closed_stage_is_not_run() -> None:
    """A stage that cannot be open is not asked, so that it costs nothing (R1)."""
    play = Play(Do, stages=[{"do": {"when": ["cold", {"over": 100_000}, {"idle": "60m"}]}}])
    Do.now, Do.runs = None, 0
    messages = talk(2)
    for n in range(10):
        play.send(messages)
        messages += rounds(1, first=10 + n)
    assert Do.runs == 0
    play.cold(messages)
    assert Do.runs == 1


@pytest.mark.parametrize("when", ["cold", {"over": 100_000}, {"idle": "10h"}, "always"])
def test_manual_opens_every_when(when: Any) -> None:
    """`compact` is a request with every `when` open; a stage without one still edits only what is unsent."""
    play = Play(ClearOld, Late, stages=[*clear(when), {"late": {"keep": 0}}])
    messages = talk(5)
    held(play, messages)
    request = play.session.compact(messages)
    assert why(request, "late") == {"waits for ever: it has no `when`": 1}
    assert request.report.trigger == "manual"
    assert [(outcome.stage, outcome.edits) for outcome in request.report.decisions] == [("clear-old", 3)]
