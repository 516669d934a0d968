"""Hazards H73 to H76: one compaction at a time, of what was there when it began."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from play import Play, bare, decided, edits, raw, says, shown, talk, user
from stages import ClearOld, FoldOld, Remind
from trimtab import Scripted

COLD = {"clear-old": {"when": "cold"}}
LOST = "another process decided first; decisions on the same messages were dropped"


def test_H73_parallel_runs_compact_once() -> None:
    """Four threads near the limit: one summary is asked for and stored, the others get its result."""
    scripted = Scripted(*["They read the parser."] * 4)
    stages = [{"fold-old": {"when": {"over": 3_000}, "target": 1_000, "ask": True}}]
    play = Play(FoldOld, stages=stages, ask=scripted)
    messages = talk(6)
    with ThreadPoolExecutor(4) as pool:
        requests = list(pool.map(play.session.prepare, [messages] * 4))
    assert len(scripted.asked) == 1
    assert len({raw(request) for request in requests}) == 1
    assert len(edits(play, "fold")) == 1


def test_H74_the_same_edit_twice_is_no_second_row() -> None:
    """What the view shows already is not recorded again: not in a retry, by a second stage, or in a manual pass."""
    play = Play(Remind, FoldOld, ClearOld, stages=["remind", {"fold-old": {"when": "cold"}}, COLD, "remind"])
    messages = talk(6)
    for prepare in (play.send, play.cold, play.send, play.session.compact, play.session.compact):
        prepare(messages)
    rows = [(row["kind"], tuple(row["targets"])) for row in edits(play) if row["kind"] != "note"]
    assert len(rows) == len(set(rows))


def test_H75_a_summary_is_the_answer_to_its_question() -> None:
    """While the agent's own answer is still growing, a fold's text is what was asked for, not the latest answer."""
    play = Play(FoldOld, stages=[{"fold-old": {"when": "cold", "ask": True}}], ask=Scripted("They read the parser."))
    messages = [*talk(5), says("I am still wri")]
    request = play.session.compact(messages)
    assert request.messages[-1] is messages[-1]
    assert bare(request.messages[0]) == user("They read the parser.")
    assert "wri" not in shown(request).replace("still wri", "")


def test_H76_what_is_said_during_a_compaction_stays() -> None:
    """A message that arrives while the summary is being made is behind the boundary, verbatim."""
    messages = talk(5)

    def ask(question: Any) -> str:
        messages.extend([says("Wait."), user("And do not forget the lexer!")])
        return "They read the parser."

    play = Play(FoldOld, stages=[{"fold-old": {"when": "cold", "ask": True}}], ask=ask)
    play.send(messages)
    request = play.cold(messages)
    assert "fold-old" in decided(request)
    assert "lexer" not in shown(request)
    after = play.send(messages)
    assert after.messages[-1] is messages[-1]
    assert raw(after).startswith(raw(request)[:-1])
