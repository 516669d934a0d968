"""Several processes on one session (R28)."""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile import HostileHook, HostileStage
from play import Play, raw, rounds, talk
from scenes import COLD, LOST, on_disk
from stages import Budget, ClearOld, FoldOld
from trimtab import ContextOverflow, Session
from trimtab.dialects.anthropic import validate
from trimtab.projection import Projection
from trimtab.testing.talk import Talk


def original(play: Play, row: dict[str, Any]) -> str:
    """What a way back leads to."""
    return play.blobs.get(row["way_back"][0].removeprefix("blob:").rpartition("/")[2]).decode()


def edits_of(session: Session, kind: str) -> list[dict[str, Any]]:
    """The recorded edits of a kind."""
    return [row for row in session.explain() if row["kind"] == kind]


def together(*works: Callable[[], object]) -> None:
    """Run each in a forked process, all let go at the same moment; all must end well."""
    gate, opener = os.pipe()
    children = []
    for work in works:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            code = 1
            try:
                os.close(opener)
                os.read(gate, 1)  # returns when the parent closes its end
                work()
                code = 0
            except BaseException as error:
                os.write(2, f"{type(error).__name__}: {error}\n".encode())
            finally:
                os._exit(code)
        children.append(child)
    os.close(gate)
    os.close(opener)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * len(works)


def test_two_processes(tmp_path: Path) -> None:
    """Processes that work on one session at once: rows without gaps, no target twice, no original lost."""
    play = on_disk(tmp_path, Budget, ClearOld, FoldOld, stages=["budget", COLD])

    def work(first: int) -> Callable[[], None]:
        def run() -> None:
            session = play.open()
            for n in range(12):
                play.now += 3_600 if n % 4 == 3 else 5
                request = session.prepare([*talk(3), *rounds(n, first=first)])
                assert validate(request.messages) == []
                assert request.report.failures == []

        return run

    together(work(100), work(200), work(100))
    fresh = play.open()
    assert [decision.seq for decision in fresh.ledger.decisions] == list(range(1, len(fresh.ledger.decisions) + 1))
    rows = edits_of(fresh, "replace")
    assert all("The quick brown fox" in original(play, row) for row in rows)
    budgets = [row["targets"][0] for row in rows if row["stage"] == "budget"]
    assert len(budgets) == len(set(budgets)) >= 2 * 11
    for first in (100, 200):
        messages = [*talk(3), *rounds(11, first=first)]
        fresh.prepare(messages)
        assert raw(fresh.prepare(messages)) == raw(play.open().prepare(messages))


@pytest.mark.parametrize("seed", range(12))
def test_two_hostile_sessions(seed: int) -> None:
    """Two processes full of arbitrary edits on one ledger: whatever both decide together is valid and replayable."""
    rng = random.Random(seed)
    HostileStage.rng = HostileHook.rng = rng
    when = rng.choice([{"when": "always", "warm": "allow"}, {"when": "cold"}])
    play = Play(HostileStage, HostileHook, stages=[{"hostile": when}], hooks=["hostile-hook"])
    said = Talk(rng)
    sessions = [play.open(), play.open()]
    for _ in range(24):
        session = rng.choice(sessions)
        play.now += rng.choice([5, 400])
        try:
            request = session.prepare(said.messages, system="be good")
        except ContextOverflow:
            continue
        assert [found for found in validate(request.messages) if found.certain] == []
        if request.report.warnings.count(LOST):
            full = Projection(session.conversation, session.view.projection.path, session.ledger.rows())
            assert full.keys == session.view.projection.keys
            fresh = play.open(stages=[], hooks=[])
            for messages in (said.messages, request.messages):
                assert raw(fresh.prepare(messages, system="be good")) == raw(request)
        if rng.random() < 0.6:
            said.step()
