"""Conversations in both dialects, and sessions on stores in memory that fold all but the newest when cold."""

from __future__ import annotations

from typing import Any

import pytest
from trimtab import Session, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.testing import material
from trimtab.testing.contract import DIALECTS
from trimtab.testing.wires import WIRES, Answer, Call, Exchange, Result
from trimtab_constraints import Constraints

LONG = "The quick brown fox reads line after line of the same old file. " * 12
COLD = 4_000.0


class Chat:
    """A conversation, the session that prepares it, and a clock."""

    def __init__(self, dialect: str, options: dict[str, Any]) -> None:
        self.wire, self.now = WIRES[dialect], 1_000_000.0
        self.messages: list[Any] = []
        cache = {"ttl": "5m", "minimum": 0}
        overrides = {
            "counter": "estimate",
            "provider": {"kind": dialect, "window": 200_000, "prefix_bound": False, "cache": cache},
            "stages": [{"summary": {"when": "cold"}}],
            "hooks": [{"constraints": options}],
        }
        profile = load("minimal", overrides=overrides, plugins=[*material.STAGES, Constraints], env={}, cwd="/")
        stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        self.session = Session.open("s", profile, clock=lambda: self.now, background=None, **stores)
        self.report: Any = None

    def user(self, *parts: str) -> Chat:
        """The user says something, and is answered."""
        self.messages.append(self.wire.said("user", parts))
        self.messages += self.wire.exchange(Exchange(Answer(len(self.messages), text="Noted."), [], []))
        return self

    def work(self, count: int, result: str = LONG, text: str = "Reading.") -> Chat:
        """Rounds of one call each."""
        for _ in range(count):
            id = f"call_{len(self.messages)}"
            answer = Answer(len(self.messages), text=text, calls=[Call(id, "Read", {"file_path": "/a"})])
            self.messages += self.wire.exchange(Exchange(answer, [Result(id, [result])], []))
        return self

    def fold(self) -> str:
        """Much later something new is said: a boundary is made. What is sent then, as one text."""
        self.session.prepare(list(self.messages))
        self.now += COLD
        self.messages.append(self.wire.said("user", ["Go on."]))
        request = self.session.prepare(list(self.messages))
        self.report = request.report
        dialect = self.session.dialect
        assert [found for found in dialect.validate(request.messages) if found.certain] == []
        assert (request.report.failures, request.report.refused.get("constraints")) == ([], None)
        blocks = [b for wire in request.messages for b in dialect.parse(dialect.plain(wire), "")[1]]
        return "\n".join(block.text for block in blocks)


@pytest.fixture(params=DIALECTS)
def chat(request: pytest.FixtureRequest) -> Chat:
    """A new conversation in each dialect."""
    return Chat(request.param, {})


@pytest.fixture(params=DIALECTS)
def small(request: pytest.FixtureRequest) -> Chat:
    """One where 30 tokens of rules may stay."""
    return Chat(request.param, {"budget": 30})
