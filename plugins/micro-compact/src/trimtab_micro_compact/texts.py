"""What stands where results were: what happened, how big it was, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trimtab.texts import clean, name_of, size

if TYPE_CHECKING:
    from trimtab.view import Result

__all__ = ["CLEARED", "OLD", "attached", "cleared", "line", "stripped"]

OLD = "[Old tool result "
"""How the texts of both forms begin."""
CLEARED = f"{OLD}content cleared]"

REPLAYED = ("ranged_read", "read", "search")
"""Classes of tools that change nothing: called again they show what there is now."""


def cleared(result: Result, marks: Sequence[str] = ()) -> str:
    """Of a cleared result: to be read again where its call changes nothing, else by the path of its full text."""
    if result.text and (result.replaced or not _replayed(result)):
        return f"{CLEARED} {_what(result, marks)}. Full text: {result.view.stored(result.block)}"
    return f"{CLEARED} {_what(result, marks)}. {_again(result)}"


def line(result: Result, marks: Sequence[str] = ()) -> str:
    """The first line of a digest."""
    back = f"Full text: {result.view.stored(result.block)}" if result.text else _again(result)
    return f"{OLD}shortened] {_what(result, marks)}. {back}"


def stripped(result: Result, marks: Sequence[str]) -> str:
    """The text of a result, and what stands for its images and documents."""
    return "\n".join(filter(None, [clean(result.text), *marks, f"[{_again(result)}]"]))


def attached(mark: str) -> str:
    """Of an image or a document in a user's message."""
    return f"{mark}\n[Cleared because it is old; if it is needed, ask for it.]"


def _what(result: Result, marks: Sequence[str]) -> str:
    texts = [size(result.text)] if result.text or not marks else []
    return f"{name_of(result.tool)}{' failed' * result.error}: {' '.join([*texts, *marks])}"


def _replayed(result: Result) -> bool:
    return result.tool_class in REPLAYED and bool(result.input) and not result.error


def _again(result: Result) -> str:
    tool = name_of(result.tool)
    return f"To see it, call {tool} again." if _replayed(result) else f"Only a new call of {tool} shows one again."
