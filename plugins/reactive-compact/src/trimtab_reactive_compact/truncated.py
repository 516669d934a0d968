"""What stands where the oldest rounds were taken away: how much that was, and where it can be read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from trimtab import Fold
from trimtab.texts import record, size

if TYPE_CHECKING:
    from trimtab.projection import Item
    from trimtab.view import View

__all__ = ["TAG", "counted", "truncated"]

TAG = "<truncated>"


def truncated(view: View, run: Sequence[Item]) -> Fold:
    """The fold of a run that says nothing of what was in it."""
    full = record(view, run)
    path = view.stored_text(full)
    lines = [
        f"Earlier work in this conversation was taken away here, for the request was too large: {counted(view, run)}, "
        f"{size(full)}. This says nothing of what was in it.",
        f"Full text: {path}",
    ]
    if PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute():
        lines.append("To see a part, read a range of lines of the full text, or search it.")
    text = "\n".join([TAG, *lines, "</truncated>"])
    return Fold(run, text, f"{counted(view, run)} taken away: too large for the window", full=full)


def counted(view: View, run: Sequence[Item]) -> str:
    """How many rounds a run stands for, those of earlier folds in it too."""
    start = run[0].end - len(run[0].covers)
    count = len(set(view.projection.rounds[start : run[-1].end]) - {-1})
    return f"{count} round{'s' * (count != 1)}"
