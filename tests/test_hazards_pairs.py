"""Hazards H01 to H08: calls and their results, whatever a stage cuts (docs/hazards.md)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from play import Play, call, edits, result, rounds, says, shown, talk, text, user, why
from stages import Do, DropOld, FoldOld
from trimtab import Drop, Fold
from trimtab.dialects.anthropic import validate

SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
LAST = rounds(1, first=90)


def cut(messages: list[Any], kind: type, start: int, end: int) -> tuple[Any, str]:
    """One manual pass of a stage that folds or drops ``messages[start:end]``: the request, and why it was refused."""
    play = Play(Do, stages=[{"do": {"when": "cold"}}])
    run = slice(start, end)
    Do.now = lambda view: [Fold(view.messages[run], "Done.") if kind is Fold else Drop(view.messages[run])]
    request = play.session.compact(messages)
    assert request.report.failures == []
    assert [found for found in validate(request.messages) if found.certain] == []
    return request, next(iter(why(request, "do")), "")


def every_cut(messages: list[Any]) -> dict[tuple[str, int, int], str]:
    """All runs, folded and dropped, each in its own session: every request is valid; gives the refusals."""
    spans = itertools.combinations(range(len(messages) + 1), 2)
    return {
        (kind.__name__, start, end): cut(messages, kind, start, end)[1] for start, end in spans for kind in (Fold, Drop)
    }


def test_H01_a_run_of_results_with_mixed_ids() -> None:
    """A cut that keeps one of several results and folds its call away is refused; with all of them it passes."""
    messages = [user("go"), says(call("a"), call("b")), user(result("a")), user(result("b")), says("so"), user("on")]
    found = every_cut([*messages, *LAST])
    assert found["Fold", 0, 3] == found["Fold", 1, 3] == found["Fold", 3, 5] == "not whole"
    assert found["Fold", 0, 4] == found["Fold", 1, 4] == ""


def test_H02_a_message_between_call_and_result() -> None:
    """Calls and results pair by id: what stands between them splits no pair, and is not lost."""
    between = [user("go"), says(call("a")), user("hurry up"), user(result("a")), says("so"), user("on"), *LAST]
    found = every_cut(between)
    assert found["Fold", 0, 3] != ""
    assert found["Drop", 1, 3] != ""
    _request, refused = cut(between, Fold, 0, 4)
    assert refused == ""
    play = Play()
    assert "hurry up" in shown(play.send(between))


def test_H03_a_second_boundary_over_a_kept_window() -> None:
    """Two folds in sequence, the first inside what the second takes: pairs are whole in the final list."""
    play = Play(FoldOld, stages=[{"fold-old": {"when": "cold", "keep": 4, "text": "First."}}])
    messages = talk(6)
    play.send(messages)
    assert "First." in shown(play.cold(messages))
    play.again(stages=[{"fold-old": {"when": "cold", "keep": 2, "text": "Second."}}])
    messages = [*messages, *rounds(3, first=6)]
    play.send(messages)
    request = play.cold(messages)
    assert "First." not in shown(request)
    assert "Second." in shown(request)
    assert [item.fold is not None for item in play.session.view.messages].count(True) == 1


def test_H04_every_message_is_accounted_for_once() -> None:
    """After repeated folds and drops each message of the path is shown, folded or dropped: exactly one of them."""
    stages = [{"drop-old": {"when": "cold", "keep": 6}}, {"fold-old": {"when": "cold", "keep": 7}}]
    play = Play(DropOld, FoldOld, stages=stages)
    messages = talk(10)
    for _ in range(3):
        play.send(messages)
        play.cold(messages)
        view = play.session.view
        covered = [id for item in view.messages for id in item.covers]
        path = [message.id for message in view.projection.path]
        dropped = [id for row in edits(play, "drop") for id in row["targets"]]
        assert sorted({*covered, *dropped}) == sorted(path)
        assert len(covered) == len(set(covered))
        messages = [*messages, *rounds(4, first=len(messages))]


def test_H05_an_interim_result_before_the_final_one() -> None:
    """A second result under the same id keeps its words, in a valid request, also when the first round is folded."""
    messages = [user("go"), says(call("a")), user(result("a", "pending")), says("I wait."), user(result("a", "FINAL"))]
    play = Play(FoldOld, stages=[{"fold-old": {"when": "cold", "keep": 2, "text": "It was started."}}])
    assert "FINAL" in shown(play.send(messages))
    assert "FINAL" in shown(play.cold(messages))
    more = [*messages, says("Thanks."), user("next")]
    assert "FINAL" in shown(play.send(more)) or edits(play, "fold")


def test_H06_a_parallel_batch_is_one_unit() -> None:
    """N calls and their N results go whole or not at all, in one message or several, dropped or folded."""
    batch = [says(call("a"), call("b"), call("c")), user(result("a"), result("b")), user(result("c"))]
    found = every_cut([user("go"), *batch, says("so"), user("on"), *LAST])
    for kind, start, end in itertools.product(("Fold", "Drop"), (1, 2, 3), (2, 3, 4)):
        if start < end:
            whole = (start, end) == (1, 4)
            assert (found[kind, start, end] == "") == whole, (kind, start, end)


@pytest.mark.parametrize("apart", [False, True], ids=["one message", "two messages"])
def test_H07_a_server_tool_and_its_result(apart: bool) -> None:
    """A call that the provider ran stays with its result, inside one assistant message and over two."""
    answers = [says(SEARCH), says(FOUND, text("Found."))] if apart else [says(SEARCH, FOUND, text("Found."))]
    found = every_cut([user("go"), *answers, user("on"), *rounds(1), *LAST])
    if apart:
        assert found["Fold", 0, 2] == found["Fold", 2, 4] == "not whole"
    assert found["Fold", 0, 1 + len(answers)] == ""


def test_H08_an_open_call_is_out_of_reach() -> None:
    """Between a call and its output nothing takes the round of the call: neither a fold nor a drop."""
    messages = [*talk(3), says(text("I read on."), call("open"))]
    for kind, start in itertools.product((Fold, Drop), (0, 1, 7)):
        play = Play(Do, stages=[{"do": {"when": "cold"}}])
        Do.now = lambda view, kind=kind, start=start: [
            Fold(view.messages[start:], "Done.") if kind is Fold else Drop(view.messages[start:])
        ]
        request = play.session.compact(messages)
        assert why(request, "do") == {"latest round": 1}
        assert request.messages[-1] is messages[-1]
