"""The full text of a run: everything that was said in it, each message once, also under earlier summaries."""

from __future__ import annotations

import pytest
from summaries import opened
from trimtab.testing.material import rounds
from trimtab.texts import record


def test_what_an_earlier_summary_stands_for() -> None:
    """Is written out again, first and whole; the text of that summary is not."""
    pytest.importorskip("trimtab_auto_compact")
    made = opened(
        {"auto-compact": {"when": "always", "warm": "allow", "writer": "mechanical", "keep": {"messages": 2}}}
    )
    made.prepare(rounds("anthropic", 10))
    view = made.view
    assert view.projection.boundary is not None
    text = record(view, view.messages)
    assert [text.count(f"Step {n}.") for n in range(10)] == [1] * 10
    assert text.startswith("--- user\nMend the parser")
    assert "<summary>" not in text
    assert record(view, view.messages[1:]).count("Step ") == 1


def test_nothing_is_nothing() -> None:
    """A run of no items has no text."""
    made = opened()
    made.prepare(rounds("anthropic", 1))
    assert record(made.view, []) == ""
