"""Rows of other versions, and rows that are gone, as the kernel's ledger meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from play import Play, raw, rounds, talk
from scenes import on_disk
from stages import Budget
from trimtab.edits import Replace
from trimtab.errors import StorageError
from trimtab.ledger import Decision
from trimtab.storage.gc import forget

VERSION_1 = (
    '{"v":1,"stage":"budget","trigger":"auto","time":1000005.0,"free":true,"boundary":false,"freed":600.0,'
    '"rewritten":0.0,"turn":1,"aliases":{"ab":["cd","ef"]},"originals":{"cd.0":"0123456789abcdef0123456789abcdef.txt"},'
    '"edits":[{"kind":"replace","block":"cd.0","text":"short"}]}'
)
"""A row as version 0.1.0 wrote it."""


def test_a_row_of_version_1() -> None:
    """What 0.1.0 wrote is read; what it left out has its default."""
    decision = Decision.from_json(VERSION_1, 7)
    assert decision.edits == (Replace("cd.0", "short", reason=""),)
    assert (decision.seq, decision.aliases, decision.freed) == (7, {"ab": ("cd", "ef")}, 600.0)


@pytest.mark.parametrize("change", [{"edits": [{"kind": "shrink", "to": 5}]}, {"mood": "good"}, {"edits": 5}])
def test_a_row_of_a_newer_version_is_refused_before_it_is_read(change: dict[str, object]) -> None:
    """Unknown kinds of edits, unknown fields, other shapes: whatever is new in it, the text says what to do."""
    row = json.dumps({**json.loads(VERSION_1), **change, "v": 2})
    with pytest.raises(
        StorageError, match=r"^decision 7 was written by a newer version of trimtab; upgrade to read it$"
    ):
        Decision.from_json(row, 7)
    with pytest.raises(StorageError, match=r"^decision 7 is damaged \("):
        Decision.from_json(row.replace('"v": 2', '"v": 1'), 7)


def decided(folder: Path) -> Play:
    """A session on a disk that has decided something and is open."""
    play = on_disk(folder, Budget, stages=["budget"])
    play.send(talk(2))
    assert play.session.ledger.decisions
    return play


@pytest.mark.parametrize("how", ["deleted", "folder gone", "deleted and begun anew"])
def test_an_open_session_whose_decisions_vanished(tmp_path: Path, how: str) -> None:
    """It says so with each request, sends the same bytes as before, and writes nothing between foreign rows."""
    play = decided(tmp_path)
    before = raw(play.send(talk(2)))
    if how == "folder gone":
        for path in tmp_path.glob("ledger.db*"):
            path.unlink()
    else:
        forget(play.ledger, play.blobs, ["s"])
    if how == "deleted and begun anew":
        other = on_disk(tmp_path, Budget, stages=["budget"])
        other.session.prepare([*talk(2), *rounds(3, first=7)])
    rows = play.ledger.load("s")
    for messages in (talk(2), [*talk(2), *rounds(1, first=2)]):
        request = play.session.prepare(messages)
        assert any(
            "the decisions of session 's' were deleted under it; open it anew" in failure
            for failure in request.report.failures
        )
        assert raw(request).startswith(before[:-1])
        assert not request.report.decisions
    assert play.ledger.load("s") == rows
    again = play.open()
    assert again.prepare(talk(2)).report.failures == []


def test_a_session_without_decisions_misses_nothing(tmp_path: Path) -> None:
    """Where nothing was decided yet, a deleted ledger is just an empty one."""
    play = on_disk(tmp_path, Budget, stages=["budget"])
    play.send(talk(0))
    for path in tmp_path.glob("ledger.db*"):
        path.unlink()
    play.send(talk(2))
    assert play.ledger.load("s")
