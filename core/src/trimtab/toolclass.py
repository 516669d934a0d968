"""What kind of tool a call is for, by the profile's `tools:` patterns, and which file it names."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal

__all__ = ["ToolClass", "classify", "path_of"]
ToolClass = Literal["edit", "other", "ranged_read", "read", "search", "shell", "web"]
PATHS = ["file_path", "absolute_path", "notebook_path", "path", "relative_path", "filename", "file_name", "file"]
RANGES = {
    *("offset", "limit", "head", "tail", "line", "lines", "pages", "start", "end", "view_range"),
    *("start_line", "end_line", "line_start", "line_end", "line_range"),
}
_kinds: dict[int, tuple[Mapping[str, Any], dict[str, ToolClass]]] = {}


def classify(tool: str, input: Mapping[str, Any], patterns: Mapping[str, Any]) -> ToolClass:
    """Tell the class of a call; ``patterns`` maps names and globs, in any case, and is taken as constant.

    An exact name wins, then the longest glob; a tool that nothing matches is ``other``. A read that asks for a part
    is a ``ranged_read``; an editor asked to ``view`` reads.
    """
    held = _kinds.get(id(patterns))
    if held is None or held[0] is not patterns:
        if len(_kinds) > 50:
            _kinds.clear()
        held = _kinds[id(patterns)] = (patterns, {})
    kind = held[1].get(tool) or held[1].setdefault(tool, _match(tool.lower(), patterns))
    if kind == "edit" and input.get("command") == "view":
        kind = "read"
    ranged = kind == "read" and any(input[key] is not None for key in RANGES & input.keys())
    return "ranged_read" if ranged else kind


def _match(tool: str, patterns: Mapping[str, ToolClass]) -> ToolClass:
    lower = {pattern.lower(): kind for pattern, kind in patterns.items()}
    globs = sorted(lower, key=lambda pattern: (pattern != tool, -len(pattern), pattern))
    return next((lower[glob] for glob in globs if glob == tool or fnmatchcase(tool, glob)), "other")


def path_of(input: Mapping[str, Any]) -> str | None:
    """Give the file or folder that a call's arguments name, as written."""
    return next((input[key] for key in PATHS if isinstance(input.get(key), str) and input[key]), None)
