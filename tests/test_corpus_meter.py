"""The meter on the recorded sessions: how far it may be from what the provider measured. Shows no contents."""

from __future__ import annotations

import pytest
from corpus import meter_errors, percentile
from machine import RANKS, SESSIONS
from trimtab.transcripts import read

BARS = {"fresh": (0.003, 0.02), "old": (0.01, 0.05)}
"""Median and 95th percentile of the relative error, at most."""

PHASES = range(0, 10, 3)
"""Some of the sessions that are told every tenth usage: all ten take their time."""

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not SESSIONS, reason="the recorded sessions (../shared/corpus) are not here"),
]


@pytest.mark.parametrize("counter", ["estimate", pytest.param("tiktoken", marks=pytest.mark.slow)])
def test_meter_error(counter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fresh usage: median 0.3 %, 95th percentile 2 %; usage ten requests old: 1 % and 5 %, on rising steps."""
    if counter == "tiktoken":
        pytest.importorskip("tiktoken")
        if not RANKS.is_dir():
            pytest.skip("the ranks of tiktoken (../shared/tiktoken) are not here")
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(RANKS))
    found = [meter_errors(read(path), counter, PHASES) for path in SESSIONS]
    for kind, (median, high) in BARS.items():
        errors = [abs(error) for session in found for error in getattr(session, kind)]
        assert len(errors) > 200, kind
        assert percentile(errors, 0.5) <= median, kind
        assert percentile(errors, 0.95) <= high, kind
