"""Over recorded sessions with everything open: valid requests, and how little there is to free. Shows no contents."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from trimtab import Session, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.transcripts import read

CORPUS = Path(__file__).resolve().parents[3].parent / "shared" / "corpus"

pytestmark = pytest.mark.corpus


def run(path: Path) -> Counter[str]:
    """Counts of one session: requests, invalid ones, edits by kind, tokens freed, and tokens of the last request."""
    recording, now = read(path), 0.0
    profile = load(
        "minimal",
        overrides={
            "counter": "estimate",
            "provider": {"kind": recording.dialect, "prefix_bound": False, "window": 10_000_000},
            "stages": [{"snip": {"when": "always", "warm": "allow"}}],
        },
        env={},
        cwd="/",
    )
    stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
    session = Session.open(recording.session, profile, clock=lambda: now, **stores)
    counts: Counter[str] = Counter()
    for request in recording.requests:
        now = request.now
        made = session.prepare(request.messages, recording.system, recording.tools)
        counts["requests"] += 1
        counts["failures"] += len(made.report.failures)
        if made.report.decisions:
            counts["invalid"] += any(found.certain for found in session.dialect.validate(made.messages))
    for decision in session.ledger.decisions:
        if decision.stage == "snip":
            counts.update(edit.kind for edit in decision.edits)
            counts["freed"] += round(decision.freed)
    counts["last"] = round(session.view.tokens)
    return counts


@pytest.mark.parametrize(
    ("folder", "share"),
    [("claude-code", (0.005, 0.08)), ("mini-swe-agent", (0.0, 0.08))],
    ids=["claude-code", "mini-swe"],
)
def test_recorded_sessions(folder: str, share: tuple[float, float]) -> None:
    """No request becomes invalid, some calls go, and what that frees is a few hundredths of what is sent."""
    files = sorted((CORPUS / folder).glob("*.json*"))[::2]  # half of them, for time
    if not files:
        pytest.skip("the recorded sessions (../shared/corpus) are not here")
    try:
        counts = sum(map(run, files), Counter())
    except ImportError as missing:
        pytest.skip(f"its dialect is not here: {missing}")
    freed = counts["freed"] / (counts["freed"] + counts["last"])
    print(f"{folder}: {dict(counts)}, freed {freed:.1%} of the last requests")
    assert (counts["invalid"], counts["failures"]) == (0, 0)
    assert share[0] < freed < share[1]
    assert counts["drop"] + counts["replace"] > 0
