"""System text and tools as the cache model knows them: whatever their cache markers, counted once."""

from __future__ import annotations

import copy
from typing import Any

from trimtab.conversation import digest
from trimtab.dialect import Count, Dialect

__all__ = ["Heads"]

KEPT = 8
"""System texts and tool lists remembered: those of a main conversation and its sub-agents, with and without markers."""


class Heads:
    """The heads of recent requests, newest first."""

    def __init__(self, dialect: Dialect, count: Count) -> None:
        self.dialect = dialect
        self.count = count
        self._known: list[tuple[tuple[Any, Any], str, int]] = []

    def __call__(self, system: Any, tools: Any) -> tuple[str, int]:
        """The key and the uncalibrated tokens of a system text and a list of tools."""
        known = next((head for head in self._known if head[0] == (system, tools)), None)
        if known is None:
            bare = self.dialect.bare(system), self.dialect.bare(tools)
            key = digest(*bare)
            sizes = [size for _, other, size in self._known if other == key]
            known = copy.deepcopy((system, tools)), key, sizes[0] if sizes else self.dialect.head(*bare, self.count)
            self._known = [known, *self._known[: KEPT - 1]]
        return known[1:]
