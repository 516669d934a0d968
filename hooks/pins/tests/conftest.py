"""Conversations in both dialects, and sessions on stores in memory that make boundaries when a test lets time pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from trimtab import Pin, Session, Warn, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.testing import material
from trimtab.testing.contract import DIALECTS
from trimtab.testing.wires import WIRES, Answer, Call, Exchange, Result
from trimtab_pins import Pins, PinsOptions

LONG = "The quick brown fox reads line after line of the same old file. " * 12
COLD = 4_000.0


class Talk:
    """A conversation that grows; each method adds to it and gives it back."""

    def __init__(self, dialect: str) -> None:
        self.wire = WIRES[dialect]
        self.messages: list[Any] = []

    def user(self, *parts: Any) -> Talk:
        """The user says something."""
        self.messages.append(self.wire.said("user", parts))
        return self

    def says(self, text: str) -> Talk:
        """An answer without calls."""
        self.messages += self.wire.exchange(Exchange(Answer(len(self.messages), text=text), [], []))
        return self

    def call(self, tool: str, input: Mapping[str, Any], *parts: Any, error: bool = False, **more: Any) -> Talk:
        """A round of one call; ``said`` with its result, and the ``flaw`` of these messages, as of an `Exchange`."""
        id = f"call_{len(self.messages)}"
        answer = Answer(len(self.messages), calls=[Call(id, tool, input)])
        self.messages += self.wire.exchange(Exchange(answer, [Result(id, parts, error)], **{"said": [], **more}))
        return self

    def read(self, path: str, text: str, **more: Any) -> Talk:
        """A whole file is read."""
        return self.call("Read", {"file_path": path}, text, **more)

    def rounds(self, count: int) -> Talk:
        """Rounds that no rule of these tests speaks of."""
        for _ in range(count):
            self.call("Bash", {"command": f"step {len(self.messages)}"}, f"{len(self.messages)}: {LONG}")
        return self


class Run:
    """A session whose profile has only these rules, and a stage that folds all but the newest messages when cold.

    ``stages``: others before that one.
    """

    def __init__(self, dialect: str, rules: Any, *stages: str) -> None:
        self.stages = [*stages, {"summary": {"when": "cold"}}]
        self.dialect, self.rules, self.now = dialect, rules, 1_000_000.0
        self.provider = {
            "kind": dialect,
            "window": 200_000,
            "prefix_bound": False,
            "cache": {"ttl": "5m", "minimum": 0},
        }
        self.stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        self.report: Any = None
        self.session = self.open(rules)

    def open(self, rules: Any) -> Session:
        """The same session as a new process would open it."""
        hooks = [{"pins": rules}] if rules else []
        overrides = {"counter": "estimate", "provider": self.provider, "stages": self.stages, "hooks": hooks}
        loaded = load("minimal", overrides=overrides, plugins=[*material.STAGES, Pins], env={}, cwd="/")
        self.session = Session.open("s", loaded, clock=lambda: self.now, background=None, **self.stores)
        return self.session

    def send(self, talk: Talk, later: float = 5.0) -> list[str]:
        """The texts of all blocks of the next request, which is valid; nothing failed and no pin was refused."""
        self.now += later
        request = self.session.prepare(list(talk.messages))
        self.report = request.report
        dialect = self.session.dialect
        assert [found for found in dialect.validate(request.messages) if found.certain] == []
        assert (request.report.failures, request.report.refused.get("pins")) == ([], None)
        blocks = (b for wire in request.messages for b in dialect.parse(dialect.plain(wire), "")[1])
        return [block.text for block in blocks]

    def cold(self, talk: Talk) -> list[str]:
        """The next request comes when the cache has forgotten everything: a boundary is made."""
        return self.send(talk, COLD)

    def said(self, talk: Talk, rules: Any = None) -> list[Pin | Warn]:
        """What a new hook says of the view after a request."""
        self.send(talk)
        return list(Pins(PinsOptions.model_validate(rules or self.rules)).pre_compact(view=self.session.view))

    def pinned(self, talk: Talk, rules: Any = None) -> list[str]:
        """The texts of its pins."""
        said: Sequence[Any] = self.said(talk, rules)
        return [one.block.text for one in said if isinstance(one, Pin)]


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> str:
    """Each wire format."""
    return str(request.param)


@pytest.fixture
def talk(dialect: str) -> Talk:
    """A new conversation."""
    return Talk(dialect)


@pytest.fixture(scope="session")
def new_talk() -> Callable[[str], Talk]:
    """Starts a conversation in a dialect."""
    return Talk


@pytest.fixture(scope="session")
def run() -> Callable[..., Run]:
    """Opens a session: ``run(dialect, rules)``."""
    return Run
