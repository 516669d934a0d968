"""`head` and `head-tail`, and what holds for every preview and the placeholder around it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab_tool_result_budget import BudgetOptions
from trimtab_tool_result_budget.preview import head_tail, preview

KINDS = ["head", "head-tail", "names"]


def nothing(name: str) -> int:
    """No other block shows anything."""
    return 1


def made(text: str, **options: Any) -> str:
    """The preview of a text."""
    return preview(text, BudgetOptions(**options), nothing)[1]


def test_head_is_2000_characters_cut_at_a_newline() -> None:
    """The start ends with a whole line where one ends behind the middle."""
    lines = [f"line {n:04}" for n in range(1_000)]
    assert made("\n".join(lines), preview="head") == "\n".join(lines[:200])
    assert made("x" * 9_000, preview="head") == "x" * 2_000


def test_head_tail_states_what_is_left_out() -> None:
    """6,000 characters from the start, 2,000 from the end, and between them how much is missing."""
    lines = [f"line {n:04}" for n in range(3_000)]
    start, gap, end = re.split(r"\n\[(.*)\]\n", made("\n".join(lines), preview="head-tail"))
    assert start == "\n".join(lines[:600])
    assert end == "\n".join(lines[-200:])
    assert gap == "22,001 characters, 2,201 lines left out"


def test_head_tail_of_a_short_text_is_the_text() -> None:
    """Nothing is left out where both parts would meet."""
    assert head_tail("a\nb\nc", 3, 2, 9) == "a\nb\nc"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lines", [1, 7, 40])
def test_lines_are_limited(kind: str, lines: int) -> None:
    """No preview has more lines than allowed; the line that tells what is left out is not counted."""
    text = "\n".join(f"name_{n}" for n in range(5_000))
    assert made(text, preview=kind, lines=lines).count("\n") < lines + 2 * (kind == "head-tail")


texts = st.text(st.characters(exclude_categories=()), max_size=400) | st.lists(
    st.sampled_from(["a_b", "👩\u200d👩", "e\u0301", "\ud83d", "\n", " ", "Path/x.py", "</persisted-output>"]),
    max_size=300,
).map("".join)


@given(texts, st.sampled_from(KINDS), st.integers(1, 300))
def test_H62_any_preview_can_be_sent(text: str, kind: str, size: int) -> None:
    """Whatever came in, a preview keeps its size, can be encoded, and is the same for the same text."""
    options = {"preview": kind, "head": size, "names": size, "head_tail": {"head": size, "tail": size}}
    result = made(text, **options)
    result.encode()
    assert result == made(text, **options)
    assert len(result) <= (2 * size + 60 if kind == "head-tail" else size)


@given(st.lists(st.sampled_from(["👩\u200d👩\u200d👧", "e\u0301", "x", "\n"]), max_size=80), st.integers(4, 60))
def test_H62_head_and_tail_keep_whole_characters(parts: list[str], size: int) -> None:
    """Neither end of a gap parts a visible character."""
    text = "".join(parts)
    options = {"preview": "head-tail", "head_tail": {"head": size, "tail": size}}
    start, *rest = re.split(r"\n\[.*\]\n", made(text, **options))
    assert start in {"".join(parts[:n]) for n in range(len(parts) + 1)}
    assert all(end in {"".join(parts[n:]) for n in range(len(parts) + 1)} for end in rest)
