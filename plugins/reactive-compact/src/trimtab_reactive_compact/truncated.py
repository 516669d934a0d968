"""What stands where the oldest rounds were taken away: how much that was, and where it can be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trimtab import Fold
from trimtab.summary import counted
from trimtab.texts import record, size, way

if TYPE_CHECKING:
    from trimtab.projection import Item
    from trimtab.view import View

__all__ = ["TAG", "truncated"]

TAG = "<truncated>"


def truncated(view: View, run: Sequence[Item]) -> Fold:
    """The fold of a run that says nothing of what was in it."""
    full, count = record(view, run), counted(view, run)
    text = (
        f"{TAG}\nEarlier work in this conversation was taken away here, for the request was too large: {count}, "
        f"{size(full)}. This says nothing of what was in it.\n{way(view.stored_text(full))}\n</truncated>"
    )
    return Fold(run, text, f"{count} taken away: too large for the window", full=full)
