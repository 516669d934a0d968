"""What a placeholder says of the text that it stands for, and whether it is worth it."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

__all__ = ["SMALL", "size", "way", "worth"]

SMALL = 300
"""Characters: a text up to this size stays as it is (with `WORTH`, of the form of old results that measured best)."""
WORTH = 0.9
"""What is shown instead of a text is at most this share of it, or nothing happens."""


def size(text: str) -> str:
    """How big a text is, in words: ``5,411 characters in 68 lines``."""
    lines = text.count("\n") + 1
    return f"{len(text):,} characters in {lines:,} line{'s' * (lines > 1)}"


def way(path: str, *, file: bool = False) -> str:
    """Where a full text lies, and how to read a part of it if that can be read; ``file``: it came from one itself."""
    said = f"Full text: {path}"
    if PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute():
        again = " of the file again, or" * file
        said += f"\nTo see a part, read a range of lines{again} of the full text, or search it."
    return said


def worth(text: str, shown: str) -> bool:
    """Whether ``text`` is enough shorter than what is ``shown`` now to stand in its place."""
    return len(shown) > SMALL and len(text) <= WORTH * len(shown)
