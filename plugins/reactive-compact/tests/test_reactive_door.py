"""At a provider's door: recover until it accepts, whatever the conversation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trimtab import ContextOverflow
from trimtab.testing import material

ATTEMPTS = 4
"""Recoveries of one request, at most: as many as there are steps."""


def delivered(run: Any, door: Any, messages: list[Any], system: Any = None) -> Any:
    """The request that was accepted; raises `ContextOverflow`, and `AssertionError` on an endless loop."""
    request = run.session.prepare(messages, system=system)
    for attempt in range(ATTEMPTS + 1):
        try:
            tokens = door.send(request)
        except Exception as error:
            assert attempt < ATTEMPTS, "refused again and again"
            smaller = run.session.recover(error)
            assert run.count(smaller.messages) < run.count(request.messages), "the same size again"
            request = smaller
        else:
            run.session.observe({"usage": run.talk.wire.usage(0, 0, tokens)})
            return request


@pytest.mark.parametrize("dialect", ["anthropic", "openai", "responses"])
@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    limit=st.integers(3_000, 12_000),
    says=st.booleans(),
    mood=st.sampled_from(["none", "good", "bad"]),
)
def test_H50_every_request_gets_through_or_ends(
    opened: Any, provider: Any, talk: Any, dialect: str, seed: int, limit: int, says: bool, mood: str
) -> None:
    """Recovered at most four times, each smaller than the last; a session that thinks its window is larger learns."""
    ask = {"none": None, "good": material.Asker(), "bad": material.Asker("")}[mood]
    run = opened(dialect, window=40_000, ask=ask)
    run.talk = talk(seed, dialect)
    door = provider(run, limit, says)
    for _ in range(10):
        try:
            delivered(run, door, run.talk.messages, run.talk.wire.system)
        except ContextOverflow:
            break
        run.talk.step()
