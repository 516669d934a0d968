"""The recorded sessions of mini-SWE-agent through the chat dialect. Shows no contents."""

from __future__ import annotations

from pathlib import Path

import pytest
from machine import SHARED
from trimtab import Session, load
from trimtab.dialects.openai import validate
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.transcripts import read

SESSIONS = sorted((SHARED / "corpus" / "mini-swe-agent").glob("*.json"))

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not SESSIONS, reason="the recorded sessions (../shared/corpus) are not here"),
]


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.name.partition(".")[0])
def test_recorded_sessions_are_valid_and_untouched(path: Path) -> None:
    """Each request is valid and made of the very objects handed in; its size is known within 3 % from the tenth on."""
    recording, now = read(path), 0.0
    provider = {"kind": "openai", "window": 200_000, "cache": {"ttl": "1h"}}
    profile = load("minimal", overrides={"provider": provider, "counter": "estimate"}, env={}, cwd="/")
    stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
    session = Session.open(recording.session, profile, clock=lambda: now, **stores)
    errors = []
    for one in recording.requests:
        now = one.now
        request = session.prepare(one.messages, recording.system, recording.tools)
        assert request.report.failures == []
        assert all(new is old for new, old in zip(request.messages, one.messages, strict=True))
        usage = session.dialect.usage({"usage": one.usage, "model": one.model})
        if usage is not None:
            assert usage.split
            errors.append(abs(request.report.tokens_after / usage.total - 1))
            session.observe(usage)
    assert validate(request.messages) == []
    assert sorted(errors[10:])[len(errors[10:]) * 9 // 10] < 0.03
