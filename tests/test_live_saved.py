"""What `Session.saved` says beside the provider's bill, and beside the bill of a run without trimtab."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic_client import TOOL, compaction
from trimtab.models import find
from trimtab.testing.provider import Billed, Call, FakeProvider, Settings, Text, Use

MODEL = "claude-opus-4-6"


def script(call: Call) -> Any:
    """A step of an agent's."""
    return [Text("I look at the next file."), Use("read", {"path": f"file_{call.number}"})]


def talk(folder: Path, *stages: str, window: int) -> tuple[Any, Billed]:
    """An agent's 40 steps in that window: what was saved, and the input that was billed."""
    middle = compaction(folder, *stages, window=window)
    messages: list[Any] = [{"role": "user", "content": "Read them all."}]
    with (
        FakeProvider(script, Settings(window=window, minimum=4_096)) as provider,
        anthropic.Anthropic(base_url=provider.url, api_key="any", middleware=[middle]) as client,
    ):
        for n in range(40):
            answer: Any = client.messages.create(model=MODEL, max_tokens=100, messages=messages, tools=[TOOL])  # type: ignore[list-item]
            messages += [{"role": "assistant", "content": answer.content}]
            result = {"type": "tool_result", "tool_use_id": answer.content[-1].id, "content": f"line{n} of it " * 150}
            messages += [{"role": "user", "content": [result]}]
        assert middle.last is not None
        billed = provider.billed
        return middle.last.saved(), Billed(billed.read, billed.written, billed.fresh)


def test_saved_is_the_difference_of_two_bills(tmp_path: Path) -> None:
    """Sent is the provider's own figure, in dollars too; unshortened is what a run without any stage is billed."""
    model = find(MODEL)
    assert model is not None
    saved, billed = talk(tmp_path, "clear-old: {when: {over: 0.5}}", window=12_000)
    none, unshortened = talk(tmp_path, window=200_000)
    assert saved.sent_tokens == billed.read + billed.written + billed.fresh
    assert saved.sent_dollars == pytest.approx(billed.cost(model.price))
    whole = unshortened.read + unshortened.written + unshortened.fresh
    assert saved.unshortened_tokens == pytest.approx(whole, rel=0.05)
    assert saved.unshortened_dollars == pytest.approx(unshortened.cost(model.price), rel=0.1)
    assert saved.tokens == pytest.approx(whole - saved.sent_tokens, rel=0.1)
    assert (none.tokens, none.dollars) == pytest.approx((0.0, 0.0), abs=1e-4)
    assert saved.too_large > 10
