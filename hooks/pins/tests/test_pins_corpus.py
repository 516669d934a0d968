"""Over recorded sessions in a small window: what is pinned stays, and nothing is refused. Shows no contents."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from trimtab import Session, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.testing import material
from trimtab.transcripts import read

CORPUS = Path(__file__).resolve().parents[3].parent / "shared" / "corpus"
RULES = [
    {"first": "user"},
    {"role": "user", "match": "(?i)never|do not"},
    {"file": "**", "budget": "3k"},
    {"tool": "TodoWrite", "last": 1},
    {"last": 3},
]

pytestmark = pytest.mark.corpus


def run(path: Path) -> Counter[str]:
    """Counts of one session: requests, boundaries, invalid requests, failures, refusals, pins at its end, pins lost."""
    recording, now, counts = read(path), 0.0, Counter[str]()
    overrides = {
        "counter": "estimate",
        "provider": {"kind": recording.dialect, "prefix_bound": False, "window": 60_000},
        "stages": ["short", {"summary": {"when": {"over": 0.3}}}],
        "hooks": [{"pins": RULES}],
    }
    profile = load("minimal", overrides=overrides, plugins=material.STAGES, env={}, cwd="/")
    stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
    session = Session.open(recording.session, profile, clock=lambda: now, background=None, **stores)
    for request in recording.requests:
        now = request.now
        made = session.prepare(request.messages, recording.system, recording.tools)
        dialect = session.dialect
        blocks = (block for wire in made.messages for block in dialect.parse(dialect.plain(wire), "")[1])
        shown = "\n".join(block.text for block in blocks)
        words = [pin.text or session.view.projection.block(pin.block).text for pin in session.view.pins]
        counts["requests"] += 1
        counts["boundaries"] += made.report.boundary is not None
        counts["invalid"] += any(found.certain for found in dialect.validate(made.messages))
        counts["failures"] += len(made.report.failures)
        counts["refusals"] += sum(made.report.refused.get("pins", {}).values())
        counts["lost"] += sum(text not in shown for text in words)
    counts["pins"] = len(session.view.pins)
    return counts


def test_recorded_sessions() -> None:
    """Every pinned text is in every request, over many boundaries."""
    files = sorted((CORPUS / "claude-code").glob("*.json*"))[::6]  # a few of them, for time
    if not files:
        pytest.skip("the recorded sessions (../shared/corpus) are not here")
    counts = sum(map(run, files), Counter())
    print(dict(counts))
    assert [counts[what] for what in ("invalid", "failures", "refusals", "lost")] == [0, 0, 0, 0]
    assert counts["boundaries"] > 0
    assert counts["pins"] > 0
