"""What the model may write for tags, and what it reads."""

from __future__ import annotations

from typing import Any

import pytest
from trimtab_snip.words import TOOL, accepted, tags_of


@pytest.mark.parametrize(
    ("said", "tags"),
    [
        (["1a2b3c", "[id:4d5e6f]", "id:1A2B3C", " 1a2b3c "], ["1a2b3c", "4d5e6f"]),
        ("1a2b3c, [id:4d5e6f]", ["1a2b3c", "4d5e6f"]),
        ([], []),
        ("", []),
        ([""], []),
        ([7], []),
        ({"a": 1}, []),
        (None, []),
    ],
)
def test_spellings_of_tags(said: Any, tags: list[str]) -> None:
    """With or without the brackets, twice or once, as a list or as one text; anything else is none."""
    assert tags_of(said) == tags


def test_how_many_were_accepted() -> None:
    """One, all, or so many of so many."""
    end = "leave the context with the next request: about 1,235 tokens, whole rounds; the originals are stored."
    assert accepted(1, 1, 1_234.6, "with the next request") == f"It will {end}"
    assert accepted(2, 2, 1_234.6, "with the next request") == f"All 2 will {end}"
    assert accepted(3, 5, 1_234.6, "with the next request") == f"Of 5 ids 3 accepted. This will {end}"


def test_what_the_tool_says_of_itself() -> None:
    """What a tag is, that whole rounds go, and that originals are stored."""
    for words in ("[id:1a2b3c]", "whole round", "whole turn", "originals are stored"):
        assert words in TOOL.description
    assert TOOL.schema["required"] == ["ids"]
