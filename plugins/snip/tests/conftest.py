"""Conversations and sessions for these tests: the real kernel, stores in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from trimtab import Session, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger

ALWAYS = {"when": "always", "warm": "allow"}


class Talk:
    """A conversation that grows: calls of tools and their results, one round at a time."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": "Mend the build."}]

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
        self.messages += [{"role": "assistant", "content": [*says, *uses]}, {"role": "user", "content": results}]
        return self.messages


class Run:
    """A session with only this stage, and a clock; ``run(talk)`` gives the request's messages."""

    def __init__(
        self,
        hooks: tuple[type, ...] = (),
        profile: Mapping[str, Any] | None = None,
        stage_tools: bool = False,
        **options: Any,
    ) -> None:
        self.now = 1_000.0
        overrides = {
            "counter": "estimate",
            "provider": {"prefix_bound": False, "window": 200_000},
            "stages": [{"snip": ALWAYS | options}],
            "hooks": [hook.name for hook in hooks],
            **(profile or {}),
        }
        loaded = load("minimal", overrides=overrides, plugins=hooks, env={}, cwd="/")
        self.loaded, self.stage_tools = loaded, stage_tools
        self.stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        self.session = self.again()
        self.request: Any = None

    def again(self) -> Session:
        """A session on the same stores, as a new process would open it."""
        return Session.open("s", self.loaded, clock=lambda: self.now, stage_tools=self.stage_tools, **self.stores)

    def __call__(self, talk: Talk) -> list[Any]:
        """Prepare the next request; raises `AssertionError` where it is not valid or a plugin failed."""
        self.request = self.session.prepare(list(talk.messages))
        assert [found for found in self.session.dialect.validate(self.request.messages) if found.certain] == []
        assert self.request.report.failures == []
        return list(self.request.messages)

    def tags(self, *kinds: str) -> list[str]:
        """The tags of the request's messages, in order: of the user's words (``user``), or of ``results``."""
        items = [item for item in self.session.view if item.message is not None and item.message.kind in kinds]
        return [self.session.view.tag(item) for item in items]

    def snip(self, *tags: str, **more: Any) -> tuple[str, bool]:
        """The model calls the tool: the text of its result, and whether that is marked as an error."""
        block = {"type": "tool_use", "id": "toolu_snip", "name": "snip", "input": {"ids": list(tags), **more}}
        result = self.session.call_tool(block)
        assert result["tool_use_id"] == "toolu_snip"
        return result["content"], result.get("is_error", False)


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
    """Opens a session: ``opened(hooks=(), profile=None, **options)``; unless told, its `when` is always open."""
    return Run


@pytest.fixture(scope="session")
def modelled() -> Callable[..., Run]:
    """Opens a session in which the model snips, as `opened` does."""
    return partial(Run, stage_tools=True, mode="model")
