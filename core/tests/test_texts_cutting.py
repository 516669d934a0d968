"""Cuts: whole characters, whole lines, no lone surrogate, no tag."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab.texts.cutting import clean, clip, clipped, first, last, neutral

CLUSTERS = [
    "a",
    "\n",
    "中",
    "e\u0301",
    "o\u0323\u0302",
    "👍🏽",
    "👩\u200d👩\u200d👧",
    "❤\ufe0f",
    "🇩🇪",
    "\r\n",
]
CLUSTERS += [
    "\u1112\u1161\u11ab",
    "\u0e19\u0e49",
    "\u0e33"[:0] + "\u0e19\u0e33",
    "🏴\U000e0067\U000e0062\U000e007f",
]
"""Each is one visible character, and stays one beside any other."""

clusters = st.lists(st.sampled_from(CLUSTERS), max_size=40)
anything = st.text(st.characters(exclude_categories=()), max_size=200)


@given(clusters, st.integers(0, 60))
def test_H62_cuts_fall_between_visible_characters(parts: list[str], size: int) -> None:
    """From either end as many whole characters are kept as fit, and no part of another."""
    text = "".join(parts)
    starts = ["".join(parts[:n]) for n in range(len(parts) + 1)]
    ends = ["".join(parts[n:]) for n in range(len(parts) + 1)]
    assert first(text, size) == max((start for start in starts if len(start) <= size), key=len)
    assert last(text, size) == max((end for end in ends if len(end) <= size), key=len)


def test_H62_flags_are_not_halved_in_long_runs() -> None:
    """Whether a cut parts two regional indicators depends on how many stand before it."""
    assert first("🇩🇪" * 1_000, 1_001) == "🇩🇪" * 500


@given(anything)
def test_H63_no_lone_surrogate_is_left(text: str) -> None:
    """What `clean` gives can be encoded, and text that could be is not changed."""
    cleaned = clean(text)
    cleaned.encode()
    assert json.loads(json.dumps(cleaned)) == cleaned
    if not re.search("[\ud800-\udfff]", text):
        assert cleaned == text


def test_H63_a_pair_of_surrogates_becomes_its_character() -> None:
    """Two halves that arrived as two code points are joined; a half alone is replaced."""
    assert clean("\ud83d\ude00 \ud83d \ude00\ud83d") == "😀 \ufffd \ufffd\ufffd"


@given(st.lists(st.sampled_from(["<", "/", " ", "\n", "persisted-output", "PERSISTED-Output", ">", "x"]), max_size=30))
def test_no_tag_survives(parts: list[str]) -> None:
    """However a tag is spelled, it can neither be opened nor closed, and the length stays."""
    text = "".join(parts)
    made = neutral(text, "persisted-output")
    assert not re.search(r"<\s*/?\s*persisted-output", made, re.IGNORECASE)
    assert len(made) == len(text)
    assert made.replace("[", "<") == text


@given(st.text("ab\n", max_size=80), st.integers(1, 50), st.integers(1, 12))
def test_clip_keeps_both_limits(text: str, size: int, lines: int) -> None:
    """The start is within characters and lines, and only a text beyond either is cut."""
    kept = clip(text, size, lines)
    assert text.startswith(kept)
    assert len(kept) <= size
    assert kept.count("\n") < lines
    if len(text) <= size and text.count("\n") < lines:
        assert kept == text


@pytest.mark.parametrize(
    ("text", "size", "kept"),
    [
        ("abcdef\nghij", 9, "abcdef"),
        ("ab\ncdefghij", 9, "ab\ncdefgh"),
        ("abcdefgh\nij", 8, "abcdefgh"),
        ("abcdefghij", 9, "abcdefghi"),
    ],
    ids=["newline past half", "newline before half", "newline at the limit", "no newline"],
)
def test_clip_ends_at_a_newline_past_half(text: str, size: int, kept: str) -> None:
    """The last newline ends the start if more than half of it is kept by that."""
    assert clip(text, size, 100) == kept


@given(anything, st.integers(2, 80))
def test_head_and_tail(text: str, most: int) -> None:
    """What fits stays; of the rest head and tail, and how much lies between, which together are the whole text."""
    shown = clipped(text, most)
    if len(text) <= most:
        assert shown == text
        return
    match = re.search(r"\n\[(\d+) characters are left out here\]\n", shown)
    assert match
    head, tail = shown[: match.start()], shown[match.end() :]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert int(match[1]) == len(text) - len(head) - len(tail)
    assert len(head) + len(tail) <= most


@pytest.mark.parametrize("most", range(20, 90))
def test_a_cut_begins_no_title(most: int) -> None:
    """Wherever the tail begins, its first line is no title."""
    assert "\n---" not in clipped(" --- user; go on" * 20, most)
