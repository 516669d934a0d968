"""The promises (docs/design.md) hold whatever plugins do: a hostile stage, hook and model over made-up conversations.

`walk.Walk` makes the requests, `trimtab.testing.witness.Witness` looks at every one of them.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trimtab.testing.contract import DIALECTS
from walk import STEPS, Walk

PASSES = int(os.environ.get("TRIMTAB_TEST_PASSES", "2000"))

FIXED = range(60)
"""Seeds that never change."""

LEAST = {
    ("evict", "free"): 3,
    ("param", "free"): 5,
    ("tag", "free"): 5,
    ("drop", "breaking"): 8,
    ("drop bound thinking", "breaking"): 5,
    ("drop thinking", "breaking"): 3,
    ("fold", "breaking"): 20,
    ("insert after_boundary", "free"): 1,
    ("insert system", "free"): 5,
    ("insert tail", "free"): 20,
    ("note", "free"): 20,
    ("pin", "free"): 20,
    ("repair", "free"): 20,
    ("replace", "breaking"): 25,
    ("replace", "free"): 25,
    ("restore", "breaking"): 10,
}
"""Edits of each kind that must get past the kernel under the fixed seeds, or the promises are not put to the test."""

LACKS = {
    "anthropic": (),
    "openai": ("evict", "param"),
    "responses": ("drop bound thinking", "drop thinking", "evict", "param"),
}
"""What a format has none of; reasoning of `responses` goes with its round, or not at all."""


@pytest.mark.parametrize("dialect", DIALECTS)
def test_promises_hold_for_fixed_seeds(dialect: str) -> None:
    """Valid, pinned, stable, frozen, shrinking, stored: with enough accepted edits of every kind to mean it."""
    accepted: Counter[tuple[str, str]] = Counter()
    for seed in FIXED:
        accepted += Walk(seed, dialect=dialect).go().accepted()
    least = {one: count for one, count in LEAST.items() if one[0] not in LACKS[dialect]}
    assert {one: accepted[one] for one, count in least.items() if accepted[one] < count} == {}


@settings(
    max_examples=max(1, PASSES // STEPS),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
@given(seed=st.integers(min_value=0, max_value=2**32), dialect=st.sampled_from(DIALECTS))
def test_promises_hold_under_hostile_plugins(seed: int, dialect: str) -> None:
    """The same for seeds that hypothesis draws; TRIMTAB_TEST_PASSES says how many requests."""
    Walk(seed, dialect=dialect).go()


def test_two_processes_keep_requests_valid() -> None:
    """Two processes on one session, neither knowing what the other just decided: valid, pinned, stored, as said."""
    for seed in FIXED:
        Walk(seed, processes=2).go()
