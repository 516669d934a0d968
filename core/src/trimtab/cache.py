"""What the provider's prompt cache probably holds: prefixes of recent requests, until their time to live is over.

A strict-prefix model with the clock of the requests: it answers one question, how many leading messages of a request
are still held. The provider's `usage` corrects it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

__all__ = ["Cache", "Sent", "shared"]

KEPT = 8
"""Requests remembered: enough for a main conversation and its sub-agents taking turns."""

WHOLE = 0.98
"""A share of the request from which `usage` says that all was stored: the rest lies behind the last marker."""


def shared(left: Sequence[str], right: Sequence[str]) -> int:
    """The length of the common prefix."""
    size = min(len(left), len(right))
    if left[:size] == right[:size]:
        return size
    low, high = 0, size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if left[low:middle] == right[low:middle] else (low, middle)
    return low


@dataclass(slots=True)
class Sent:
    """One request as the provider saw it; element 0 stands for system and tools, the others for one message each."""

    keys: Sequence[str]
    weights: Sequence[float]
    """Tokens of each element, in any one unit."""
    time: float
    """Epoch seconds at which it started; the time to live counts from here."""
    stored: float
    """The share of it that the provider keeps, 0 to 1."""

    def held(self, keys: Sequence[str]) -> int:
        """How many leading ``keys`` this request left in the cache."""
        count = shared(self.keys, keys)
        if self.stored < 1:
            ends = list(accumulate(self.weights))
            count = min(count, bisect_right(ends, self.stored * ends[-1]))
        return count


class Cache:
    """The recent requests of one session, newest last. ``ttl`` in seconds, ``minimum`` in tokens."""

    def __init__(self, ttl: float, minimum: int) -> None:
        self.ttl = ttl
        self.minimum = minimum
        self.requests: list[Sent] = []
        self._before: list[Sent] = []

    def held(self, keys: Sequence[str], now: float) -> int:
        """How many leading ``keys`` the provider still holds at ``now``."""
        return max((sent.held(keys) for sent in self.requests if now - sent.time < self.ttl), default=0)

    def sent(self, keys: Sequence[str], weights: Sequence[float], tokens: float, now: float) -> None:
        """A request of ``tokens`` starts: what is held of it is renewed, the rest is written."""
        self._before = self.requests
        earlier = [sent for sent in self.requests if shared(sent.keys, keys) < len(sent.keys)]
        stored = 1.0 if tokens >= self.minimum else 0.0
        self.requests = [*earlier[1 - KEPT :], Sent(keys, weights, now, stored)]

    def refused(self) -> None:
        """The provider did not take the last request: it is as if it had not been sent."""
        self.requests = self._before

    def correct(self, stored: float, total: float) -> None:
        """The provider's word on the last request: ``stored`` of its ``total`` tokens were read or written."""
        share = stored / total if total else 0.0
        self.requests[-1].stored = 1.0 if share >= WHOLE else share
