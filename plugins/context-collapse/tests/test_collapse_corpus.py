"""Both modes over recorded sessions: valid, explained, cheaper. Shows no contents."""

from __future__ import annotations

from typing import Any

import pytest
from corpus import plain
from machine import SESSIONS
from trimtab import ContextOverflow, Session
from trimtab.replay import Setup, replay
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
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


@pytest.mark.parametrize("path", LONG, ids=lambda path: path.stem)
def test_summaries_in_recorded_sessions(path: Any, model: Any) -> None:
    """With a model on a small window: valid, no request moves without a decision, and every question fits."""
    recording, ask = read(path), model()
    seen: list[Any] = []
    last: list[Any] = []
    stages = [{"context-collapse": {"writer": "model", "when": {"over": 0.9}, "target": 0.6}}]
    profile = plain("minimal", counter="estimate", provider={"window": 60_000}, stages=stages)
    stores: dict[str, Any] = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
    session = Session.open("s", profile, ask=ask, background=None, clock=lambda: 0.0, **stores)
    for request in recording.requests:
        try:
            sent = session.prepare(request.messages, recording.system, recording.tools)
        except ContextOverflow:
            continue
        assert [found for found in session.dialect.validate(sent.messages) if found.certain] == []
        if not sent.report.decisions and list(request.messages[: len(seen)]) == seen:
            assert sent.messages[: len(last)] == last
        seen, last = list(request.messages), sent.messages
        session.observe({"usage": {"input_tokens": round(sent.report.tokens_after), "output_tokens": 9}})
    assert len(ask.asked) > 3
    assert all(session.view.count(one.prompt) <= session.view.ask_window.effective for one in ask.asked)
