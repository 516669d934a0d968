"""Sessions in a folder of files: the real kernel, stores in memory, a stage that makes boundaries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trimtab import Session, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.testing.material import Summary, rounds
from trimtab.testing.wires import WIRES


class Run:
    """Sessions with only this hook; ``run(n)`` gives what the request says of the files, after ``n`` rounds."""

    def __init__(self, folder: Path, dialect: str = "anthropic", stage: Any = Summary, **options: Any) -> None:
        self.dialect = dialect
        overrides = {
            "counter": "estimate",
            "provider": {"kind": dialect, "prefix_bound": False, "window": 200_000},
            "stages": [{stage.name: {"when": {"over": 0.9} if stage is Summary else "always", "warm": "allow"}}],
            "hooks": [{"project-memory": options}],
        }
        self.profile = load("minimal", overrides=overrides, plugins=[stage], env={}, cwd=folder)
        self.stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        self.open()

    def open(self) -> Run:
        """As a new process opens it."""
        self.session = Session.open("s", self.profile, clock=lambda: 1_000.0, **self.stores)
        return self

    def __call__(self, count: int, *, compact: bool = False, waits: bool = False) -> list[str]:
        """The texts of this hook in the request, in its order; ``waits``: the newest call has no result yet."""
        messages = rounds(self.dialect, count)
        messages = messages[:-1] if waits else messages
        prepare = self.session.compact if compact else self.session.prepare
        self.request = prepare(messages, system="Be good." if WIRES[self.dialect].system else None)
        assert self.request.report.failures == []
        assert waits or not any(found.certain for found in self.session.dialect.validate(self.request.messages))
        system = self.request.system or []
        texts = [system] if isinstance(system, str) else [block["text"] for block in system]
        for message in self.request.messages:
            said = message.get("content")
            texts += [said] if isinstance(said, str) else [block.get("text", "") for block in said or ()]
        return [part for text in texts for part in _parts(text)]

    @property
    def warnings(self) -> list[str]:
        """What the report warns of."""
        return list(self.request.report.warnings)


def _parts(text: str) -> list[str]:
    """The texts of files in a text of the request; a format may put several into one."""
    start = "The project's memory file "
    assert text.count(start) == text.count("<project-memory>\n") == text.count("\n</project-memory>")
    return [f"{start}{part}".strip() for part in text.split(start)[1:]]


@pytest.fixture(params=list(WIRES))
def dialect(request: pytest.FixtureRequest) -> str:
    """Each wire format."""
    return str(request.param)


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Run]:
    """Opens a session in the folder: ``opened(dialect, **options)``."""
    return lambda *given, **options: Run(tmp_path, *given, **options)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Writes a file below the folder."""

    def written(name: str, text: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return written
