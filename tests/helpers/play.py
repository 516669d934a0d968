"""Small conversations in Anthropic format, and sessions on stores in memory with a clock that a test moves."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from trimtab import Request, Session, load
from trimtab.dialects.anthropic import validate
from trimtab.storage.memory import MemoryBlobs, MemoryLedger

LONG = "The quick brown fox reads line after line of the same old file. " * 40
"""About 2,600 characters, 600 tokens by any counter."""


def user(*parts: Any) -> dict[str, Any]:
    """A user message of texts and blocks."""
    return {"role": "user", "content": [text(part) if isinstance(part, str) else part for part in parts]}


def says(*parts: Any) -> dict[str, Any]:
    """An assistant message of texts and blocks."""
    return {**user(*parts), "role": "assistant"}


def text(words: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": words}


def thinks(words: str) -> dict[str, Any]:
    """A signed thinking block."""
    return {"type": "thinking", "thinking": words, "signature": f"signed {words}"}


def call(id: str, name: str = "Read", **arguments: Any) -> dict[str, Any]:
    """A tool call."""
    return {"type": "tool_use", "id": id, "name": name, "input": arguments or {"file_path": f"/src/{id}.py"}}


def result(id: str, content: Any = None, **more: Any) -> dict[str, Any]:
    """A tool result; without content a long one of its own."""
    return {
        "type": "tool_result",
        "tool_use_id": id,
        "content": f"{id}: {LONG}" if content is None else content,
        **more,
    }


def rounds(count: int, first: int = 0) -> list[dict[str, Any]]:
    """``count`` rounds of one call and its long result each."""
    spans = range(first, first + count)
    return [message for n in spans for message in (says(call(f"c{n}")), user(result(f"c{n}")))]


def talk(count: int) -> list[dict[str, Any]]:
    """A question and ``count`` rounds; what the agent would send next."""
    return [user("Mend the parser, please."), *rounds(count)]


def marked(messages: Sequence[Any], at: int = -1) -> list[Any]:
    """The same history as a client sends it: a cache marker on the last block of one message."""
    copy = json.loads(json.dumps(list(messages)))
    if isinstance(copy[at]["content"], str):
        copy[at]["content"] = [text(copy[at]["content"])]
    copy[at]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    return list(copy)


def bare(value: Any) -> Any:
    """A copy without cache markers."""
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items() if key != "cache_control"}
    return [bare(item) for item in value] if isinstance(value, list) else value


class Everything(set[str]):
    """A set that holds whatever is looked for."""

    def __contains__(self, item: object) -> bool:
        """Yes."""
        return True


class Play:
    """One agent's session. ``now`` is its clock; `again` opens the same session as a new process would."""

    def __init__(
        self,
        *plugins: Any,
        stages: Sequence[Any] = (),
        hooks: Sequence[Any] = (),
        ask: Any = None,
        ledger: Any = None,
        blobs: Any = None,
        provider: dict[str, Any] | None = None,
        stage_tools: bool = False,
        **overrides: Any,
    ) -> None:
        self.now = 1_000_000.0
        self.ledger, self.blobs = ledger or MemoryLedger("memory:"), blobs or MemoryBlobs("memory:")
        facts = {"window": 200_000, "prefix_bound": False, "cache": {"ttl": "5m", "minimum": 0}, "factor": 1.0}
        self.overrides = {"counter": "estimate", "stages": list(stages), "hooks": list(hooks), **overrides}
        self.overrides["provider"] = {**facts, **(provider or {})}
        self.plugins = plugins
        self.ask = ask
        self.stage_tools = stage_tools
        self.session = self.open()

    def open(self, id: str = "s", **overrides: Any) -> Session:
        """A session on these stores, its profile made as a user makes one."""
        profile = load("minimal", overrides={**self.overrides, **overrides}, plugins=self.plugins, env={}, cwd="/")
        stores = {"ledger": self.ledger, "blobs": self.blobs}
        how = {"background": None, "stage_tools": self.stage_tools}
        return Session.open(id, profile, ask=self.ask, clock=lambda: self.now, **stores, **how)

    def again(self, **overrides: Any) -> Session:
        """A new process goes on with the same session."""
        self.session = self.open(**overrides)
        return self.session

    def send(self, messages: Sequence[Any], later: float = 5.0, **more: Any) -> Request:
        """Time passes, the next request is prepared; it must be valid, and nothing may have failed."""
        self.now += later
        request = self.session.prepare(messages, **more)
        assert [found for found in validate(request.messages) if found.certain] == []
        assert request.report.failures == []
        return request

    def cold(self, messages: Sequence[Any], **more: Any) -> Request:
        """The next request comes when the provider's cache has forgotten everything."""
        return self.send(messages, later=3_600.0, **more)


def shown(request: Request) -> str:
    """All that a model would read, as one string."""
    return json.dumps(request.messages, ensure_ascii=False)


def raw(request: Request) -> str:
    """The bytes of a request's messages, without cache markers."""
    return json.dumps(bare(request.messages), sort_keys=True)


def why(request: Request, stage: str) -> dict[str, int]:
    """What was refused of one stage."""
    return dict(request.report.refused.get(stage, {}))


def decided(request: Request) -> list[str]:
    """Names of the stages that decided something in this pass."""
    return [outcome.stage for outcome in request.report.decisions]


def edits(play: Play, kind: str = "") -> list[Any]:
    """All recorded edits of one kind."""
    return [row for row in play.session.explain() if not kind or row["kind"] == kind]


Proposer = Callable[[Any], Any]
