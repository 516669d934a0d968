"""Conversations in every dialect, sessions whose background work is done at once, and models that write memories."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from trimtab import Ask, Session, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.testing.wires import WIRES, Answer, Call, Exchange, Result

OVER = {"when": {"over": 0.25}}
MARK = re.compile(r"step_(\d+)")


class Talk:
    """A conversation that grows; each message says its own ``step_N``."""

    def __init__(self, dialect: str = "anthropic") -> None:
        self.dialect = dialect
        self.wire: Any = WIRES[dialect]
        self.messages: list[Any] = [] if self.wire.system else [self.wire.said("system", ["Be good."])]
        self.count = 0
        self.says("Mend the build.")

    def mark(self) -> str:
        """The next mark."""
        self.count += 1
        return f"step_{self.count}"

    def says(self, text: str) -> None:
        """The user speaks."""
        self.messages.append(self.wire.said("user", [f"{self.mark()}: {text}"]))

    def answer(self, text: str = "All done.") -> None:
        """An answer without calls, and what the user says to it."""
        exchange = Exchange(
            Answer(self.count, text=f"{self.mark()}: {text}"), [], [("user", [f"{self.mark()}: Go on."])]
        )
        self.messages += self.wire.exchange(exchange)

    def work(self, count: int = 1, tokens: int = 500, calls: int = 1) -> Talk:
        """So many rounds of ``calls`` calls, each with a result of about ``tokens`` tokens."""
        for _ in range(count):
            made = [Call(f"call_{self.count}_{n}", "Bash", {"command": f"make {self.mark()}"}) for n in range(calls)]
            answer = Answer(self.count, text=f"{self.mark()}: I run it.", calls=made)
            results = [Result(call.id, [f"{self.mark()}: " + "nothing to do " * (tokens // 3)]) for call in made]
            self.messages += self.wire.exchange(Exchange(answer, results, []))
        return self


class Writer:
    """A model that remembers every mark it is told of, in the worklog; keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        """What it answers first: texts, or exceptions that it raises."""
        self.asked: list[Ask] = []

    def __call__(self, ask: Ask) -> str:
        """The current state anew, and all marks so far, as ranges."""
        self.asked.append(ask)
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, BaseException):
                raise answer
            return str(answer)
        told = ask.prompt + (json.dumps(ask.request.messages) if ask.shared else "")
        marks = {int(mark) for mark in MARK.findall(told)} | known(told)
        return f"# Current state\nworking, {len(self.asked)}\n\n# Worklog\nsteps {ranges(sorted(marks))}\n"


def ranges(numbers: list[int]) -> str:
    """``1-3, 5-5``."""
    starts = [n for n in numbers if n - 1 not in numbers]
    ends = [n for n in numbers if n + 1 not in numbers]
    return ", ".join(f"{start}-{end}" for start, end in zip(starts, ends, strict=True))


def known(text: str) -> set[int]:
    """The marks that memories in a text remember."""
    lists = re.findall(r"^steps (.*)$", text.replace("\\n", "\n"), re.MULTILINE)
    pairs = [pair for said in lists for pair in re.findall(r"(\d+)-(\d+)", said)]
    return {n for start, end in pairs for n in range(int(start), int(end) + 1)}


class Run:
    """A session with only this stage and a clock; ``run(talk)`` gives the request's messages, then observes."""

    def __init__(
        self,
        ask: Any = None,
        dialect: str = "anthropic",
        profile: Mapping[str, Any] | None = None,
        plugins: tuple[Any, ...] = (),
        **options: Any,
    ) -> None:
        self.ask = ask
        self.dialect = dialect
        self.now = 1_000.0
        self.stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        self.overrides = {
            "counter": "estimate",
            "provider": {"kind": dialect, "prefix_bound": False, "window": 100_000, "factor": 1.0},
            "stages": [{"session-memory": OVER | options}],
            "hooks": [],
            "ask": {"model": "claude-haiku-4-5"},
            **(profile or {}),
        }
        self.plugins = plugins
        self.background: Any = None
        self.session = self.open()
        self.request: Any = None

    def open(self) -> Session:
        """The session as a new process opens it."""
        loaded = load("minimal", overrides=self.overrides, plugins=self.plugins, env={}, cwd="/")
        self.session = Session.open(
            "s", loaded, ask=self.ask, clock=lambda: self.now, background=self.background, **self.stores
        )
        return self.session

    def __call__(self, talk: Talk, *, observe: bool = True) -> list[Any]:
        """Prepare the next request; raises `AssertionError` where it is not valid or a plugin failed."""
        self.now += 5
        self.request = self.session.prepare(list(talk.messages), system=talk.wire.system)
        self.check()
        if observe:
            self.session.observe({"usage": talk.wire.usage(0, 0, self.request.report.tokens_after)})
        return list(self.request.messages)

    def check(self) -> None:
        """The request is valid, nothing failed."""
        assert [found for found in self.session.dialect.validate(self.request.messages) if found.certain] == []
        assert self.request.report.failures == []

    @property
    def memory(self) -> str | None:
        """The text of the memory on the path of the last request."""
        data = self.session.notes().get("session-memory")
        return data["text"] if data else None

    @property
    def known(self) -> set[int]:
        """The marks that it remembers."""
        return known(self.memory or "")

    def full(self) -> str:
        """The full texts of all folds of this stage, as stored."""
        blobs = self.session.ledger.blobs
        ways = [edit["way_back"] for edit in self.session.explain() if edit["kind"] == "fold"]
        return "\n".join(blobs.get(str(blobs.owns(path))).decode() for way in ways for path in way)


@pytest.fixture(params=list(WIRES))
def dialect(request: pytest.FixtureRequest) -> str:
    """Each wire format."""
    return str(request.param)


@pytest.fixture(scope="session")
def talked() -> Callable[..., Talk]:
    """Starts a conversation, in Anthropic's format where none is said."""
    return Talk


@pytest.fixture(scope="session")
def opened() -> Callable[..., Run]:
    """Opens a session: ``opened(ask, dialect, profile, plugins, **options)``."""
    return Run


@pytest.fixture(scope="session")
def writer() -> Callable[..., Writer]:
    """Makes a model that writes memories, after the answers given."""
    return Writer


@pytest.fixture(scope="session")
def remembered() -> Callable[[str], set[int]]:
    """The marks that memories in a text remember."""
    return known
