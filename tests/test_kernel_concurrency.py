"""Several sessions and threads on one ledger (R28)."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from play import Play, decided, edits, raw, rounds, says, shown, talk, user
from scenes import COLD, LOST, on_disk
from stages import Budget, ClearOld, DropOld, FoldOld, KeepWords, Remind
from trimtab import Replace, Session, Stage, StageOptions, View
from trimtab.dialects.anthropic import validate


def unaware(session: Session) -> None:
    """Let the next pass of a session begin before the other process decides: it does not see those rows yet."""
    reload, calls = session.ledger.reload, []

    def late() -> Any:
        calls.append(1)
        return [] if len(calls) == 1 else reload()

    session.ledger.reload = late  # type: ignore[method-assign]


def two(play: Play, messages: list[Any], first: list[Any], second: list[Any]) -> tuple[Session, Session]:
    """Two sessions that know the same ledger and have sent the same request, then sat idle."""
    sessions = play.open(stages=first), play.open(stages=second)
    for session in sessions:
        session.prepare(messages)
    play.now += 3_600
    unaware(sessions[1])
    return sessions


def test_on_the_same_target_one_wins(tmp_path: Path) -> None:
    """Whoever comes second drops its edits, sends what the first one decided, and says so."""
    play = on_disk(tmp_path, ClearOld, FoldOld)
    messages = talk(6)
    one, other = two(play, messages, [COLD], [{"fold-old": {"when": "cold"}}])
    first, second = one.prepare(messages), other.prepare(messages)
    assert decided(first) == ["clear-old"]
    assert decided(second) == []
    assert second.report.warnings == [LOST]
    assert second.report.failures == []
    assert raw(second) == raw(first)
    assert {row["stage"] for row in play.open().explain()} == {"clear-old"}


def test_a_lost_decision_costs_no_request(tmp_path: Path) -> None:
    """Where a request is too large without what was dropped, and theirs is about another branch, it is made anew."""
    fold = {"fold-old": {"when": {"over": 9_000}}}
    play = on_disk(tmp_path, FoldOld, stages=[fold], provider={"window": 16_000})
    one, other = play.open(), play.open()
    unaware(other)
    one.prepare(talk(25))
    request = other.prepare([*talk(1), *rounds(25, first=100)])
    assert request.report.warnings == [LOST]
    assert decided(request) == ["fold-old"]
    assert request.report.tokens_after < other.window.block


class One(Stage):
    """Clears the result at one place."""

    name = "one"

    class Options(StageOptions):
        """Which."""

        at: int = 0

    def propose(self, view: View) -> Any:
        """One edit."""
        yield Replace(view.results[self.options.at], f"[cleared {self.options.at}]")


def test_on_different_targets_both_are_kept(tmp_path: Path) -> None:
    """Decisions that touch other messages go behind those of the other process, under their own numbers."""
    play = on_disk(tmp_path, One)
    messages = talk(4)
    one, other = two(play, messages, *([{"one": {"when": "cold", "at": at}}] for at in (2, 0)))
    first, second = one.prepare(messages), other.prepare(messages)
    assert [outcome.seq for request in (first, second) for outcome in request.report.decisions] == [1, 2]
    assert "[cleared 2]" in shown(second)
    assert "[cleared 0]" in shown(second)
    assert "[cleared 0]" not in shown(first)
    assert second.report.warnings == [LOST]
    assert raw(play.open(stages=[]).prepare(messages)) == raw(second)


def edits_of(session: Session, kind: str) -> list[dict[str, Any]]:
    """The recorded edits of a kind."""
    return [row for row in session.explain() if row["kind"] == kind]


@pytest.mark.parametrize("again", [False, True], ids=["same process", "new process"])
def test_our_output_after_a_lost_race(again: bool) -> None:
    """What was rendered from both processes' decisions is recognised when the agent hands it back."""
    play = Play(Budget, Remind, ClearOld, DropOld)
    messages = talk(6)
    one, other = two(play, messages, [{"drop-old": {"when": "cold", "keep": 4}}], ["budget", "remind"])
    longer = [*messages, *rounds(1, first=6)]
    one.prepare(messages)
    request = other.prepare(longer)
    assert set(decided(request)) == {"budget", "remind"}
    assert request.report.warnings == [LOST]
    assert "c0: " not in shown(request)
    play.session = play.open(stages=[]) if again else other
    assert raw(play.session.prepare(request.messages)) == raw(request) == raw(play.session.prepare(longer))
    more = [*request.messages, says("so"), user("on")]
    assert raw(play.session.prepare(more)).startswith(raw(request)[:-1])
    assert len(play.session.view.projection.path) == len(longer) + 2


def test_a_pin_of_another_process_is_respected() -> None:
    """A fold over a message that somebody pinned meanwhile is dropped; the next one carries the pin."""
    play = Play(FoldOld, KeepWords, Remind, hooks=[{"keep-words": {"words": "c0: The quick"}}])
    messages = talk(6)
    pinning, folding = play.open(stages=["remind"]), play.open(stages=[{"fold-old": {"when": "cold"}}], hooks=[])
    folding.prepare(messages)
    unaware(folding)
    play.now += 3_600
    pinning.prepare([*messages, says("so"), user("on")])
    request = folding.prepare(messages)
    assert decided(request) == []
    assert request.report.warnings == [LOST]
    play.now += 3_600
    request = folding.prepare(messages)
    assert "fold-old" in decided(request)
    assert "c0: The quick" in shown(request)


def test_threads_share_a_session() -> None:
    """Many threads, one session: one pass at a time, each target decided once, every request valid."""
    play = Play(Budget, ClearOld, stages=["budget", COLD])
    jobs = [talk(n % 9 + 1) for n in range(60)]
    random.Random(5).shuffle(jobs)
    with ThreadPoolExecutor(8) as pool:
        requests = list(pool.map(play.session.prepare, jobs))
        list(pool.map(play.session.observe, [{"input_tokens": 500}] * 8))
    for messages, request in zip(jobs, requests, strict=True):
        assert validate(request.messages) == []
        assert request.report.failures == []
        assert len(request.messages) == len(messages)
    targets = [row["targets"][0] for row in edits(play, "replace")]
    assert len(targets) == len(set(targets)) == 9
    seqs = [decision.seq for decision in play.session.ledger.decisions]
    assert seqs == list(range(1, len(seqs) + 1))


def test_threads_with_sessions_of_their_own(tmp_path: Path) -> None:
    """A session object for each thread, one id: the same, and a fresh process sees what all of them decided."""
    play = on_disk(tmp_path, Budget, stages=["budget"])
    found: list[Any] = []

    def work(n: int) -> None:
        session = play.open()
        for k in range(5):
            found.append(session.prepare([user(f"Task {n}."), *rounds(k + 1, first=100 * n)]).report.failures)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert found == [[]] * 30
    fresh = play.open()
    assert len(edits_of(fresh, "replace")) == 30
    for n in range(6):
        messages = [user(f"Task {n}."), *rounds(5, first=100 * n)]
        assert decided(fresh.prepare(messages)) == []
        assert "c" in shown(fresh.prepare(messages))


def test_results_of_other_branches_do_not_meet() -> None:
    """Pins and faces of one thread's branch are not seen by another's, though both run through one session."""
    play = Play(Budget, KeepWords, stages=["budget"], hooks=[{"keep-words": {"words": "alpha", "whole": True}}])
    ours = [user("alpha"), says("so"), user("on"), *rounds(1)]
    theirs = [user("beta"), says("so"), user("on"), *rounds(1)]
    for _ in range(2):
        assert len(play.send(ours).report.pins) == 1
        assert play.send(theirs).report.pins == []
