"""Spans with summaries by a model: prepared in the background, folded when it is time, asked for when it is late."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

from trimtab import Ask, AskFailed, Fold, Note, Restore

from trimtab_context_collapse.spans import STAGED, Span, due, remembered, staged
from trimtab_context_collapse.summary import fold, ours, shorter, shorthand, summary

if TYPE_CHECKING:
    from trimtab.projection import Item
    from trimtab.view import View

    from trimtab_context_collapse.options import CollapseOptions

__all__ = ["drained", "folded", "prepared"]

BATCH = 3
"""Spans that are summarised after one answer: with the default size of a span some 30 % of the window."""

PAUSE = 5
"""Requests from a question in the background that failed to the next."""

FAILED, DRAINED = f"{STAGED}:failed", f"{STAGED}:drained"
"""Notes of the request after which such a question failed, and of the one that `drained` was for."""


def prepared(view: View, options: CollapseOptions) -> Generator[Ask | Note, Any, None]:
    """Have what is due summarised and remember it; nothing is asked for that is remembered."""
    failed = view.notes(FAILED)
    if not view.asks or view.tokens < view.window.tokens(options.stage_at):
        return
    if failed is not None and view.answers < failed + PAUSE:
        return
    spans = staged(view)
    known = len(spans)
    for run in islice(due(view, options, _items(view, spans)), BATCH):
        try:
            spans.append(Span.of(run, (yield from summary(view, run))))
        except AskFailed:
            yield Note(FAILED, view.answers)
            break
    if len(spans) > known:
        yield remembered(view, spans)


def folded(view: View, options: CollapseOptions) -> Generator[Ask | Fold | Note, Any, None]:
    """Fold what is summarised, the oldest first; where that is not enough, or in a manual pass, what is due besides.

    Where something may not be folded now, nothing more is asked for: it would be in vain.
    """
    spans = sorted(staged(view), key=lambda span: span.run(view)[0].end)
    refused = False
    for span in spans:
        run = span.run(view)
        if run and shorter(view, run, edit := fold(view, run, span.summary)):
            yield edit
            refused |= bool(span.run(view))  # what lies behind it may pass: it may be cold there
    if refused:
        return
    manual = view.trigger == "manual"
    if manual or view.tokens >= view.window.tokens(options.force_at):
        # On to where the background begins: the next request shall not wait again.
        yield from _forced(view, options, spans, 0 if manual else view.window.tokens(options.stage_at))


def _forced(
    view: View, options: CollapseOptions, spans: list[Span], enough: float
) -> Generator[Ask | Fold | Note, Any, None]:
    asks, stuck = view.asks, _items(view, spans)
    while runs := due(view, options, stuck):
        for run in runs:
            if view.tokens < enough:
                return
            said = ""
            if asks:
                try:
                    said = yield from summary(view, run)
                except AskFailed:
                    asks = False
            span = Span.of(run, said)
            if said:
                yield fold(view, run, said)
                if span.run(view):
                    yield remembered(view, [*spans, span])
                    return
            elif options.fallback == "mechanical" and not span.folds:  # of a summary it would lose nearly everything
                yield shorthand(view, run)
            stuck += span.run(view)


def _items(view: View, spans: Iterable[Span]) -> list[Item]:
    return [item for span in spans for item in span.run(view)]


def drained(view: View, options: CollapseOptions) -> Generator[Fold | Note | Restore, Any, None]:
    """Once a request: fold all that is summarised, or give that up and show again what was folded."""
    spans = staged(view)
    made = _made(view) if options.drain == "restore" else ()
    if view.notes(DRAINED) == view.answers or not (spans or made):
        return
    yield Note(DRAINED, view.answers)
    if options.drain == "commit":
        for span in spans:
            if run := span.run(view):
                yield fold(view, run, span.summary)
        return
    yield Note(STAGED, [])
    if made:
        yield Restore(made, "for a summary of what was said")


def _made(view: View) -> tuple[int, ...]:
    """The decisions whose folds of ours are in the view, or inside one that is."""
    rows = view.projection.rows
    undone = {seq for _, edit in rows if isinstance(edit, Restore) and view.on(edit.at) for seq in edit.decisions}
    made = {seq for seq, edit in rows if seq and isinstance(edit, Fold) and ours(edit) and view.on(edit.run[-1])}
    return tuple(sorted(made - undone))
