"""A process killed at any storage step of a deciding `prepare` leaves the old state or the new (promise 7)."""

from __future__ import annotations

import json
import shutil
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from play import Play, bare, raw, rounds, talk
from stages import Budget, ClearOld, DropOld, FoldOld, Greet, KeepWords
from trimtab import Request
from trimtab.storage.files import FileBlobs
from trimtab.storage.sqlite import SqliteLedger
from trimtab.testing.crash import crash_at, crash_points, in_child

STAGES: list[Any] = [
    {"drop-old": {"when": "cold", "keep": 3}},
    {"fold-old": {"when": "cold", "keep": 5}},
    {"clear-old": {"when": "cold", "keep": 1}},
    "budget",
]
FIRST, SECOND = talk(5), [*talk(5), *rounds(1, first=5)]


HOOKS: list[Any] = ["greet", {"keep-words": {"words": "c1: The quick"}}]


def open_in(folder: Path, *, decides: bool = True) -> Play:
    """A new process on the folder's stores."""
    return Play(
        *(Budget, ClearOld, DropOld, FoldOld, Greet, KeepWords),
        stages=STAGES if decides else [],
        hooks=HOOKS if decides else [],
        ledger=SqliteLedger(f"sqlite://{folder}/state/ledger.db"),
        blobs=FileBlobs(f"file://{folder}/state/blobs"),
    )


def decide(folder: Path) -> list[Request]:
    """Two requests: free decisions, then, on a cold cache, one of every kind; each acknowledged to the world."""
    play = open_in(folder)
    requests = []
    for n, (messages, later) in enumerate(((FIRST, 5.0), (SECOND, 3_600.0))):
        requests.append(play.send(messages, later=later))
        (folder / f"sent-{n}").write_text(raw(requests[-1]), encoding="utf-8")
    play.ledger.close()
    return requests


def check(folder: Path) -> None:
    """What a new process finds: whole decisions, all originals, and at least what was sent, byte for byte."""
    play = open_in(folder, decides=False)
    ledger = play.session.ledger
    for decision in ledger.decisions:
        assert decision.edits
        for id, key in decision.originals.items():
            stored = ledger.blobs.get(key).decode()
            assert "." in id or json.loads(stored)["message"] in SECOND
    sent = [(folder / f"sent-{n}") for n in range(2)]
    if sent[1].exists():
        assert raw(play.send(SECOND)) == sent[1].read_text(encoding="utf-8")
    elif sent[0].exists() and not any(not one.free for one in ledger.decisions):
        assert raw(play.send(FIRST)) == sent[0].read_text(encoding="utf-8")
    (folder / f"rows-{len(ledger.decisions)}").touch()


def finish(folder: Path) -> None:
    """The agent starts anew and goes on: the same decisions, then nothing left to decide, and our output known."""
    first, second = decide(folder)
    play = open_in(folder, decides=False)
    for history in (SECOND, second.messages):
        assert bare(play.send(history).messages) == bare(second.messages)
    assert first.report.failures == second.report.failures == []


SOME = {"killed": (False, 5), "power cut": (True, 10)}
ALL = {"killed at each": (False, 1), "power cut at each": (True, 1)}
RUNS = [pytest.param(*run, id=id, marks=[] if id in SOME else pytest.mark.slow) for id, run in (SOME | ALL).items()]


@pytest.mark.parametrize(("lose_unsynced", "stride"), RUNS)
def test_killed_at_every_step_of_a_prepare(tmp_path: Path, lose_unsynced: bool, stride: int) -> None:
    """At the storage steps of two deciding requests: old state or new, originals whole, the work can be finished."""
    (dry := tmp_path / "dry").mkdir()
    with crash_points() as steps:
        decide(dry)
    assert len(steps) > 150
    for n in range(1, len(steps) + 1, stride):
        (folder := tmp_path / str(n)).mkdir()

        def die(n: int = n, folder: Path = folder) -> None:
            with crash_at(n, lose_unsynced=lose_unsynced):
                decide(folder)

        assert in_child(die) == -signal.SIGKILL, (n, steps[n - 1])
        assert in_child(partial(check, folder)) == 0, (n, steps[n - 1])
        if n % 8 == 1 or n > len(steps) - 4:
            assert in_child(partial(finish, folder)) == 0, (n, steps[n - 1])
    states = {path.name for path in tmp_path.glob("*/rows-*")}
    assert len(states) == 3 or (stride > 1 and len(states) == 2)  # none, the first request's, both requests'


@pytest.mark.parametrize("verb", ["BEGIN", "INSERT", "COMMIT"])
def test_a_killed_process_holds_nobody_up(tmp_path: Path, verb: str) -> None:
    """One that dies inside its append leaves no lock and no row; the session that was open all along decides."""
    play = open_in(tmp_path)
    play.send(FIRST)
    rows = len(play.session.ledger.decisions)
    shutil.copytree(tmp_path, copy := tmp_path.with_name(f"copy-{verb}"))
    with crash_points() as steps:
        open_in(copy).session.compact(SECOND)
    last = max(n for n, step in enumerate(steps, 1) if step.startswith(verb))

    def die() -> None:
        with crash_at(last):
            open_in(tmp_path).session.compact(SECOND)

    assert in_child(die) == -signal.SIGKILL
    assert len(open_in(tmp_path).session.ledger.decisions) == rows
    request = play.session.compact(SECOND)
    assert request.report.failures == request.report.warnings == []
    assert raw(open_in(tmp_path, decides=False).send(SECOND)) == raw(request)
