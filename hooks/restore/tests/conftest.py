"""A conversation in either wire format, and a session with this hook and a stage that folds what is old."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from trimtab import Fold, Hook, Pin, Replace, Session, Stage, hookimpl, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.testing.contract import DIALECTS
from trimtab.testing.wires import WIRES, Answer, Call, Exchange, Result


class Talk:
    """A conversation that grows: what the user says, and rounds of one call each."""

    def __init__(self, dialect: str) -> None:
        self.dialect, self.wire = dialect, WIRES[dialect]
        self.messages: list[Any] = [self.wire.said("user", ["Mend the parser."])]

    def say(self, *texts: str) -> Talk:
        self.messages.append(self.wire.said("user", list(texts)))
        return self

    def call(self, tool: str, given: Mapping[str, Any], result: str = "ok", error: bool = False) -> Talk:
        id = f"call_{len(self.messages)}"
        answer = Answer(len(self.messages), calls=[Call(id, tool, given)])
        self.messages += self.wire.exchange(Exchange(answer, [Result(id, [result], error)], []))
        return self

    def read(self, path: str, text: str, **given: Any) -> Talk:
        return self.call("Read", {"file_path": path, **given}, text)

    def work(self, count: int = 3) -> Talk:
        for _ in range(count):
            self.call("Bash", {"command": "make all"}, "the next step is done\n" * 20)
        return self


class FoldOld(Stage):
    """Folds all but the last two rounds."""

    name: ClassVar[str] = "fold-old"

    def propose(self, view: Any) -> Generator[Any, Any, None]:
        items, rounds = view.messages, view.rounds
        keys = [item.key for item in items]
        yield Fold(items[: keys.index(rounds[-2].messages[0].key)], "Summary: work was done.", "old")


class Shorten(Stage):
    """Replaces long results of reads."""

    name: ClassVar[str] = "shorten"

    def propose(self, view: Any) -> Generator[Any, Any, None]:
        for result in view.results:
            if result.tool == "Read" and len(result.text) > 200 and not result.replaced:
                yield Replace(result, "[gone]", "long")


class PinReads(Hook):
    """Pins what was read."""

    name: ClassVar[str] = "pin-reads"

    @hookimpl
    def pre_compact(self, view: Any) -> Iterator[Pin]:
        yield from (Pin(result.block, "read") for result in view.results if result.tool == "Read")


class Run:
    """A session; ``run(talk)`` is a request behind a new boundary."""

    def __init__(self, dialect: str, folder: Path, window: int, stages: tuple[str, ...], hooks: Any) -> None:
        when = {"when": {"over": "block"}, "target": 0.5}
        self.folder, self.hooks = folder, hooks
        self.overrides: dict[str, Any] = {
            "counter": "estimate",
            "provider": {"kind": dialect, "prefix_bound": False, "window": window},
            "stages": [{name: when} for name in ("fold-old", *stages)],
        }
        self.stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        self.report: Any = None

    def open(self, **hook: Any) -> Run:
        """Open the session, or open it again, with these options of the hook."""
        overrides = {**self.overrides, "hooks": [*self.hooks, {"restore": hook}]}
        plugins = [FoldOld, PinReads, Shorten]
        profile = load("minimal", overrides=overrides, plugins=plugins, env={}, cwd=str(self.folder))
        self.session = Session.open("s", profile, clock=lambda: 1_000.0, **self.stores)
        return self

    def __call__(self, talk: Talk) -> list[str]:
        """The texts of all inserts, in order; raises `AssertionError` where the request is not valid."""
        request = self.session.compact(list(talk.messages))
        assert [found for found in self.session.dialect.validate(request.messages) if found.certain] == []
        assert request.report.failures == []
        assert self.session.view.summary
        self.report = request.report
        return [item.text for item in self.session.view if item.message is None and item.fold is None]


@pytest.fixture(params=DIALECTS)
def talk(request: pytest.FixtureRequest) -> Talk:
    """In both formats."""
    return Talk(request.param)


@pytest.fixture
def run(talk: Talk, tmp_path: Path) -> Callable[..., Run]:
    """Opens a session for the talk, with the hook's options; relative paths are seen from ``tmp_path``."""

    def opened(window: int = 200_000, stages: tuple[str, ...] = (), hooks: Any = (), **hook: Any) -> Run:
        return Run(talk.dialect, tmp_path, window, stages, hooks).open(**hook)

    return opened
