"""The model that is asked: it fails in every way, or its own window is too small."""

from __future__ import annotations

import asyncio
import math
import re
from typing import Any

import pytest
from trimtab.testing import material

ROUNDS = [700] * 38
OVER, LIMIT = 20_200, 20_000
GOOD = material.Asker()

FAILURES: dict[str, Any] = {
    "empty": "",
    "blank": " \n",
    "error text": "API Error: 529 overloaded",
    "refusal": "I'm sorry, but I can't help with that.",
    "tool call": "<tool_use>read</tool_use>",
    "too long": "word " * 5_000,
    "no sections": "The parser was read.",
    "no text": 7,
    "exception": RuntimeError("boom"),
    "timeout": TimeoutError("60 s"),
}


@pytest.mark.parametrize("dialect", ["anthropic", "openai"])
@pytest.mark.parametrize("how", FAILURES)
def test_H35_a_failed_answer_is_followed_by_rule(opened: Any, rounds: Any, dialect: str, how: str) -> None:
    """Asked once, reported, and nothing of the answer is shown; the same rounds are summarised by rule."""
    run = opened(dialect, ask=material.Asker(FAILURES[how]))
    messages = rounds(dialect, ROUNDS)
    run.prepare(messages)
    shown = run.refused(OVER, LIMIT)
    assert run.steps == ["model", "mechanical"]
    assert len(run.asked) == 1
    assert [one.startswith("reactive-compact: no answer: ") for one in run.request.report.warnings] == [True]
    alone = opened(dialect)
    alone.prepare(messages)
    assert shown == alone.refused(OVER, LIMIT)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, asyncio.CancelledError])
def test_H34_who_stops_it_finds_all_as_it_was(opened: Any, rounds: Any, stop: type[BaseException]) -> None:
    """A cancelled question changes nothing, not even the steps; afterwards it can be tried again."""

    def cancel(ask: Any) -> str:
        if len(run.asked) == 1:
            raise stop
        return str(GOOD(ask))

    run = opened(ask=cancel)
    messages = rounds("anthropic", ROUNDS)
    run.prepare(messages)
    with pytest.raises(stop):
        run.refused(OVER, LIMIT)
    assert run.session.ledger.decisions == []
    run.refused(OVER, LIMIT)
    assert run.steps == ["model"]
    assert len(run.asked) == 2


class Small:
    """A model that refuses questions longer than ``less`` tokens under the first; it ``says`` by how much, or not."""

    def __init__(self, error: Any, less: float, *, says: bool) -> None:
        self.error, self.less, self.says = error, less, says
        self.most = 0.0

    def __call__(self, ask: Any) -> str:
        """The answer; raises what a client would."""
        tokens = len(ask.prompt) // 4
        self.most = self.most or max(0, tokens - self.less)
        if tokens > self.most:
            limit = f": {tokens} tokens > {self.most} maximum"
            raise self.error(f"prompt is too long{limit if self.says else ''}")
        return str(GOOD(ask))


@pytest.mark.parametrize("dialect", ["anthropic", "openai"])
@pytest.mark.parametrize("says", [True, False])
def test_H39_H45_a_question_that_is_too_long_is_asked_about_less(
    opened: Any, rounds: Any, error: Any, dialect: str, says: bool
) -> None:
    """More of the newest rounds stay out of it, and what the model was not asked about is not covered by its answer."""
    run = opened(dialect, ask=Small(error, 500, says=says))
    messages = rounds(dialect, ROUNDS)
    run.prepare(messages)
    run.refused(OVER, LIMIT)
    lengths = [len(ask.prompt) for ask in run.asked]
    assert 1 < len(lengths) <= 4
    assert lengths == sorted(lengths, reverse=True)
    folds = [item for item in run.session.view.messages if item.fold]
    assert "The parser was read." in folds[0].text
    last = max(int(n) for n in re.findall(r"line_(\d+)_", run.asked[-1].prompt))
    inside = len(folds[0].covers)
    assert (inside - 1) // 2 == last + 1, "the answer stands for what it was asked about"
    assert run.steps in (["model"], ["model", "mechanical"])
    assert run.request.report.tokens_after <= run.session.window.auto


def test_H45_a_model_that_never_takes_it_is_asked_four_times(opened: Any, rounds: Any, error: Any) -> None:
    """Then the rule writes; the next refusal asks nobody."""
    run = opened(ask=Small(error, math.inf, says=False))
    run.prepare(rounds("anthropic", ROUNDS))
    assert "Written by rule" in str(run.refused(OVER, LIMIT))
    assert len(run.asked) == 4
    assert len(run.request.report.warnings) == 4
    run.refused(20_100, LIMIT)
    assert len(run.asked) == 4


def test_the_question_is_flat(opened: Any, rounds: Any, summary: Any) -> None:
    """It does not follow the request that was just refused, and holds only what goes."""
    run = opened(ask=summary)
    messages = rounds("anthropic", ROUNDS)
    run.prepare(messages)
    shown = run.refused(OVER, LIMIT)
    (ask,) = run.asked
    assert not ask.shared
    kept = int(re.findall(r"line_(\d+)_", str(shown[1:]))[0])
    assert f"line_{kept - 1}_1" in ask.prompt
    assert f"line_{kept}_1" not in ask.prompt
