"""One break of the prefix pays for all: the second look, folds over edits, thinking (R4, R23)."""

from __future__ import annotations

from typing import Any

import pytest
from play import Play, decided, rounds, says, shown, talk, thinks, user, why
from stages import Budget, ClearOld, Do, DropOld, FoldOld
from trimtab import Replace, Stage, StageOptions, View


class Late(ClearOld):
    """A second clearing stage, under its own name."""

    name = "late"


def clear(when: Any, **more: Any) -> list[Any]:
    """The stage list of one clearing stage."""
    return [{"clear-old": {"when": when, **more}}]


def held(play: Play, messages: list[Any]) -> None:
    """Send twice, so that the provider holds it."""
    play.send(messages)
    play.send(messages)


class First(StageOptions):
    """Options of a stage that clears one result."""

    at: int = 1


class One(Stage):
    """Clears the result at one place, when it is forced to."""

    name = "one"
    Options = First

    def propose(self, view: View) -> Any:
        """One edit."""
        yield Replace(view.results[self.options.at], "[one]")


@pytest.mark.parametrize("order", [["late", "one"], ["one", "late"]])
def test_one_break_pays_for_all(order: list[str]) -> None:
    """Who waited for a cold cache looks again behind the point where another edit broke the prefix, not before."""
    options = {"late": {"when": "cold", "keep": 1}, "one": {"when": {"over": 3_000}, "target": 10, "at": 2}}
    play = Play(Late, One, stages=[{name: options[name]} for name in order])
    messages = talk(5)
    held(play, messages)
    request = play.send([*messages, *rounds(1, first=5)])
    outcomes = {outcome.stage: outcome for outcome in request.report.decisions}
    assert outcomes["one"].rewritten > 1_000
    assert outcomes["late"].rewritten == 0.0
    assert outcomes["late"].edits == 2
    assert not outcomes["late"].free
    assert [n for n in range(6) if f"c{n}: The" in shown(request)] == [0, 1, 5]
    assert why(request, "late") == {"waits": 2}


def test_no_second_look_without_a_break() -> None:
    """Free edits break nothing: a stage that waits is not asked again because of them."""
    play = Play(Do, Budget, stages=[{"do": {"when": "cold"}}, "budget"])
    Do.now, Do.runs = None, 0
    messages = talk(3)
    held(play, messages)
    assert decided(play.send([*messages, *rounds(1, first=3)])) == ["budget"]
    assert Do.runs == 0


def test_a_fold_swallows_the_edits_of_its_pass() -> None:
    """What an earlier stage changed inside a run that is folded later in the pass does not show."""
    stages = [{"clear-old": {"when": "cold", "keep": 1}}, {"drop-old": {"when": "cold", "keep": 4}}]
    play = Play(ClearOld, DropOld, FoldOld, stages=[*stages, {"fold-old": {"when": "cold", "keep": 2}}])
    messages = talk(6)
    held(play, messages)
    request = play.cold(messages)
    assert len(request.messages) == 3
    assert "cleared" not in shown(request)
    assert request.report.tokens_after < 700


def test_thinking_on_prefix_bound_models() -> None:
    """An edit takes the thinking behind it with it, outside the open turn; free edits never do (R23)."""
    play = Play(ClearOld, Budget, stages=[*clear("cold", keep=1), "budget"], provider={"prefix_bound": True})
    turns = [message for n in range(3) for message in (user(f"{n}?"), says(thinks(f"t{n}"), *talk(1)[1]["content"]))]
    messages: list[Any] = []
    for n, message in enumerate(turns):
        messages.append(message)
        if message["role"] == "assistant":
            messages += [*rounds(1, first=0)[1:], says(f"done {n}")]
    messages.append(user("And?"))
    held(play, messages)
    request = play.cold(messages)
    (outcome,) = request.report.decisions
    assert outcome.edits == 3  # two results, and in one edit the thinking of two turns behind the first of them
    assert [f"signed t{n}" in shown(request) for n in range(3)] == [True, False, False]
    free = play.send([*messages, says(thinks("new"), *talk(1)[1]["content"]), *rounds(1, first=0)[1:]])
    assert decided(free) == ["budget"]
    assert "signed new" in shown(free)
