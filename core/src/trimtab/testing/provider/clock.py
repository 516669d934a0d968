"""The provider's clock, real time and whatever a test adds to it, and the limit of requests a minute."""

from __future__ import annotations

import time

__all__ = ["Clock", "Rate"]

MINUTE = 60.0


class Clock:
    """Epoch seconds; runs with real time and can be moved forward."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def now(self) -> float:
        """The time now, in epoch seconds."""
        return time.time() + self._ahead

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass at once: caches expire, rate limits recover."""
        self._ahead += seconds


class Rate:
    """At most ``limit`` requests in any minute; 0 is no limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._starts: list[float] = []

    def wait(self, now: float) -> float:
        """Take one request at ``now``, or, without taking it, say for how many seconds there is no room for one."""
        self._starts = [start for start in self._starts if start > now - MINUTE]
        if self._limit and len(self._starts) >= self._limit:
            return self._starts[0] + MINUTE - now
        self._starts.append(now)
        return 0.0
