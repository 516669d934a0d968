"""Sessions and messages for these tests: the real kernel, stores in memory or in a given folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from trimtab import Session, load
from trimtab.parts import part


class Talk:
    """A conversation that grows: calls of tools and their results, one round at a time."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": "Mend the build."}]

    def round(self, *calls: tuple[str, Mapping[str, Any], Any], **more: Any) -> list[dict[str, Any]]:
        """One answer with these calls (tool, input, result's content), and the message with their results."""
        ids = [f"call_{len(self.messages)}_{n}" for n in range(len(calls))]
        uses = [
            {"type": "tool_use", "id": id, "name": tool, "input": dict(given)}
            for id, (tool, given, _) in zip(ids, calls, strict=True)
        ]
        results = [
            {"type": "tool_result", "tool_use_id": id, "content": content, **more}
            for id, (_, _, content) in zip(ids, calls, strict=True)
        ]
        self.messages += [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]
        return self.messages


def _open(folder: Path | None = None, id: str = "s", **options: Any) -> Session:
    overrides = {"counter": "estimate", "stages": [{"tool-result-budget": options}]}
    profile = load("minimal", overrides=overrides, env={}, cwd="/")
    ledger, blobs = (f"sqlite:///{folder}/l.db", f"file://{folder}/b") if folder else ("memory:", "memory:")
    return Session.open(
        id,
        profile,
        clock=lambda: 1_000.0,
        ledger=part("ledger", ledger.partition(":")[0])(ledger),
        blobs=part("blobs", blobs.partition(":")[0])(blobs),
    )


def _shown(messages: list[Any], at: int = -1) -> list[Any]:
    return [block["content"] for block in messages[at]["content"]]


@pytest.fixture(scope="session")
def new_talk() -> Callable[[], Talk]:
    """Starts a conversation."""
    return Talk


@pytest.fixture
def talk() -> Talk:
    """A new conversation."""
    return Talk()


@pytest.fixture(scope="session")
def opened() -> Callable[..., Session]:
    """Opens a session with only this stage: ``opened(folder=None, id="s", **options)``."""
    return _open


@pytest.fixture(scope="session")
def shown() -> Callable[..., list[Any]]:
    """The contents of the results in one message of a request, the last unless told."""
    return _shown
