"""`default` on the recorded sessions: never dearer than doing nothing, cheaper wherever a result is over its limit.

Doing nothing is the profile `minimal`, which sends what was said and mends what is invalid. Shows no contents.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import oversized, plain
from machine import SESSIONS
from trimtab.replay import Setup, replay
from trimtab.transcripts import read

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not SESSIONS, reason="the recorded sessions (../shared/corpus) are not here"),
]


EVERY = [pytest.param(path, marks=pytest.mark.slow) if n % 5 else path for n, path in enumerate(SESSIONS)]


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_default_pays(path: Path) -> None:
    """It costs no more than `minimal`, and less if a result is over the limit that it sets for its tool."""
    recording, costs = read(path), {}
    for name in ("minimal", "default"):
        profile = Setup().adapt(plain(name, counter="estimate"), recording)
        costs[name] = replay(recording, profile, name).after.cost
    assert costs["default"] <= costs["minimal"]
    if oversized(recording, plain("default")):
        assert costs["default"] < costs["minimal"]


def test_there_are_sessions_with_results_over_their_limit() -> None:
    """The test above says something: most sessions have such a result."""
    assert sum(oversized(read(path), plain("default")) > 0 for path in SESSIONS) >= 12
