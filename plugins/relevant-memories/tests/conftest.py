"""Folders of memories, conversations in every format, and sessions whose background work is done at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trimtab import Session, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.testing.material import Summary
from trimtab.testing.wires import WIRES, Answer, Call, Exchange, Result

HEAD = "[From a memory file, not from the user."
NOW = 2_000_000_000.0


class Talk:
    """A conversation that grows."""

    def __init__(self, dialect: str = "anthropic") -> None:
        self.dialect = dialect
        self.wire: Any = WIRES[dialect]
        self.messages: list[Any] = [] if self.wire.system else [self.wire.said("system", ["Be good."])]

    def says(self, text: str) -> Talk:
        """The user speaks, behind an answer without calls unless it is the first time."""
        if any(message["role"] == "user" for message in self.messages):
            self.messages += self.wire.exchange(Exchange(Answer(0, text="Done."), [], [("user", [text])]))
        else:
            self.messages.append(self.wire.said("user", [text]))
        return self

    def works(self, count: int = 1, tokens: int = 10) -> Talk:
        """So many rounds of one call."""
        for _ in range(count):
            id = f"call_{len(self.messages)}"
            answer = Answer(0, text="I run it.", calls=[Call(id, "Bash", {"command": "make"})])
            self.messages += self.wire.exchange(Exchange(answer, [Result(id, ["nothing to do " * tokens])], []))
        return self


class Run:
    """A session with this stage and a clock; ``run(talk)`` gives the memories in the request, then observes."""

    def __init__(self, cwd: Path, /, ask: Any = None, dialect: str = "anthropic", **options: Any) -> None:
        self.ask, self.now = ask, NOW
        mine = [{"relevant-memories": options}] if options.pop("listed", True) else []
        window = options.pop("window", 200_000)
        overrides = {
            "counter": "estimate",
            "provider": {"kind": dialect, "prefix_bound": False, "window": window},
            "stages": [{"summary": {"when": {"over": 0.99}}}, *mine],
            "hooks": [],
        }
        self.profile = load("minimal", overrides=overrides, plugins=[Summary], env={}, cwd=cwd)
        self.stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        self.open()

    def open(self) -> Run:
        """As a new process opens it."""
        self.session = Session.open(
            "s", self.profile, ask=self.ask, clock=lambda: self.now, background=None, **self.stores
        )
        return self

    def __call__(self, talk: Talk, *, compact: bool = False) -> list[str]:
        """Prepare the next request; raises `AssertionError` where a plugin failed or the request is not valid."""
        self.now += 5
        prepare = self.session.compact if compact else self.session.prepare
        self.request = prepare(list(talk.messages), system=talk.wire.system)
        assert self.request.report.failures == []
        assert not any(found.certain for found in self.session.dialect.validate(self.request.messages))
        self.messages = list(self.request.messages)
        self.session.observe({"usage": talk.wire.usage(0, 0, self.request.report.tokens_after)})
        return [text for message in self.messages for text in texts(message) if text.startswith(HEAD)]


def texts(message: Any) -> list[str]:
    """The texts of a message."""
    said = message.get("content")
    return [said] if isinstance(said, str) else [part.get("text", "") for part in said or ()]


@pytest.fixture(params=list(WIRES))
def dialect(request: pytest.FixtureRequest) -> str:
    """Each wire format."""
    return str(request.param)


@pytest.fixture
def talk() -> Callable[..., Talk]:
    """Starts a conversation."""
    return Talk


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Run]:
    """Opens a session whose memories lie in ``memories``: ``opened(ask, dialect, **options)``."""
    return lambda *given, **options: Run(tmp_path, *given, **options)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a memory: ``write(file, text, name=…, description=…, days=…)``, so many days before the session."""

    def written(file: str, text: str | bytes, days: float = 0, **header: str) -> Path:
        path = tmp_path / "memories" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        head = "".join(f"{key}: {value}\n" for key, value in header.items())
        said = f"---\n{head}---\n{text}" if header and isinstance(text, str) else text
        path.write_bytes(said.encode() if isinstance(said, str) else said)
        os.utime(path, (NOW - 86_400 * days, NOW - 86_400 * days))
        return path

    return written


@pytest.fixture
def deploy(write: Any) -> Path:
    """A memory of deploying, beside one of the database and one of tests."""
    write("db.md", "By hand, in SQL.", name="migrations", description="How the database schema is changed")
    write("style.md", "No mocks.", name="test style", description="How unit tests are written here")
    path: Path = write("deploy.md", "Run make ship.", name="deploy", description="How a release gets to staging")
    return path
