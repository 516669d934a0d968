"""Failing plugins and stores, and breakers (R29, R31, promise 8)."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from play import Play, decided, edits, raw, shown, talk
from stages import Budget, Do
from trimtab import Hook, Replace, Stage, TrimtabError, Veto, View, hookimpl
from trimtab.errors import StorageError

COLD = {"clear-old": {"when": "cold"}}


class Fails(Stage):
    """Fails when told to, after a first edit."""

    name = "fails"
    bad: ClassVar[bool] = True
    runs: ClassVar[int] = 0

    def propose(self, view: View) -> Any:
        """One edit and an exception."""
        type(self).runs += 1
        if view.results:
            yield Replace(view.results[-1], "half done")
        if self.bad:
            raise ZeroDivisionError("of course")


class Faulty(Hook):
    """One of its two hooks fails."""

    name = "faulty"

    @hookimpl
    def pre_compact(self, view: View, trigger: str) -> Any:
        """Works."""
        yield from ()

    @hookimpl
    def post_compact(self, before: View, after: View, report: Any) -> Any:
        """Fails."""
        raise KeyError("faulty")
        yield


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Every test starts with a failing stage that has not run."""
    Fails.bad, Fails.runs, Do.now = True, 0, None


def grow(play: Play, count: int, first: int = 0) -> list[Any]:
    """``count`` requests of a growing conversation, whatever fails."""
    requests = []
    for n in range(first, first + count):
        play.now += 5
        requests.append(play.session.prepare(talk(n + 1)))
    return requests


def test_three_failing_passes_open_the_breaker() -> None:
    """A failing stage's edits are dropped, the others' stay; the third failure switches it off, for good."""
    play = Play(Fails, Budget, stages=["fails", "budget"])
    requests = grow(play, 5)
    assert [len(request.report.failures) for request in requests] == [1, 1, 1, 0, 0]
    assert [decided(request) for request in requests] == [["budget"]] * 2 + [["kernel", "budget"]] + [["budget"]] * 2
    assert not any("half done" in shown(request) for request in requests)
    assert Fails.runs == 3
    assert "fails is switched off for this session: 3 failing passes" in requests[2].report.warnings[0]
    play.again()
    grow(play, 1, first=6)
    assert Fails.runs == 3


def test_a_success_starts_the_count_anew() -> None:
    """Two failures, a success, two failures: still in service."""
    play = Play(Fails, stages=["fails"])
    grow(play, 2)
    Fails.bad = False
    grow(play, 1, first=2)
    Fails.bad = True
    grow(play, 2, first=3)
    assert Fails.runs == 5
    assert not edits(play, "note")


def test_a_manual_pass_rearms() -> None:
    """`compact` runs a switched-off stage, and if it works, it is back for good."""
    play = Play(Fails, stages=["fails"])
    grow(play, 4)
    assert Fails.runs == 3
    assert decided(play.session.compact(talk(5))) == ["kernel"]
    assert Fails.runs == 4
    Fails.bad = False
    assert decided(play.session.compact(talk(6))) == ["fails"]
    assert grow(play, 1, first=6)[0].report.failures == []
    assert Fails.runs == 6
    play.again()
    grow(play, 1, first=7)
    assert Fails.runs == 7


def test_a_plugin_of_which_one_hook_fails() -> None:
    """What works of a plugin does not hide that the rest fails in every pass."""
    play = Play(Faulty, Budget, stages=["budget"], hooks=["faulty"])
    requests = grow(play, 5)
    assert [len(request.report.failures) for request in requests] == [1, 1, 1, 0, 0]
    assert all("budget" in decided(request) for request in requests)


def test_a_vetoed_pass_counts_a_failure_once() -> None:
    """The run after a veto belongs to the same pass."""

    class Vetoes(Hook):
        """Always."""

        name = "vetoes"

        @hookimpl
        def post_compact(self, before: View, after: View, report: Any) -> Any:
            """No."""
            raise Veto("no")
            yield

    play = Play(Fails, Budget, Vetoes, stages=["fails", "budget"], hooks=["vetoes"])
    grow(play, 2)
    assert play.session.plan.failures["fails"] == 2
    assert not edits(play, "note")


def test_strict_raises_what_a_plugin_raises() -> None:
    """`strict: true` lets the exception through, and the session goes on."""
    play = Play(Fails, stages=["fails"], strict=True)
    with pytest.raises(ZeroDivisionError):
        play.send(talk(1))
    Fails.bad = False
    assert decided(play.send(talk(1))) == ["fails"]


def test_an_endless_stage_is_stopped() -> None:
    """A generator without an end counts as a failure."""

    class Endless(Stage):
        """Never stops."""

        name = "endless"

        def propose(self, view: View) -> Any:
            """The same edit for ever."""
            while True:
                yield Replace("nowhere", "x")

    request = Play(Endless, Budget, stages=["endless", "budget"]).session.prepare(talk(1))
    assert request.report.failures == ["endless: TrimtabError: yields more than 10012 things"]
    assert decided(request) == ["budget"]


@pytest.mark.parametrize("broken", ["ledger", "blobs"])
def test_a_store_that_fails(broken: str) -> None:
    """Nothing is decided: the last view plus the new messages; when the store works again, so does the session."""
    play = Play(Budget, stages=["budget"])
    before = play.send(talk(1))
    store, method = (play.ledger, "append") if broken == "ledger" else (play.blobs, "put")
    works = getattr(store, method)

    def fails(*_: Any) -> Any:
        raise StorageError("the disk is full")

    setattr(store, method, fails)
    request = play.session.prepare(talk(2))
    assert request.report.failures == ["nothing was decided in this pass: StorageError: the disk is full"]
    assert decided(request) == []
    assert raw(request).startswith(raw(before)[:-1])
    assert "c1: The" in shown(request)
    setattr(store, method, works)
    assert decided(play.send(talk(2))) == ["budget"]


def test_a_plugin_cannot_wait_for_itself() -> None:
    """A hook that calls its session gets an error, not a deadlock."""

    class Curious(Hook):
        """Calls back."""

        name = "curious"

        @hookimpl
        def session_start(self, session: Any, source: str) -> Any:
            """All that would wait."""
            for call, argument in ((session.prepare, talk(1)), (session.observe, {}), (session.restore, 1)):
                with pytest.raises(TrimtabError, match="a pass of this session is running"):
                    call(argument)
            yield from ()

    assert Play(Curious, hooks=["curious"]).send(talk(1)).messages == talk(1)
