"""Sessions for these tests, and a provider at the door: it counts, refuses, and accepts."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from trimtab import Session, load
from trimtab.conversation import OVERHEAD
from trimtab.parts import part
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.summary import ROOM
from trimtab.testing import material
from trimtab.testing.talk import Talk
from trimtab.testing.wires import WIRES, Answer, Call, Exchange, Result
from trimtab_reactive_compact.chain import FRAME


class BadRequestError(Exception):
    """What a client raises: a status code, and the provider's text."""

    def __init__(self, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.status_code = status


TEXTS = {
    "anthropic": "prompt is too long: {tokens} tokens > {limit} maximum",
    "openai": "This model's maximum context length is {limit} tokens. However, your messages resulted in {tokens} "
    "tokens.",
    "responses": "Input tokens exceed the configured limit of {limit} tokens. Your messages resulted in {tokens} "
    "tokens.",
}


class Run:
    """A session with this stage, and what it is asked."""

    def __init__(
        self,
        dialect: str = "anthropic",
        *,
        window: int = 20_000,
        ask: Any = None,
        hooks: tuple[type, ...] = (),
        stages: tuple[type, ...] = (),
        before: tuple[Any, ...] = (),
        folder: Any = None,
        **options: Any,
    ) -> None:
        self.dialect, self.window, self.asked = dialect, window, list[Any]()
        self.overrides = {
            "counter": "estimate",
            "strict": True,
            "provider": {"kind": dialect, "prefix_bound": False, "window": window},
            "stages": [*before, {"reactive-compact": options}],
            "hooks": [hook.name for hook in hooks],
        }
        self.plugins = (*hooks, *stages)
        self.answers = ask
        blobs = part("blobs", "file")(f"file://{folder}") if folder else MemoryBlobs("memory:")
        self.stores = {"ledger": MemoryLedger("memory:"), "blobs": blobs}
        self.session = self.open()
        self.request: Any = None

    def open(self) -> Session:
        """A session on these stores, as a new process would open it."""
        loaded = load("minimal", overrides=self.overrides, plugins=self.plugins, env={}, cwd="/")
        ask = None if self.answers is None else self._ask
        self.session = Session.open("s", loaded, ask=ask, clock=lambda: 1_000.0, **self.stores)
        return self.session

    def _ask(self, ask: Any) -> Any:
        self.asked.append(ask)
        return self.answers(ask)

    def prepare(self, messages: list[Any]) -> list[Any]:
        """The next request's messages."""
        return self._checked(self.session.prepare(messages))

    def refused(self, tokens: int, limit: int) -> list[Any]:
        """The messages after the provider refused the last request, with these figures."""
        return self.recover(BadRequestError(TEXTS[self.dialect].format(tokens=tokens, limit=limit)))

    def recover(self, error: Any) -> list[Any]:
        """The messages after an error."""
        return self._checked(self.session.recover(error))

    def observe(self, tokens: int) -> None:
        """The last request was accepted, and weighed so many tokens."""
        assert self.session.observe({"usage": WIRES[self.dialect].usage(0, 0, tokens)}) is False

    def _checked(self, request: Any) -> list[Any]:
        self.request = request
        assert [found for found in self.session.dialect.validate(request.messages) if found.certain] == []
        assert request.report.failures == []
        return list(request.messages)

    def count(self, messages: list[Any], system: Any = None) -> int:
        """Tokens as this session's counter has them, uncalibrated."""
        dialect, count = self.session.dialect, self.session.counter
        parsed = [dialect.parse(dialect.plain(message), "m")[1] for message in messages]
        return dialect.head(system, None, count) + sum(
            OVERHEAD + sum(dialect.size(block, count) for block in blocks) for blocks in parsed
        )

    @property
    def room(self) -> float:
        """Tokens that the stage reckons with for a summary and its frame."""
        return ROOM * min(1.0, self.session.window.window / 200_000) + FRAME

    @property
    def steps(self) -> list[str]:
        """What the stage did so far for the request at hand."""
        note = self.session.view.notes("reactive-compact") or {"request": None, "steps": []}
        return list(note["steps"]) if note["request"] == self.session.view.answers else []


class Provider:
    """Refuses what is above its window, by the session's own counter; accepts the rest if it is valid."""

    def __init__(self, run: Run, window: int, says: bool = True) -> None:
        self.run, self.window, self.says = run, window, says
        self.refusals = 0

    def send(self, request: Any) -> int:
        """The tokens of an accepted request; raises `BadRequestError`."""
        bad = [found for found in self.run.session.dialect.validate(request.messages) if found.certain]
        if bad:
            raise BadRequestError(f"messages: {bad[0].what}")
        tokens = self.run.count(request.messages, request.system)
        if tokens > self.window:
            self.refusals += 1
            text = TEXTS[self.run.dialect] if self.says else "prompt is too long"
            raise BadRequestError(text.format(tokens=tokens, limit=self.window))
        return tokens


def _rounds(dialect: str, sizes: list[int], *, first: str = "Mend the parser.") -> list[Any]:
    """A question, and a round for each size in characters: ``line_7_3`` stands in the fourth line of the eighth."""
    wire = WIRES[dialect]
    messages = [wire.said("user", [first])]
    for n, size in enumerate(sizes):
        text = "".join(f"line_{n}_{line} of the output\n" for line in range(max(1, size // 25)))
        answer = Answer(n, text=f"Step {n}.", calls=[Call(f"call_{n}", "Bash", {"command": f"make step{n}"})])
        messages += wire.exchange(Exchange(answer, [Result(f"call_{n}", [text])], []))
    return messages


@pytest.fixture(scope="session")
def opened() -> Callable[..., Run]:
    """Opens a session: ``opened(dialect, window=…, ask=…, hooks=(), **options)``."""
    return Run


@pytest.fixture(scope="session")
def provider() -> Callable[..., Provider]:
    """Opens the door: ``provider(run, window, says=True)``."""
    return Provider


@pytest.fixture(scope="session")
def rounds() -> Callable[..., list[Any]]:
    """Makes a conversation: ``rounds(dialect, sizes, first=…)``."""
    return _rounds


@pytest.fixture(scope="session")
def talk() -> Callable[..., Talk]:
    """A conversation drawn from a seed: ``talk(seed, dialect)``."""
    return lambda seed, dialect: Talk(random.Random(seed), "main", 0.0, dialect)


@pytest.fixture(scope="session")
def error() -> type[BadRequestError]:
    """What a client raises: ``error(text, status=400)``."""
    return BadRequestError


@pytest.fixture(scope="session")
def summary() -> Any:
    """A model that writes a short summary with all sections that are asked for."""
    return material.Asker()
