"""Both forms on recorded sessions: valid, no rewrite without a decision, cheaper than leaving all as it is."""

from __future__ import annotations

from typing import Any

import pytest
from corpus import plain
from machine import SESSIONS
from trimtab.replay import Setup, replay
from trimtab.transcripts import read

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not SESSIONS, reason="the recorded sessions (../shared/corpus) are not here"),
]


@pytest.mark.parametrize(
    "options",
    [
        {"form": "cleared", "when": ["cold", {"idle": "60m"}]},
        {"form": "digest", "when": ["cold", {"idle": "60m"}], "inputs": True},
        {"form": "digest", "when": ["cold", "pays", {"idle": "60m"}]},
    ],
    ids=["cleared", "digest and inputs", "digest that pays"],
)
def test_on_recorded_sessions(options: dict[str, Any]) -> None:
    """Four sessions of middle size: no invalid request, nothing unexplained, and less to pay than for doing nothing."""
    profile, saved = plain("minimal", counter="estimate", stages=[{"micro-compact": options}]), 0.0
    for path in sorted(SESSIONS, key=lambda path: path.stat().st_size)[7:11]:
        recording = read(path)
        tally = replay(recording, Setup().adapt(profile, recording), "micro")
        saved += tally.before.cost - tally.after.cost
        assert (tally.invalid_requests, tally.rewrites["unexplained"], tally.exceptions) == (0, 0, 0)
    assert saved > 0
