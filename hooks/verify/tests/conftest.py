"""A conversation in either wire format, and a session with this hook and a stage that folds what is old."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from trimtab import Fold, Replace, Session, Stage, StageOptions, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.testing.contract import DIALECTS
from trimtab.testing.wires import WIRES, Answer, Call, Exchange, Result


class Talk:
    """A conversation that grows: what the user says, and rounds of one call each."""

    def __init__(self, dialect: str) -> None:
        self.dialect, self.wire = dialect, WIRES[dialect]
        self.messages: list[Any] = []

    def say(self, text: str) -> Talk:
        self.messages.append(self.wire.said("user", [text]))
        return self

    def call(self, tool: str, given: Mapping[str, Any], result: str = "ok", text: str = "") -> Talk:
        id = f"call_{len(self.messages)}"
        answer = Answer(len(self.messages), text=text, calls=[Call(id, tool, given)])
        self.messages += self.wire.exchange(Exchange(answer, [Result(id, [result])], []))
        return self

    def work(self, count: int = 3) -> Talk:
        for n in range(count):
            self.call("Bash", {"command": f"make step{len(self.messages)}"}, f"step {n} done\n" * 20)
        return self


class FoldOld(Stage):
    """Folds all but the last ``keep`` messages."""

    class Options(StageOptions):
        """What it says."""

        text: str = "Summary: work was done."
        """The summary."""
        keep: int = 4
        """Messages that stay."""

    name: ClassVar[str] = "fold-old"

    def propose(self, view: Any) -> Generator[Any, Any, None]:
        yield Fold(view.messages[: -self.options.keep], self.options.text, "old")


class Shorten(Stage):
    """Replaces results over 200 characters; ``names`` says whether the placeholder leads to the original."""

    class Options(StageOptions):
        """What it says."""

        names: bool = True
        """Whether the original is named."""

    name: ClassVar[str] = "shorten"

    def propose(self, view: Any) -> Generator[Any, Any, None]:
        for result in view.results:
            if len(result.text) > 200 and not result.replaced:
                yield Replace(result, f"[gone: {view.stored(result.block) if self.options.names else '?'}]", "long")


def _waiting(stage: Any) -> dict[str, Any]:
    """A stage that a manual pass opens, and no other in this short time."""
    name, options = (stage, {}) if isinstance(stage, str) else next(iter(stage.items()))
    return {name: {"when": {"over": "block"}, **options}}


class Run:
    """A session; ``run(talk)`` is the next request, ``run.compact(talk)`` one with everything open."""

    def __init__(self, dialect: str, stages: list[Any], folder: Path) -> None:
        self.dialect, self.stages, self.folder = dialect, stages, folder
        self.stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        self.report: Any = None

    def open(self, **hook: Any) -> Run:
        """Open the session, or open it again, with these options of the hook."""
        overrides = {
            "counter": "estimate",
            "provider": {"kind": self.dialect, "prefix_bound": False, "window": 200_000},
            "stages": [_waiting(stage) for stage in self.stages],
            "hooks": [{"verify": hook}],
        }
        profile = load("minimal", overrides=overrides, plugins=[FoldOld, Shorten], env={}, cwd=str(self.folder))
        self.session = Session.open("s", profile, clock=lambda: 1_000.0, **self.stores)
        return self

    def __call__(self, talk: Talk) -> str:
        return self._done(self.session.prepare(list(talk.messages)))

    def compact(self, talk: Talk) -> str:
        return self._done(self.session.compact(list(talk.messages)))

    def _done(self, request: Any) -> str:
        assert [found for found in self.session.dialect.validate(request.messages) if found.certain] == []
        assert request.report.failures == []
        self.report = request.report
        return str(request.messages)

    @property
    def inserts(self) -> list[str]:
        """The texts of all inserts that the view shows, in order."""
        return [item.text for item in self.session.view if item.message is None and item.fold is None]


@pytest.fixture(params=DIALECTS)
def talk(request: pytest.FixtureRequest) -> Talk:
    """In both formats."""
    return Talk(request.param)


@pytest.fixture
def run(talk: Talk, tmp_path: Path) -> Callable[..., Run]:
    """Opens a session for the talk: stages, then the hook's options."""

    def opened(*stages: Any, **hook: Any) -> Run:
        return Run(talk.dialect, list(stages) or ["fold-old"], tmp_path).open(**hook)

    return opened
