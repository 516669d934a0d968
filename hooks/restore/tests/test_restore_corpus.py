"""Over recorded sessions in small windows: valid requests, and what is put back keeps its budget. Shows no contents."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from trimtab import ContextOverflow, Session, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.testing.material import Summary
from trimtab.transcripts import read

CORPUS = Path(__file__).resolve().parents[3].parent / "shared" / "corpus"

pytestmark = [pytest.mark.corpus, pytest.mark.slow]


def run(path: Path, window: int) -> Counter[str]:
    """Counts of one session: boundaries, what stood behind each, failures, and how often the budget was broken."""
    recording, now = read(path), 0.0
    profile = load(
        "minimal",
        overrides={
            "counter": "estimate",
            "provider": {"kind": recording.dialect, "prefix_bound": False, "window": window},
            "stages": [{"summary": {"when": {"over": "auto"}}}],
            "hooks": ["restore"],
        },
        plugins=[Summary],
        env={},
        cwd="/",
    )
    stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
    session = Session.open(recording.session, profile, clock=lambda: now, **stores)
    counts: Counter[str] = Counter()
    for request in recording.requests:
        now = request.now
        try:
            made = session.prepare(request.messages, recording.system, recording.tools)
        except ContextOverflow:
            counts["overflows"] += 1
            continue
        counts["failures"] += len(made.report.failures)
        if any(one.stage == "restore" for one in made.report.decisions):
            view = session.view
            inserts = [item.text for item in view if item.message is None and item.fold is None]
            counts["boundaries"] += 1
            counts.update(text.split(maxsplit=2)[0] for text in inserts)
            counts["invalid"] += any(found.certain for found in session.dialect.validate(made.messages))
            counts["over"] += sum(map(view.count, inserts)) > 0.25 * view.window.effective
    return counts


@pytest.mark.parametrize("window", [30_000, 100_000])
def test_recorded_sessions(window: int) -> None:
    """Nothing fails, nothing is over its budget, and files come back."""
    files = sorted((CORPUS / "claude-code").glob("*.jsonl"))[::2]  # half of them, for time
    if not files:
        pytest.skip("the recorded sessions (../shared/corpus) are not here")
    counts = sum((run(file, window) for file in files), Counter())
    print(f"window {window:,}: {dict(counts)}")
    assert (counts["failures"], counts["invalid"], counts["over"]) == (0, 0, 0)
    assert counts["boundaries"] > 0
    assert counts["This"] + counts["Files"] > 0
