"""Both modes over recorded sessions: valid, explained, cheaper. Shows no contents."""

from __future__ import annotations

from typing import Any

import pytest
from corpus import plain
from machine import SESSIONS
from trimtab.replay import Setup, replay
from trimtab.transcripts import read

LONG = sorted(SESSIONS, key=lambda path: -path.stat().st_size)[:2]

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not SESSIONS, reason="the recorded sessions (../shared/corpus) are not here"),
]


@pytest.mark.parametrize("path", LONG, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    "options", [{"age": 15, "cold_age": 15}, {"mode": "stale-reads"}], ids=["spans", "stale-reads"]
)
def test_recorded_sessions(path: Any, options: dict[str, Any]) -> None:
    """No request is invalid, none is rewritten without a decision, and the session costs no more than untouched."""
    recording = read(path)
    stages = [{"context-collapse": {"when": ["cold", "pays"], "at_least": 2_000, **options}}]
    profile = plain("minimal", counter="estimate", provider={"model": "claude-sonnet-4-5"}, stages=stages)
    tally = replay(recording, Setup().adapt(profile, recording), "collapse")
    assert tally.failures == []
    assert (tally.invalid_requests, tally.rewrites["unexplained"]) == (0, 0)
    assert tally.stages["context-collapse"].fired > 0
    assert tally.after.cost < tally.before.cost
