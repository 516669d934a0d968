"""The stage: decides before results are first sent which of them are stored and previewed."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Any, ClassVar

from trimtab import Replace, Stage, StageOptions
from trimtab.texts import Known, name_of, worth

from trimtab_tool_result_budget.options import BudgetOptions
from trimtab_tool_result_budget.placeholder import empty, persisted, start_of
from trimtab_tool_result_budget.preview import preview
from trimtab_tool_result_budget.readback import source

if TYPE_CHECKING:
    from trimtab.view import Result, View

__all__ = ["ToolResultBudget"]


class ToolResultBudget(Stage):
    """Stores results too big for their tool or their message, and shows where, how big, and a preview."""

    name: ClassVar[str] = "tool-result-budget"
    Options: ClassVar[type[StageOptions]] = BudgetOptions
    options: BudgetOptions

    def propose(self, view: View) -> Generator[Replace, Any, None]:
        """Replace unsent results: empty, read back too long, over their limit, too much for one message."""
        fresh = [*takewhile(lambda result: not result.sent, reversed(view.results))][::-1]
        known = Known(view.shown)
        edits: list[Replace] = []
        for _, results in groupby(fresh, key=lambda result: result.message.answers):
            judged: list[Result] = []
            for result in results:
                if result.replaced or result.media:
                    continue
                if not result.text.strip():
                    if self.options.empty == "name":
                        edits.append(_replace(result, empty(result), "no output"))
                elif path := source(result, view.is_stored):
                    edits += self._read_back(result, path)
                elif self.options.limit(result.tool, result.tool_class) < math.inf:
                    judged.append(result)
            edits += self._message(judged, known)
        yield from edits

    def _read_back(self, result: Result, path: str) -> Iterator[Replace]:
        """Shorten what any tool read from a stored text to what a reading tool may bring."""
        by_reader = result.tool_class in ("ranged_read", "read")
        limit = self.options.limit(*(result.tool, result.tool_class) if by_reader else ("", "read"))
        lines = self.options.lines
        if limit < math.inf and (len(result.text) > limit or result.text.count("\n") >= lines):
            text = start_of(result, path, int(limit), lines)
            if worth(text, result.text):
                yield _replace(result, text, f"read back: over {limit:,} characters or {lines:,} lines")

    def _message(self, results: list[Result], known: Known) -> Iterator[Replace]:
        """Judge what one user message brings, the largest first; the size of previews counts."""
        edits: dict[str, Replace] = {}
        most = self.options.most
        total = sum(len(result.text) for result in results)
        largest = sorted(results, key=lambda result: -len(result.text))
        for result in largest:
            limit = self.options.limit(result.tool, result.tool_class)
            if len(result.text) > limit:
                total -= self._store(result, known, f"over {limit:,} characters", edits)
        for result in largest:
            if total > most and result.id not in edits:
                total -= self._store(result, known, f"message over {most:,} characters", edits)
        now = {result.id: len((edits.get(result.id) or result).text) for result in results}
        for result in sorted(results, key=lambda result: -now[result.id]):
            if total > most and worth(bare := persisted(result, result.view.stored(result.block)), result.text):
                edits[result.id] = _replace(result, bare, f"message over {most:,} characters")
                total -= now[result.id] - len(bare)
        yield from (edits[result.id] for result in results if result.id in edits)

    def _store(self, result: Result, known: Known, reason: str, edits: dict[str, Replace]) -> int:
        """Preview ``result`` if that is worth it; returns the characters saved."""
        title, body = preview(result.text, self.options, known)
        text = persisted(result, result.view.stored(result.block), title, body)
        if not worth(text, result.text):
            return 0
        edits[result.id] = _replace(result, text, reason)
        known.forget(result.text, text)
        return len(result.text) - len(text)


def _replace(result: Result, text: str, reason: str) -> Replace:
    return Replace(result, text, f"{name_of(result.tool)}: {reason}")
