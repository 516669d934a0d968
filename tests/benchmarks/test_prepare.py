"""How long `prepare` takes with nothing to do: one new Read result of 8 kB behind a long conversation.

Run with ``make bench``. The first figure is the whole call; the second is the one comparison that no design can avoid
(the caller's list against what we know), for the ratio.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from trimtab import Session, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger

LINE = "def handler(request, *, retries=3):  # returns the parsed body or raises\n"


def conversation(messages: int) -> list[dict[str, Any]]:
    """Alternating calls and results of about 500 tokens a message."""
    said: list[dict[str, Any]] = [{"role": "user", "content": "fix the handler"}]
    for n in range(messages // 2):
        call = {"type": "tool_use", "id": f"toolu_{n}", "name": "Read", "input": {"file_path": f"/src/m{n}.py"}}
        text = {"type": "text", "text": f"Reading m{n}. " + "I look for the place where it fails. " * 10}
        said.append({"role": "assistant", "content": [text, call]})
        result = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": f"{n}\n" + LINE * 50}
        said.append({"role": "user", "content": [result]})
    return said


@pytest.mark.parametrize("counter", ["estimate", "tiktoken"])
@pytest.mark.parametrize("size", [1_000, 4_000])
def test_prepare_with_nothing_to_do(benchmark: Callable[..., Any], size: int, counter: str) -> None:
    """The p50 and p99 of one pass without a decision."""
    profile = load("default", overrides={"counter": counter, "provider": {"window": 20_000_000}}, env={}, cwd="/")
    session = Session.open("b", profile, ledger=MemoryLedger("memory:"), blobs=MemoryBlobs("memory:"))
    messages = conversation(size)
    session.prepare(messages, system="be brief")
    session.observe({"input_tokens": 3, "cache_read_input_tokens": 0, "cache_creation_input_tokens": size * 500})
    state = {"n": 0}

    def more() -> tuple[tuple[Any, ...], dict[str, Any]]:
        state["n"] += 1
        n = state["n"]
        call = {"type": "tool_use", "id": f"new_{n}", "name": "Read", "input": {"file_path": f"/src/new{n}.py"}}
        messages.append({"role": "assistant", "content": [call]})
        result = {"type": "tool_result", "tool_use_id": f"new_{n}", "content": f"{n}\n" + LINE * 110}
        messages.append({"role": "user", "content": [result]})
        return (messages,), {"system": "be brief"}

    benchmark.pedantic(session.prepare, setup=more, rounds=300, warmup_rounds=5)
    times = sorted(benchmark.stats.stats.data)
    benchmark.extra_info["p50_ms"] = times[len(times) // 2] * 1e3
    benchmark.extra_info["p99_ms"] = times[int(len(times) * 0.99)] * 1e3
    print(
        f"\n{size} messages, {counter}: p50 {benchmark.extra_info['p50_ms']:.2f} ms, p99 {benchmark.extra_info['p99_ms']:.2f} ms"
    )


@pytest.mark.parametrize("size", [1_000, 4_000])
def test_comparison_alone(benchmark: Callable[..., Any], size: int) -> None:
    """What comparing the history with a structural copy costs by itself."""
    messages = conversation(size)
    known = copy.deepcopy(messages)
    benchmark.pedantic(lambda: messages == known, rounds=200, warmup_rounds=5)
