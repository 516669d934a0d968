"""The word index finds exactly what a search through all texts finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab.replay.texts import Texts, holds


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("a run_1 b", "run_1", True),
        ("a run_12 b", "run_1", False),
        ("run_12 and run_1", "run_1", True),
        ("see lib/a.py:3", "lib/a.py", True),
        ("see mylib/a.py", "lib/a.py", False),
        ("see x/lib/a.py", "/lib/a.py", True),
        ("größe", "gr", False),
    ],
)
def test_a_part_is_found_as_whole_words(text: str, part: str, expected: bool) -> None:
    """A string counts where its ends are not in the middle of a word."""
    assert holds(text, part) is expected


words = st.text("ab_1./ é", min_size=1, max_size=12)


@given(st.lists(words, max_size=12), st.lists(words.filter(lambda part: any(map(str.isalnum, part))), max_size=6))
def test_the_index_agrees_with_a_plain_search(texts: list[str], parts: list[str]) -> None:
    """Whatever the order of adding and asking, `holding` lists the texts that hold the part."""
    index = Texts()
    for text in texts:
        index.add(text)
        for part in parts:
            assert index.holding(part) == [n for n, known in enumerate(index.texts) if holds(known, part)]


def test_equal_texts_are_one() -> None:
    """The same text has the same number."""
    index = Texts()
    assert [index.add(text) for text in ("one", "two", "one")] == [0, 1, 0]
