"""Which of two statements about one subject holds: the later one, where both are certainly about the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from trimtab_constraints import Statement, find, latest

DATA = Path(__file__).parent / "data"


def pairs(kind: str) -> list[list[str]]:
    """The pairs of all sets."""
    sets: list[Any] = [
        yaml.safe_load((DATA / f"{name}.yaml").read_text("utf-8")) for name in ("constraints", "heldout", "coding")
    ]
    return [pair for one in sets for pair in one[kind]]


def said(*texts: str) -> list[Statement[str]]:
    """All that is found in some messages."""
    return [Statement(found.text, found.kind, text) for text in texts for found in find(text)]


def holds(*texts: str) -> list[str]:
    """The messages of which something still holds."""
    return [one.of for one in latest(said(*texts))]


SAID = [text for kind in ("replace", "apart") for pair in pairs(kind) for text in pair]


@pytest.mark.parametrize("pair", pairs("replace"), ids=lambda pair: pair[1])
def test_a_later_value_replaces_the_earlier(pair: list[str]) -> None:
    """Of two values of one subject only the later one holds, whichever that is."""
    assert holds(*pair) == pair[1:]


@pytest.mark.parametrize("pair", pairs("apart"), ids=lambda pair: pair[1])
def test_different_subjects_stay_apart(pair: list[str]) -> None:
    """Both hold, in either order."""
    assert holds(*pair) == pair
    assert holds(*reversed(pair)) == pair[::-1]


def test_a_general_change_replaces_what_only_it_can_mean() -> None:
    """A value without a scope that says it replaces goes for the only one there is; where there are two, for none."""
    maintenance, door = "The maintenance code is ab-12.", "The door code is 4471."
    new = "The code is 7719, the old one is void."
    assert holds(maintenance, new) == [new]
    assert holds(maintenance, "The code is 7719 now.") == [maintenance, "The code is 7719 now."]
    assert holds(maintenance, door, new) == [maintenance, door, new]


def test_two_subjects_go_only_together() -> None:
    """A statement of two subjects is replaced by one of both, not by one of the first alone."""
    both = "Keep your answers terse and use imperial units."
    assert holds(both, "Use metric units from now on.") == [both, "Use metric units from now on."]
    assert holds(both, "Keep your answers playful and use metric units.")[0] != both


def test_a_prohibition_goes_only_with_its_own_restatement() -> None:
    """What forbids something beside the value stays; what only forbids to exceed or to tell it goes with it."""
    beside = "RULE: The project budget is $800. Never email customers."
    assert holds(beside, "The project budget is $900 now.") == [beside, "The project budget is $900 now."]
    within = "RULE: The project budget is $800. Never exceed it."
    assert holds(within, "The project budget is $900 now.") == ["The project budget is $900 now."]
    assert len(holds("Never push straight to main.", "Work continues on branch next.")) == 2


def test_what_stands_for_a_value_may_be_said() -> None:
    """A sentence with the mark that masks values is no restatement."""
    texts = "Rule: at most 5% or so.", "Rule: at most □ or so."
    assert holds(*texts) == [*texts]


def test_the_same_words_hold_once() -> None:
    """What is said again counts where it was said last."""
    assert holds("Never push to main.", "Reply in German.", "Never push to main.") == [
        "Reply in German.",
        "Never push to main.",
    ]


@given(st.lists(st.sampled_from(SAID), max_size=12))
def test_nothing_is_invented_and_the_last_always_holds(texts: list[str]) -> None:
    """What holds is a part of what was said, in its order; the newest is in it."""
    all_said = said(*texts)
    held = latest(all_said)
    places = [next(n for n, one in enumerate(all_said) if one is kept) for kept in held]
    assert places == sorted(set(places))
    assert not all_said or held[-1] is all_said[-1]
