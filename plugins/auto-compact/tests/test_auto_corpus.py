"""Recorded sessions in small windows, with the mechanical writer: valid, explained, below the window. No contents."""

from __future__ import annotations

from typing import Any

import pytest
from corpus import plain
from machine import SESSIONS, SHARED
from trimtab.replay import Setup, replay
from trimtab.transcripts import read

CASES = [
    ("claude-code/marot-spotter__4d5611e5-241a-462a-8d15-5122611a9569.jsonl", 30_000),
    ("claude-code/marot-spotter__4d5611e5-241a-462a-8d15-5122611a9569.jsonl", 100_000),
    ("mini-swe-agent/django__django-11564.traj.json", 30_000),
]

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not SESSIONS, reason="the recorded sessions (../shared/corpus) are not here"),
]


@pytest.mark.parametrize(("name", "window"), CASES)
def test_recorded_sessions(name: str, window: int) -> None:
    """No request is invalid or rewritten without a decision, and boundaries are made wherever it fills."""
    recording = read(SHARED / "corpus" / name)
    stages: list[Any] = [{"auto-compact": {"when": {"over": "auto"}}}]
    profile = plain("minimal", counter="estimate", provider={"model": "claude-sonnet-4-5"}, stages=stages)
    tally = replay(recording, Setup(window=window).adapt(profile, recording), "compact")
    assert tally.failures == []
    assert (tally.invalid_requests, tally.rewrites["unexplained"]) == (0, 0)
    assert tally.stages["auto-compact"].fired > 0
