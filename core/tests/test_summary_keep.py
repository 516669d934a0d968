"""What stays and what a boundary folds: whole rounds, every message exactly one of both, an honoured budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from summaries import view_of
from trimtab import Fold, load, rules
from trimtab.summary import Keep, boundary, mechanical, span, tail
from trimtab.testing import conversations
from trimtab.testing.material import rounds
from trimtab.view import View

DIALECTS = st.sampled_from(["anthropic", "openai"])
KEEPS = st.one_of(
    st.integers(0, 8).map(Keep.of),
    st.builds(Keep, tokens=st.integers(0, 60_000), texts=st.integers(0, 6), max=st.integers(0, 400_000)),
)


def weight(view: View, items: Sequence[Any]) -> float:
    """Calibrated tokens of items."""
    return view.context.meter.factor * sum(item.tokens for item in items)


@given(data=st.data(), dialect=DIALECTS, keep=KEEPS, broken=st.booleans())
@settings(deadline=None, max_examples=60)
def test_H04_every_message_is_kept_or_summarised(data: Any, dialect: str, keep: Keep, broken: bool) -> None:
    """Run and rest are the path, each position once, and the rules find whole rounds: no call without its result."""
    view = view_of(
        data.draw(conversations(dialect, broken=broken, min_steps=2, max_steps=7)), dialect=dialect, window=1_000_000
    )
    run = span(view, keep)
    assume(run)
    inside = {at for item in run for at in range(item.start, item.end)}
    outside = {at for item in view.messages if item not in run for at in range(item.start, item.end)}
    assert inside.isdisjoint(outside)
    assert inside | outside == set(range(view.messages[-1].end))
    assert isinstance(rules.check(view, Fold(run, "short", full="x")), Fold)


@given(data=st.data(), dialect=DIALECTS)
@settings(deadline=None, max_examples=25)
def test_a_mechanical_boundary_shrinks_and_is_the_same_again(data: Any, dialect: str) -> None:
    """From the same view the same fold, smaller than what it stands for."""
    messages = data.draw(conversations(dialect, min_steps=4, max_steps=7))
    first, second = (view_of(messages, dialect=dialect, window=1_000_000) for _ in range(2))
    folds = []
    for view in (first, second):
        run = span(view, Keep.of(1))
        assume(weight(view, run) > 1_500)
        folds.append(rules.check(view, boundary(view, run, mechanical(view, run, 0.3 * weight(view, run)), "r")))
    assert folds[0] == folds[1]
    assert isinstance(folds[0], Fold)
    assert first.count(folds[0].text) < weight(first, span(first, Keep.of(1)))


@pytest.mark.parametrize("dialect", ["anthropic", "openai"])
def test_the_tail_has_what_was_asked_for(dialect: str) -> None:
    """At least so many tokens and texts, in whole rounds, and not a round more."""
    view = view_of(rounds(dialect, 120), dialect=dialect)
    start = tail(view, Keep(tokens=2_000, texts=3))
    kept = view.messages[start:]
    assert kept[0].role == "assistant"
    assert weight(view, kept) >= 2_000 > weight(view, kept[2:])


def test_texts_count_too() -> None:
    """Many short texts are wanted: then the tail is longer than its tokens."""
    view = view_of(rounds("anthropic", 60))
    assert len(view.messages) - tail(view, Keep(tokens=0, texts=20)) == 40


def test_H43_max_bounds_the_tail() -> None:
    """No more than ``max`` in whole rounds, whatever else is asked for; the latest round stays all the same."""
    view = view_of(rounds("anthropic", 120))
    for keep in (Keep(tokens=90_000, max=3_000), Keep(messages=200, max=3_000)):
        assert 2_000 < weight(view, view.messages[tail(view, keep) :]) <= 3_000
    assert len(view.messages) - tail(view, Keep(max=0)) == 2


def test_H43_one_setting_in_every_form() -> None:
    """A number, a mapping and a model say the same; None is the default; a slip is an error."""
    assert Keep.of(7) == Keep.of({"messages": 7}) == Keep.of(Keep(messages=7))
    assert Keep.of(None) == Keep() == Keep(tokens=10_000, texts=5, max=40_000)
    for slip in ({"token": 5}, "many", True, -1):
        with pytest.raises(ValueError, match="Keep"):
            Keep.of(slip)


def test_messages_are_counted() -> None:
    """So many messages stay, and what belongs to the round of the oldest."""
    view = view_of(rounds("anthropic", 30))
    assert [len(view.messages) - tail(view, Keep.of(count)) for count in (0, 1, 2, 3, 10, 11)] == [2, 2, 2, 4, 10, 12]


def test_R19_small_windows_keep_less() -> None:
    """On a window of 20k a tenth of what a window of 200k keeps; on a larger window not more."""
    messages = rounds("anthropic", 60)
    sizes = []
    for window in (20_000, 200_000, 1_000_000):
        view = view_of(messages, window=200_000)
        view.context.window = view.context.window.of(window, load("minimal", env={}, cwd="/").thresholds)
        sizes.append(weight(view, view.messages[tail(view, Keep(texts=0, tokens=8_000)) :]))
    assert 800 <= sizes[0] < 1_400
    assert sizes[1] == sizes[2] >= 8_000


def test_H36_nothing_to_fold_is_no_run() -> None:
    """One message, one round, or what a summary would be no shorter than."""
    for count in (0, 1, 2):
        assert span(view_of(rounds("anthropic", count, "ok")), Keep.of(0)) == []
    assert span(view_of(rounds("anthropic", 9)), Keep()) == []


def test_a_system_message_in_mid_course_parts_runs() -> None:
    """No fold may take it: what lies on its heavier side is the run."""
    messages = rounds("openai", 30)
    messages.insert(41, {"role": "system", "content": "Be brief."})
    view = view_of([{"role": "system", "content": "Be good."}, *messages], dialect="openai")
    run = span(view, Keep.of(2))
    assert (view.messages[0].role, run[0], run[-1]) == ("system", view.messages[1], view.messages[41])
    assert view.messages[42].role == "system"
