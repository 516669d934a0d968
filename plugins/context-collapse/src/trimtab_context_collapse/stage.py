"""The stage: each mode proposes its edits."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, ClassVar

from trimtab import Fold, Replace, Stage, StageOptions

from trimtab_context_collapse.note import note
from trimtab_context_collapse.options import CollapseOptions
from trimtab_context_collapse.record import record
from trimtab_context_collapse.runs import runs
from trimtab_context_collapse.stale import stale

if TYPE_CHECKING:
    from trimtab.view import View

__all__ = ["ContextCollapse"]


class ContextCollapse(Stage):
    """Folds old rounds into notes, or has superseded results point to what superseded them."""

    name: ClassVar[str] = "context-collapse"
    Options: ClassVar[type[StageOptions]] = CollapseOptions
    options: CollapseOptions

    def propose(self, view: View) -> Generator[Fold | Replace, Any, None]:
        """The oldest run first; the newest of the superseded results first, which leaves most of the prefix."""
        if self.options.mode == "stale-reads":
            yield from stale(view)
            return
        for run in runs(view, self.options):
            full = record(view, run.items)
            text = note(view, run.items, f"{run.rounds} rounds", full)
            yield Fold(run.items, text, f"{run.rounds} rounds older than {run.age} requests", full=full)
