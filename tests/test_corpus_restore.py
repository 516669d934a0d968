"""Undo and resume on recorded sessions, with all seven stages in a small window; shows no contents.

What a decision hid comes back byte for byte, and a new process sends what the old one sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from corpus import plain
from machine import SESSIONS
from trimtab import ContextOverflow, Request, Session
from trimtab.replay import Setup
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.testing.witness import packed
from trimtab.transcripts import Recording, read

ROOT = Path(__file__).resolve().parents[2] / "shared" / "corpus"
FILES = [
    *SESSIONS,
    *sorted(path for kind in ("codex-rollout", "mini-swe-agent", "pi") for path in ROOT.glob(f"{kind}/*")),
]
FEW = FILES[::2]
WINDOW = 30_000
"""Tokens: every stage has something to do."""

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not FILES, reason="the recorded sessions (../shared/corpus) are not here"),
]


class Agent:
    """Drives one session over a recording; the stores outlive it."""

    def __init__(self, path: Path, *, prefix_bound: bool = True) -> None:
        self.recording: Recording = read(path)
        profile = Setup(window=WINDOW).adapt(plain("seven-stage", counter="estimate"), self.recording)
        provider = profile.provider.model_copy(update={"prefix_bound": prefix_bound})
        self.profile = profile.model_copy(update={"provider": provider})
        self.ledger, self.blobs = MemoryLedger("memory:"), MemoryBlobs("memory:")
        self.now = 0.0
        self.session = self.open(self.ledger)

    def open(self, ledger: MemoryLedger, **changes: Any) -> Session:
        """A session as a new process would open it."""
        profile = self.profile.model_copy(update=changes)
        stores = {"ledger": ledger, "blobs": self.blobs}
        return Session.open("s", profile, clock=lambda: self.now, background=None, **stores)

    def bare(self, rows: Sequence[str]) -> Session:
        """A session that decides nothing, on a ledger of its own with these rows."""
        ledger = MemoryLedger("memory:")
        ledger.append("s", 0, rows)
        provider = self.profile.provider.model_copy(update={"window": 50_000_000})
        return self.open(ledger, stages=(), provider=provider)

    def go(self, most: int = 45) -> Iterator[tuple[list[Any], Request]]:
        """The requests of the last branch that fit."""
        branch = self.recording.requests[-1].branch
        requests = [request for request in self.recording.requests if request.branch == branch]
        for request in requests[:most]:
            self.now = request.now
            messages = list(request.messages)
            with suppress(ContextOverflow):
                yield messages, self.session.prepare(messages, self.recording.system, self.recording.tools)

    def bytes(self, session: Session, messages: Sequence[Any], *, thinking: bool = True) -> list[str]:
        """What a session sends for these messages, message by message."""
        request = session.prepare(messages, self.recording.system, self.recording.tools)
        wires = request.messages if thinking else filter(None, map(_unthinking, request.messages))
        return [packed(session.dialect, wire) for wire in wires]


def _unthinking(wire: Any) -> Any:
    """A message without its thinking; None where nothing else is in it."""
    content = wire.get("content")
    if not isinstance(content, list):
        return wire
    said = [part for part in content if not _thinks(part)]
    return {**wire, "content": said} if said else None


def _thinks(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in ("thinking", "redacted_thinking")


@cache
def undo(path: Path, *, bound: bool) -> Sequence[tuple[str, bool, str]]:
    """Each decision that changes what is sent, undone alone: (stage, whether the bytes before it came back, why not).

    A second session has the rows before the decision only; it says what these bytes are.
    """
    agent, outcomes = Agent(path, prefix_bound=bound), []
    messages = [messages for messages, _ in agent.go()][-1]
    rows = agent.ledger.load("s")
    for seq in range(1, len(rows) + 1):
        after = agent.bare(rows[:seq])
        decision = after.ledger.decisions[-1]
        if all(edit.kind in ("note", "pin", "repair", "tag") for edit in decision.edits):
            continue
        before = agent.bytes(agent.bare(rows[: seq - 1]), messages, thinking=not bound)
        after.restore(seq)
        same = agent.bytes(after, messages, thinking=not bound) == before
        again = after.prepare(messages, agent.recording.system, agent.recording.tools)
        outcomes.append((decision.stage, same, "; ".join(again.report.refused.get("restore", ()))))
    return outcomes


@pytest.mark.parametrize("path", FEW, ids=lambda path: path.stem)
def test_every_decision_can_be_undone(path: Path) -> None:
    """With the last row undone the request is, byte for byte, the one that the rows before it give."""
    assert [(stage, why) for stage, same, why in undo(path, bound=False) if not same] == []


@pytest.mark.parametrize("path", FEW, ids=lambda path: path.stem)
def test_bound_thinking_may_make_it_wait(path: Path) -> None:
    """Where thinking is bound to its prefix: equal up to thinking, or it waits for what the open turn thought."""
    left = [why for _, same, why in undo(path, bound=True) if not same]
    assert all(why.startswith("waits: thinking") or why == "would leave an empty message" for why in left)


def test_all_stages_decided_something() -> None:
    """The tests above say something: nearly all stages did (session-memory needs somebody to ask)."""
    stages = {stage for path in FEW for stage, _, _ in undo(path, bound=False)}
    assert len(stages) >= 5, stages


@pytest.mark.parametrize("path", FEW, ids=lambda path: path.stem)
def test_a_new_process_sends_the_same(path: Path) -> None:
    """At every fifth request, with what the store holds alone."""
    agent = Agent(path)
    for n, (messages, request) in enumerate(agent.go()):
        if n % 5 == 0:
            said = [packed(agent.session.dialect, wire) for wire in request.messages]
            assert agent.bytes(agent.bare(agent.ledger.load("s")), messages) == said
