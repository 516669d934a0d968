"""An agent on the OpenAI SDK whose requests go through trimtab, for the tests of that client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
from trimtab import Replace, Stage
from trimtab.clients.openai import compacting
from trimtab.testing.provider import FakeProvider

__all__ = ["Clear", "agent", "async_agent", "history", "items", "profile"]


class Clear(Stage):
    """Clears results, the oldest first, but the newest."""

    name = "clear"

    def propose(self, view: Any) -> Iterator[Any]:
        """As many as the kernel takes."""
        for result in view.results[:-1]:
            if not result.replaced:
                yield Replace(result, f"[cleared {result.path}]", "old")

    def recover(self, view: Any, overflow: Any) -> Iterator[Any]:
        """The same."""
        yield from self.propose(view)


def profile(folder: Path, window: int) -> Path:
    """A profile whose one stage is `Clear`."""
    path = folder / f"{window}.yaml"
    path.write_text(
        f"extends: minimal\nprovider: {{model: gpt-5.6-sol, window: {window}, prefix_bound: false}}\n"
        "stages: [{clear: {when: {over: auto}, target: 0.6}}]\nstorage: {ledger: 'memory:', blobs: 'memory:'}\n"
    )
    return path


def agent(provider: FakeProvider, path: Path | None, retries: int = 0, **arguments: Any) -> openai.OpenAI:
    """A client of the provider; without a profile a plain one."""
    client = openai.OpenAI(base_url=f"{provider.url}/v1", api_key="any", max_retries=retries)
    return compacting(client, path, plugins=[Clear], **arguments) if path else client


def async_agent(provider: FakeProvider, path: Path, **arguments: Any) -> openai.AsyncOpenAI:
    """`agent` for event loops."""
    client = openai.AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="any", max_retries=0)
    return compacting(client, path, plugins=[Clear], **arguments)


def history(rounds: int, lines: int = 100) -> list[Any]:
    """Chat messages: a task and that many rounds, each with a result of about six tokens a line."""
    made: list[Any] = [{"role": "user", "content": "Read the files."}]
    for n in range(rounds):
        call = {"name": "read_file", "arguments": json.dumps({"path": f"src/f{n}.py"})}
        made.append({"role": "assistant", "tool_calls": [{"id": f"c{n}", "type": "function", "function": call}]})
        made.append({"role": "tool", "tool_call_id": f"c{n}", "content": f"line {n} of the file\n" * lines})
    return made


def items(rounds: int, lines: int = 100) -> list[Any]:
    """The same as items of Responses."""
    made: list[Any] = [{"role": "user", "content": "Read the files."}]
    for n in range(rounds):
        call = {"name": "read_file", "arguments": json.dumps({"path": f"src/f{n}.py"}), "call_id": f"c{n}"}
        made.append({"type": "function_call", "id": f"fc_{n}", "status": "completed", **call})
        made.append({"type": "function_call_output", "call_id": f"c{n}", "output": f"line {n} of the file\n" * lines})
    return made
