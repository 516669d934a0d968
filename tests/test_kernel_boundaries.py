"""Boundaries as records for callers: in the report, from the session, from the storage alone."""

from __future__ import annotations

from typing import Any

import pytest
from play import LONG, Everything, Play, rounds, talk
from stages import ClearOld, FoldOld, Greet, KeepWords, Watch
from trimtab import Veto
from trimtab.report import Boundary

FOLD = {"fold-old": {"when": "cold"}}
PARTS: dict[str, Any] = {
    "stages": [{"clear-old": {"when": "cold"}}, FOLD],
    "hooks": [{"keep-words": {"words": "c1: The quick"}}, "greet"],
}


@pytest.fixture(autouse=True)
def fresh() -> None:
    """No test sees what another one told the hook."""
    Watch.pins = Watch.judge = None


def made(**parts: Any) -> tuple[Play, Boundary]:
    """A session that made one boundary."""
    play = Play(ClearOld, FoldOld, KeepWords, Greet, **{**PARTS, **parts})
    play.send(talk(6))
    boundary = play.cold([*talk(6), *rounds(1, 6)]).report.boundary
    assert boundary is not None
    return play, boundary


def test_a_boundary_is_a_record() -> None:
    """Who made it and why, tokens before and after, what is kept, what it carries, who took part."""
    play, boundary = made()
    report = play.session.request.report  # type: ignore[union-attr]
    at = play.session.ledger.decisions[boundary.decision - 1]
    assert (boundary.type, boundary.trigger, boundary.stages) == ("fold-old", "auto", ("clear-old", "fold-old"))
    assert boundary.tokens_before == pytest.approx(report.tokens_before, abs=0.1)
    assert boundary.tokens_after == pytest.approx(report.tokens_after, abs=0.1)
    assert (boundary.kept, boundary.pins) == (2, 1)
    assert (at.boundary, boundary.time) == (True, play.now)
    assert report.as_dict()["boundary"]["type"] == "fold-old"


def test_the_session_lists_them() -> None:
    """Also after a restart, from the rows alone; a pass without one has none in its report."""
    play, first = made()
    messages = [*talk(6), *rounds(4, 6)]
    assert play.send(messages).report.boundary is None
    request = play.session.compact([*messages, *rounds(1, 10)])
    second = request.report.boundary
    assert second is not None
    assert second.trigger == "manual"
    play.again()
    assert play.session.boundaries() == [first, second]


def test_one_that_was_vetoed_is_none() -> None:
    """What post_compact refuses leaves no record; it sees the boundary that it judges."""
    seen: list[Any] = []

    def judge(before: Any, after: Any, report: Any) -> Any:
        seen.append(report.boundary)
        if report.boundary:
            raise Veto("not now", stages=["fold-old"])
        yield from ()

    Watch.judge = judge
    play = Play(ClearOld, FoldOld, Watch, stages=PARTS["stages"], hooks=["watch"])
    play.send(talk(6))
    request = play.cold(talk(6))
    assert (request.report.boundary, play.session.boundaries()) == (None, [])
    assert [boundary is not None for boundary in seen] == [True, False]


def test_one_that_another_process_forestalled_is_none() -> None:
    """Where a decision is dropped because others were first, so is its record."""
    play = Play(ClearOld, FoldOld, stages=[FOLD])
    play.send(talk(6))
    other = play.open()
    other.prepare(talk(6))
    play.now += 3_600
    other.compact(talk(6))
    request = play.session.prepare(talk(6))
    assert len(play.session.boundaries()) == 1
    assert request.report.boundary is None


def test_no_room_behind_a_boundary_is_told() -> None:
    """What a hook wanted to put back and could not is a warning, not a silence."""
    stages = [{"fold-old": {"when": {"over": 3_000}, "target": 900}}]
    play = Play(Greet, FoldOld, stages=stages, hooks=[{"greet": {"text": LONG}}])
    play.session._started = Everything()
    report = play.send(talk(6)).report
    assert report.warnings == [f"greet: not inserted, no room behind the boundary: {LONG[:60]!r}"]
    assert report.tokens_after < 900
