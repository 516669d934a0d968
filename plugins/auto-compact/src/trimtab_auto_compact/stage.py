"""The stage: the history, but for a tail, becomes a summary."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, ClassVar

from trimtab import Ask, Fold, Stage, StageOptions
from trimtab.summary import Keep, boundary, counted, span, summarise

from trimtab_auto_compact.options import CompactOptions

if TYPE_CHECKING:
    from trimtab.projection import Item
    from trimtab.view import View

__all__ = ["AutoCompact"]

BY = {"mechanical": "rule", "model": "a model", "provider": "the provider"}


class AutoCompact(Stage):
    """Folds all but the newest messages into a summary in nine sections."""

    name: ClassVar[str] = "auto-compact"
    Options: ClassVar[type[StageOptions]] = CompactOptions
    options: CompactOptions

    def propose(self, view: View) -> Generator[Ask | Fold, str, None]:
        """One boundary; without a ``when`` it could never pass, so no model is asked for it."""
        options = self.options
        if view.compacted or not options.when.words:
            return
        run = span(view, options.keep if view.keep is None else Keep.of(view.keep))
        if not run or (view.trigger != "manual" and _left(view, run) >= view.window.block):
            return
        shared = options.input == "shared"
        written = yield from summarise(view, run, writer=options.writer, shared=shared, room=options.room)
        if written.by == options.writer or options.fallback == "mechanical":
            by = BY[written.by] + (f": {written.why}" if written.why else "")
            yield boundary(view, run, written.text, f"{counted(view, run)} summarised by {by}", written.block)


def _left(view: View, run: Sequence[Item]) -> float:
    """Tokens of the request without a run: where these are too many, no summary of it helps."""
    return view.tokens - view.context.meter.factor * sum(item.tokens for item in run)
