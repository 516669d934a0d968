"""The cache model on the recorded sessions: what it says was read is what the providers say. Shows no contents."""

from __future__ import annotations

from functools import cache

import pytest
from hitrates import CORPUS, Hits, hits, recorded

BAR = 0.02
"""Of the share of tokens read, on average over the sessions of a format."""

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the recorded sessions (../shared/corpus) are not here"),
]


@cache
def found() -> dict[str, list[Hits]]:
    """All sessions that have such requests, by format."""
    formats: dict[str, list[Hits]] = {}
    for name, recording in recorded():
        if (session := hits(recording)).requests:
            formats.setdefault(name, []).append(session)
    return formats


@pytest.mark.parametrize(("name", "requests"), [("claude-code", 900), ("mini-swe-agent", 1_400)])
def test_simulated_and_recorded_reads_agree(name: str, requests: int) -> None:
    """Where one cache serves all requests, the two shares are within 2 points, all requests counted."""
    sessions = found()[name]
    assert sum(session.requests for session in sessions) > requests
    assert abs(sum(session.difference for session in sessions) / len(sessions)) <= BAR


@pytest.mark.parametrize(("name", "requests"), [("codex", 60), ("pi", 400)])
def test_they_agree_where_anything_was_read(name: str, requests: int) -> None:
    """Where the cache is missed as a whole at times, for reasons no recording shows, the other requests agree."""
    sessions = found()[name]
    assert sum(session.requests for session in sessions) > requests
    steady = [session.steady for session in sessions if session.steady is not None]
    assert abs(sum(steady) / len(steady)) <= BAR


def test_several_caches_are_not_foreseen() -> None:
    """A service with a cache in each region reads less than the model says, never more: a known limit."""
    assert all(session.difference > BAR for session in found()["claude-code, Bedrock"])
