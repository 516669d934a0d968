"""Over recorded sessions, with a model that writes its memories mechanically; shows no contents."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from corpus import plain
from machine import SESSIONS
from trimtab import Ask, Session
from trimtab.errors import Overflow
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.texts import first
from trimtab.transcripts import read

LONG = sorted(SESSIONS, key=lambda path: -path.stat().st_size)[:2]

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not SESSIONS, reason="the recorded sessions (../shared/corpus) are not here"),
]


def mechanical(ask: Ask) -> str:
    """The memory that a very plain model would write: what the user said, the calls, the last thing said."""
    memory, _, new = ask.prompt.partition("<new>\n")
    log = memory.rpartition("# Worklog\n")[2].partition("</memory>")[0].strip()
    users = [first(text.strip(), 400) for text in re.findall(r"--- user\n(.*?)(?=\n--- |\Z)", new, re.DOTALL)]
    calls = re.findall(r"--- call of (\S+)\n(.*)", new)
    said = re.findall(r"--- assistant\n(.*?)(?=\n--- |\Z)", new, re.DOTALL)
    lines = [line for line in log.split("\n") if line.startswith("- ")] + [
        f"- {name} {first(text, 80)}" for name, text in calls
    ]
    parts = [f"# Current state\n{first(said[-1], 600)}"] if said else []
    parts += ["# Task specification\n" + "\n".join(f"- {text}" for text in users)] if users else []
    return "\n\n".join([*parts, "# Worklog\n" + ("\n".join(lines) or "nothing yet")])


@pytest.mark.parametrize("path", LONG, ids=lambda path: path.stem)
def test_recorded_sessions(path: Any) -> None:
    """No request is invalid, nothing fails, and the memory is folded again and again."""
    recording, asked = read(path), []

    def ask(ask: Ask) -> str:
        asked.append(ask.prompt)
        return mechanical(ask)

    stages = [{"session-memory": {"when": {"over": "auto"}, "target": 0.5}}]
    provider, model = {"window": 60_000, "prefix_bound": False}, {"model": "claude-haiku-4-5"}
    profile = plain("minimal", counter="estimate", provider=provider, ask=model, stages=stages)
    stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
    session = Session.open("s", profile, ask=ask, background=None, **stores)
    for request in recording.requests:
        sent = session.prepare(request.messages, recording.system, recording.tools)
        assert [found for found in session.dialect.validate(sent.messages) if found.certain] == []
        assert sent.report.failures + sent.report.warnings == []
        session.observe({})
    start = time.perf_counter()
    list(session.plan.stages[0].recover(session.view, Overflow(1, 1)))
    took = time.perf_counter() - start
    folds = [edit for edit in session.explain() if edit["kind"] == "fold"]
    assert len(folds) > 2
    assert len(asked) > 4 * len(folds)
    assert max(map(len, asked)) < 40_000
    assert all("# Current state" in edit["shown"] and "# Worklog" in edit["shown"] for edit in folds)
    assert took < 0.2  # usually below 30 ms; another process may run beside this one
