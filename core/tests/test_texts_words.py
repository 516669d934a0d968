"""What a placeholder says of the text it stands for, and whether it is worth it."""

from __future__ import annotations

import pytest
from trimtab.texts import way, worth


@pytest.mark.parametrize("path", ["/home/ann/full.txt", "C:\\full.txt"])
def test_the_way_to_a_file(path: str) -> None:
    """A path that a tool can read comes with how to; of what was a file there is also that one."""
    assert way(path) == f"Full text: {path}\nTo see a part, read a range of lines of the full text, or search it."
    assert "lines of the file again, or of the full text" in way(path, file=True)


def test_no_way_to_a_key() -> None:
    """What is no file cannot be read by a range."""
    assert way("memory:1a2b") == "Full text: memory:1a2b"


def test_worth() -> None:
    """Small texts stay, and so do those that would lose less than a tenth."""
    assert [worth("", "x" * shown) for shown in (300, 301)] == [False, True]
    assert [worth("x" * text, "y" * 1_000) for text in (900, 901)] == [True, False]
