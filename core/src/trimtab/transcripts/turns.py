"""The user messages between two assistant answers: where results stand, and what was sent instead of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["ordered", "replaced", "results_in"]


def ordered(contents: list[Any]) -> list[Any]:
    """Arrange the user messages between two answers: apart as recorded, but all results in the first."""
    holding = [content for content in contents if results_in(content)]
    if not holding or (len(holding) == 1 and holding[0] is contents[0]):
        return contents
    blocks = [block for content in holding for block in content]
    first = [*filter(_is_result, blocks), *(block for block in blocks if not _is_result(block))]
    return [first, *(content for content in contents if not results_in(content))]


def _is_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def results_in(content: Any) -> list[dict[str, Any]]:
    """List the client results among the blocks of a content, which may be a string."""
    return [block for block in content if _is_result(block)] if isinstance(content, list) else []


def replaced(content: Any, texts: Mapping[str, str]) -> Any:
    """Show the results named in ``texts`` (by call id) as those; the same content where there are none."""
    if not texts or not results_in(content):
        return content
    return [
        {**block, "content": texts[str(block.get("tool_use_id"))]}
        if _is_result(block) and str(block.get("tool_use_id")) in texts
        else block
        for block in content
    ]
