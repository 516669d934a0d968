"""Conversations and sessions for these tests: the real kernel, stores in memory or in a given folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from trimtab import Session, load
from trimtab.parts import part
from trimtab.storage.memory import MemoryBlobs, MemoryLedger

ALWAYS = {"when": "always", "warm": "allow"}


class Talk:
    """A conversation that grows: what the user says, and rounds of calls and results."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": "Mend the build."}]

    def says(self, *content: Any) -> None:
        """The user speaks: texts and other blocks."""
        blocks = [{"type": "text", "text": one} if isinstance(one, str) else one for one in content]
        self.messages.append({"role": "user", "content": blocks})

    def round(
        self, *calls: tuple[str, Mapping[str, Any], Any], says: Any = (), error: bool = False
    ) -> list[dict[str, Any]]:
        """One answer (blocks it ``says``, then calls: tool, input, result's content), and the results."""
        ids = [f"call_{len(self.messages)}_{n}" for n in range(len(calls))]
        uses = [
            {"type": "tool_use", "id": id, "name": tool, "input": dict(given)}
            for id, (tool, given, _) in zip(ids, calls, strict=True)
        ]
        results = [
            {"type": "tool_result", "tool_use_id": id, "content": content, **({"is_error": True} if error else {})}
            for id, (_, _, content) in zip(ids, calls, strict=True)
        ]
        spoken = [{"type": "text", "text": one} if isinstance(one, str) else one for one in says]
        self.messages += [{"role": "assistant", "content": [*spoken, *uses]}, {"role": "user", "content": results}]
        return self.messages

    def work(self, count: int) -> list[dict[str, Any]]:
        """So many rounds of a call whose output nobody needs."""
        for _ in range(count):
            at = len(self.messages)
            self.round(("Bash", {"command": f"make step{at}"}, f"step_{at}: " + "nothing to be done here " * 40))
        return self.messages


class Run:
    """A session with only this stage, and a clock; ``run(talk)`` gives the request's messages."""

    def __init__(
        self,
        hooks: tuple[type, ...] = (),
        profile: Mapping[str, Any] | None = None,
        folder: Path | None = None,
        stages: tuple[type, ...] = (),
        ask: Any = None,
        **options: Any,
    ) -> None:
        self.now = 1_000.0
        overrides = {
            "counter": "estimate",
            "provider": {"prefix_bound": False, "window": 200_000},
            "stages": [*({one.name: ALWAYS} for one in stages), {"context-collapse": ALWAYS | options}],
            "hooks": [hook.name for hook in hooks],
            **(profile or {}),
        }
        loaded = load("minimal", overrides=overrides, plugins=(*hooks, *stages), env={}, cwd="/")
        blobs: Any = part("blobs", "file")(f"file://{folder}") if folder else MemoryBlobs("memory:")
        ledger = MemoryLedger("memory:")
        self.again = lambda: Session.open(
            "s", loaded, ask=ask, background=None, clock=lambda: self.now, ledger=ledger, blobs=blobs
        )
        """Opens the session in what stands for another process."""
        self.session = self.again()
        self.request: Any = None

    def __call__(self, talk: Any) -> list[Any]:
        """Prepare the next request; raises `AssertionError` where it is not valid or a plugin failed."""
        self.request = self.session.prepare(list(getattr(talk, "messages", talk)))
        assert [found for found in self.session.dialect.validate(self.request.messages) if found.certain] == []
        assert self.request.report.failures == []
        return list(self.request.messages)

    def answered(self) -> None:
        """The provider answers the last request, which it weighs as we do; background work is done at once."""
        self.session.observe({"usage": {"input_tokens": round(self.request.report.tokens_after), "output_tokens": 9}})

    def fill(self, talk: Any, share: float) -> list[Any]:
        """Work, request by request, until the view weighs that share of the effective window; the last request."""
        messages = self(talk)
        while self.session.view.tokens < share * self.session.window.effective:
            self.answered()
            talk.work(1)
            messages = self(talk)
        return messages

    @property
    def decided(self) -> int:
        """Edits of this stage in the last pass."""
        return sum(one.edits for one in self.request.report.decisions if one.stage == "context-collapse")

    def full(self, note: str) -> str:
        """The full text that a note points to."""
        found = re.search(r"^Full text: (.*)$", note, re.MULTILINE)
        assert found
        key = self.session.ledger.blobs.owns(found[1])
        assert key is not None
        return self.session.ledger.blobs.get(key).decode()


def _notes(messages: list[Any]) -> list[str]:
    blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
    texts = [block.get("text", "") for block in blocks]
    return [text for text in texts if text.startswith("<collapsed")]


@pytest.fixture
def talk() -> Talk:
    """A new conversation."""
    return Talk()


@pytest.fixture(scope="session")
def new_talk() -> Callable[[], Talk]:
    """Starts a conversation."""
    return Talk


@pytest.fixture(scope="session")
def opened() -> Callable[..., Run]:
    """Opens a session: ``opened(hooks=(), profile=None, folder=None, stages=(), **options)``; its `when` is open."""
    return Run


@pytest.fixture(scope="session")
def notes() -> Callable[[list[Any]], list[str]]:
    """The notes in a request's messages, in order."""
    return _notes


class Model:
    """Answers with short summaries, or what it is given (an exception is raised); keeps the questions."""

    def __init__(self, *answer: Any) -> None:
        self.answer = answer
        self.asked: list[Any] = []

    def __call__(self, ask: Any) -> Any:
        self.asked.append(ask)
        answer = self.answer[0] if self.answer else f"## Done\nsummary_{len(self.asked)}\n## Found\n-\n## Open\n-"
        if isinstance(answer, BaseException):
            raise answer
        return answer


@pytest.fixture(scope="session")
def model() -> Callable[..., Model]:
    """Makes a model to ask: ``model()``, or with the one answer that it gives."""
    return Model


@pytest.fixture(scope="session")
def asking() -> Callable[..., Run]:
    """Opens a session whose window of 20,000 tokens folds from 90 % on, with a model to ask."""

    def opening(ask: Any, profile: Mapping[str, Any] | None = None, **more: Any) -> Run:
        provider = {"prefix_bound": False, "window": 20_000}
        given = {"writer": "model", "when": {"over": 0.9}, "warm": "refuse", **more}
        return Run(ask=ask, profile={"provider": provider, **(profile or {})}, **given)

    return opening
