"""Scripts that tests write, and sessions whose hook starts them: the real kernel, stores in memory, real processes."""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from trimtab import Fold, Request, Session, Stage, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.testing import material

PYTHON = f"#!{sys.executable} -IS"


class Fake(Stage):
    """Folds all but the last two rounds into a line, where a manual pass asks for it."""

    name: ClassVar[str] = "fake"
    guides: ClassVar[tuple[str, ...]] = ()
    """What hooks advised in the last pass."""

    def propose(self, view: Any) -> Iterator[Any]:
        type(self).guides = tuple(view.guides)
        kept = view.messages.index(view.rounds[-2].messages[0])
        yield Fold(view.messages[:kept], "A summary of what was done.", "old")

    def recover(self, view: Any, overflow: Any) -> Iterator[Any]:
        yield from self.propose(view)


class Run:
    """A session with only these hooks; `compact` folds, `prepare` does not."""

    def __init__(self, folder: Path, dialect: str = "anthropic", **options: Any) -> None:
        self.dialect = dialect
        self.profile = load(
            "minimal",
            overrides={
                "counter": "estimate",
                "provider": {"kind": dialect, "prefix_bound": False, "window": 200_000},
                "stages": [{"fake": {"when": {"over": 0.9}}}],
                "hooks": [{"command-hooks": options}],
            },
            plugins=[Fake],
            env={},
            cwd=folder,
        )
        self.stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        self.messages = material.rounds(dialect, 8)
        self.session = self.open()

    def open(self) -> Session:
        """A session on the same stores, as a new process would open it."""
        return Session.open("session-7", self.profile, clock=lambda: 1_000.0, **self.stores)

    def prepare(self) -> Request:
        """A request that shortens nothing."""
        return self._fine(self.session.prepare(self.messages))

    def compact(self, **more: Any) -> Request:
        """A request in which all but the last two rounds are folded, if no hook minds."""
        return self._fine(self.session.compact(self.messages, **more))

    def _fine(self, request: Request) -> Request:
        assert request.report.failures == []
        assert [found for found in self.session.dialect.validate(request.messages) if found.certain] == []
        return request

    def guides(self) -> tuple[str, ...]:
        """What hooks advised whoever summarised in the last pass."""
        return Fake.guides


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """Opens a session in the test's folder: ``run(pre_compact=[…])``."""
    monkeypatch.chdir(tmp_path)
    return lambda **options: Run(tmp_path, **options)


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    """Writes an executable and gives its path as seen from the test's folder; Python unless told."""

    def write(body: str, name: str = "hook.py", first: str = PYTHON) -> str:
        path = tmp_path / name
        path.write_text(f"{first}\n{body}\n" if first else f"{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return f"./{name}"

    return write


@pytest.fixture
def bash(script: Callable[..., str]) -> Callable[..., str]:
    """Writes a script in bash."""
    return lambda body, name="hook.sh": script(body, name, "#!/bin/bash")
