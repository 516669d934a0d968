"""How a placeholder names a tool and a size."""

from __future__ import annotations

from trimtab.texts.cutting import clean, first

__all__ = ["NAME", "name_of", "size"]

NAME = 64
"""Characters of a tool's name that are repeated."""


def name_of(tool: str) -> str:
    """A tool's name, safe to be repeated."""
    return first(clean(tool).strip(), NAME) or "The tool"


def size(text: str) -> str:
    """How big a text is, in words: ``5,411 characters in 68 lines``."""
    lines = text.count("\n") + 1
    return f"{len(text):,} characters in {lines:,} line{'s' * (lines > 1)}"
