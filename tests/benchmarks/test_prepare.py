"""How long `prepare` takes with nothing to do: one new Read result of 8 kB behind a long conversation.

    make bench

Times are processor time, because other work on the machine must not count (with stores in memory nothing else is
waited for); the time on the wall is printed beside it. The comparison alone is what no design can avoid: the caller's
list against a copy of it, which finds what was changed in place.
"""

from __future__ import annotations

import copy
import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from corpus import plain
from machine import RANKS, heading
from trimtab import Profile, Session, TrimtabError
from trimtab.storage.memory import MemoryBlobs, MemoryLedger

LINE = "def handler(request, *, retries=3):  # returns the parsed body or raises\n"
ROUNDS = 300
P50, P99 = 1e-3, 3e-3
"""Seconds that the project allows at 1,000 messages."""

ratios: dict[tuple[str, bool], dict[int, float]] = {}
"""Counter to size to the median, in comparisons alone."""


def reading(name: str, lines: int) -> list[dict[str, Any]]:
    """A call that reads a file, and its result."""
    call = {"type": "tool_use", "id": f"toolu_{name}", "name": "Read", "input": {"file_path": f"/src/{name}.py"}}
    text = {"type": "text", "text": f"Reading {name}. " + "I look for the place where it fails. " * 10}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{name}", "content": f"{name}\n" + LINE * lines}
    return [{"role": "assistant", "content": [text, call]}, {"role": "user", "content": [result]}]


def conversation(messages: int) -> list[dict[str, Any]]:
    """A question, then calls and results of about 1,000 tokens a pair."""
    said: list[dict[str, Any]] = [{"role": "user", "content": "fix the handler"}]
    for n in range(messages // 2):
        said += reading(f"m{n}", 50)
    return said


def share(times: Sequence[float], part: float) -> float:
    """Nearest rank."""
    return sorted(times)[math.ceil(part * len(times)) - 1]


def comparison(messages: list[dict[str, Any]]) -> float:
    """Median seconds of comparing a list of messages with a copy."""
    known, times = copy.deepcopy(messages), []
    for _ in range(100):
        start = time.process_time()
        assert messages == known
        times.append(time.process_time() - start)
    return share(times, 0.5)


def profile(counter: str, weighs: bool) -> Profile:
    """`default` in a window that never fills; ``weighs``: with `pays`, which now and then looks at all that is old."""
    overrides: dict[str, Any] = {"counter": counter, "provider": {"window": 20_000_000}}
    if not weighs:
        words = [[word for word in stage.options.when.plain() if word != "pays"] for stage in plain("default").stages]
        overrides["stages"] = [
            {stage.name: {**stage.options.model_dump(exclude={"when"}, exclude_unset=True), "when": when}}
            for stage, when in zip(plain("default").stages, words, strict=True)
        ]
    return plain("default", **overrides)


@pytest.mark.parametrize("weighs", [False, True], ids=["", "pays"])
@pytest.mark.parametrize("counter", ["estimate", "tiktoken"])
@pytest.mark.parametrize("size", [1_000, 4_000])
@pytest.mark.benchmark(timer=time.process_time)
def test_prepare_with_nothing_to_do(
    benchmark: Callable[..., Any], size: int, counter: str, weighs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 1,000 messages p50 1 ms and p99 3 ms; at 4,000 no more comparisons alone than at 1,000.

    Where `pays` looks at all that is old now and then, and has shortened hundreds of results, it is only measured.
    """
    if "TIKTOKEN_CACHE_DIR" not in os.environ:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(RANKS))
    try:
        session = Session.open(
            "b", profile(counter, weighs), ledger=MemoryLedger("memory:"), blobs=MemoryBlobs("memory:")
        )
    except TrimtabError as error:
        pytest.skip(str(error))
    messages, wall = conversation(size - ROUNDS), list[float]()
    session.prepare(messages, system="be brief")
    session.observe({"input_tokens": 3, "cache_read_input_tokens": 0, "cache_creation_input_tokens": size * 500})

    def more() -> None:
        messages.extend(reading(f"new{len(messages)}", 110))

    def prepare() -> None:
        start = time.perf_counter()
        session.prepare(messages, system="be brief")
        wall.append(time.perf_counter() - start)

    benchmark.pedantic(prepare, setup=more, rounds=ROUNDS)
    times, alone = benchmark.stats.stats.data, comparison(messages[:size])
    middle, high = share(times, 0.5), share(times, 0.99)
    ratios.setdefault((counter, weighs), {})[size] = middle / alone
    figures = [1e3 * seconds for seconds in (middle, high, max(times), share(wall, 0.5), share(wall, 0.99), alone)]
    print(
        "\n{:,} messages, counter {}{}: p50 {:.2f} ms, p99 {:.2f} ms, most {:.2f} ms (on the wall {:.2f}, {:.2f} ms); "
        "the comparison alone {:.2f} ms, ratio {:.1f}".format(
            size, session.counter.name, ", pays" * weighs, *figures, middle / alone
        )
    )
    if size == 1_000:
        print(heading("pytest-benchmark"))
        assert weighs or (middle <= P50, high <= P99) == (True, True)
    assert weighs or ratios[counter, weighs][size] <= ratios[counter, weighs].get(1_000, math.inf)
