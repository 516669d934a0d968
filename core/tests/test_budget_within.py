"""Of many pins the newest that fit a budget, and a warning that names the others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trimtab import Pin, Session, View, Warn, load
from trimtab.budget import within
from trimtab.storage.memory import MemoryBlobs, MemoryLedger

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}


def view(*parts: Any) -> View:
    """The view of a conversation whose only message has these texts and blocks."""
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return prepared([{"role": "user", "content": content}])


def prepared(messages: list[Any]) -> View:
    """The view of these messages."""
    overrides = {"counter": "estimate", "provider": {"kind": "anthropic", "factor": 1.5}}
    stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
    session = Session.open("s", load("minimal", overrides=overrides, env={}, cwd="/"), **stores)
    session.prepare(messages)
    return session.view


def blocks(view: View) -> list[Any]:
    """Of its only message."""
    [message] = view.projection.path
    return list(message.blocks)


def split(said: Any) -> tuple[list[Any], list[str]]:
    """What the pins keep, and the warnings."""
    said = list(said)
    assert all(one.moving for one in said if isinstance(one, Pin))
    return [one for one in said if isinstance(one, Pin)], [one.text for one in said if isinstance(one, Warn)]


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.integers(0, 400))
def test_the_newest_that_fit(sizes: list[int], budget: int) -> None:
    """What is kept is the longest end of the list that fits; the warning names each of the others and none of these."""
    texts = [f"rule {n:02} {'word ' * size}" for n, size in enumerate(sizes)]
    here = view(*texts)
    [message] = here.projection.path
    costs = [here.context.meter.factor * size for size in message.sizes]
    kept, warnings = split(within(here, map(Pin, blocks(here)), budget))
    count = len(kept)
    assert [pin.block.text for pin in kept] == texts[len(texts) - count :]
    assert sum(costs[len(costs) - count :]) <= budget
    assert count == len(texts) or sum(costs[len(costs) - count - 1 :]) > budget
    named = [n for n in range(len(texts)) if any(f"rule {n:02}" in warning for warning in warnings)]
    assert named == list(range(len(texts) - count))
    assert len(warnings) == (count < len(texts))


def test_without_a_budget_pins_are_as_they_are() -> None:
    """Nothing is counted, nothing moves that did not move before."""
    here = view("a", "b")
    pins = [Pin(blocks(here)[0], "why"), Pin(blocks(here)[1], moving=True)]
    assert list(within(here, iter(pins), None)) == pins


@pytest.mark.parametrize("short", [False, True])
def test_words_in_a_block_cost_what_they_weigh(short: bool) -> None:
    """Not what their block weighs; and the warning quotes them, not the block."""
    here = view("never push. " + "word " * 500)
    words = Pin(blocks(here)[0], text="never push.")
    budget = round(here.count("never push.") + 1 - 2 * short)
    kept, warnings = split(within(here, [words], budget))
    assert len(kept) == (not short)
    assert [warning.count("“never push.”") for warning in warnings] == [1] * short


def test_a_pin_by_words_alone() -> None:
    """The kernel finds its block; here it costs its words."""
    here = view("never push.")
    assert split(within(here, [Pin("never push.")], 100)) == ([Pin("never push.", moving=True)], [])
    assert "“never push.”" in split(within(here, [Pin("never push.")], 0))[1][0]


def test_a_picture_costs_what_it_weighs() -> None:
    """As the message was counted, calibrated; a warning calls it by its type."""
    here = view("look", IMAGE)
    [message] = here.projection.path
    cost = here.context.meter.factor * message.sizes[1]
    assert len(split(within(here, [Pin(message.blocks[1])], int(cost) + 1))[0]) == 1
    assert "“image”" in split(within(here, [Pin(message.blocks[1])], int(cost) - 1))[1][0]


def test_a_read_is_called_by_its_file() -> None:
    """The end of the path, then what it begins with; also where the path is long."""
    path = f"/home/ann/{'deep/' * 20}parser.py"
    messages = [
        {"role": "user", "content": "Mend it."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "Read", "input": {"path": path}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "def parse(): ..."}]},
    ]
    here = prepared(messages)
    [warning] = split(within(here, [Pin(here.results[0])], 0))[1]
    assert "deep/parser.py: def parse(): ...”" in warning


def test_a_warning_stays_short() -> None:
    """Long words are cut, and of very many pins the newest of the lost are named."""
    here = view(*(f"rule {n} {'word ' * 100}" for n in range(300)))
    [warning] = split(within(here, map(Pin, blocks(here)), 0))[1]
    assert warning.startswith("300 of 300 pins do not fit in 0 tokens")
    assert warning.endswith(", and 200 older ones")
    assert len(warning) < 10_000
