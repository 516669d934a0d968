"""The stage: each mode and writer proposes its edits."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from trimtab import Fold, Stage, StageOptions
from trimtab.summary import counted
from trimtab.texts import record

from trimtab_context_collapse.model import drained, folded, prepared
from trimtab_context_collapse.note import note
from trimtab_context_collapse.options import CollapseOptions
from trimtab_context_collapse.runs import runs
from trimtab_context_collapse.stale import stale

if TYPE_CHECKING:
    from trimtab.errors import Overflow
    from trimtab.view import View

__all__ = ["ContextCollapse"]


class ContextCollapse(Stage):
    """Folds old rounds into notes, or has superseded results point to what superseded them."""

    name: ClassVar[str] = "context-collapse"
    Options: ClassVar[type[StageOptions]] = CollapseOptions
    options: CollapseOptions

    def propose(self, view: View) -> Generator[Any, Any, None]:
        """The oldest run first; the newest of the superseded results first, which leaves most of the prefix."""
        if self.options.mode == "stale-reads":
            yield from stale(view)
        elif self.options.writer == "model":
            yield from folded(view, self.options)
        else:
            for run in runs(view, self.options):
                full = record(view, run.items)
                reason = f"{counted(view, run.items)} older than {run.age} requests"
                yield Fold(run.items, note(view, run.items, full), reason, full=full)

    def observe(self, view: View) -> Iterable[Any]:
        """Summaries by a model are prepared."""
        return prepared(view, self.options) if self._asks else ()

    def recover(self, view: View, overflow: Overflow) -> Iterable[Any]:
        """Those that wait are folded, or what they replaced is shown again."""
        return drained(view, self.options) if self._asks else ()

    @property
    def _asks(self) -> bool:
        return (self.options.mode, self.options.writer) == ("spans", "model")
