"""Whether a prepared request still begins with the bytes of the one before, and if not, what explains it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from trimtab.cache import Cache, shared
from trimtab.report import Report

__all__ = ["Kind", "Rewrites"]

Kind = Literal["cold", "unexplained", "warm"]


class Rewrites:
    """Compares each prepared request of a session with the previous one of its branch."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._previous: dict[int, Sequence[str]] = {}

    def look(self, branch: int, keys: Sequence[str], report: Report, now: float) -> Kind | None:
        """Judge a request before the cache hears of it; None where it only appends.

        Element 0 of ``keys`` is the head. The first request of a branch has nothing before it: there the
        recorded agent itself replaced the history.
        """
        previous, self._previous[branch] = self._previous.get(branch, ()), keys
        same = shared(previous, keys)
        if same == len(previous):
            return None
        if all(decision.free for decision in report.decisions):
            return "unexplained"
        return "warm" if self._cache.held(previous, now) > same else "cold"
