"""What the provider's prompt cache probably holds: prefixes of recent requests, until their time to live is over.

A strict-prefix model with the clock of the requests: it answers one question, how many leading messages of a request
are still held. The provider's `usage` corrects it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Cache", "Sent", "shared"]

KEPT = 8
"""Requests remembered: enough for a main conversation and its sub-agents taking turns."""

WHOLE = 0.98
"""A share of the request above which `usage` is taken to say that all of it was stored (the rest is the marker's tail)."""


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
    ends: Sequence[float]
    """Tokens up to and including each element."""
    time: float
    """Epoch seconds at which it started; the time to live counts from here."""
    stored: float
    """Tokens of it that the provider keeps."""

    def held(self, keys: Sequence[str]) -> int:
        """How many leading ``keys`` this request left in the cache."""
        count = shared(self.keys, keys)
        while count and self.ends[count - 1] > self.stored:
            count -= 1
        return count


class Cache:
    """The recent requests of one session, newest last. ``ttl`` in seconds, ``minimum`` in tokens."""

    def __init__(self, ttl: float, minimum: int) -> None:
        self.ttl = ttl
        self.minimum = minimum
        self.requests: list[Sent] = []

    def held(self, keys: Sequence[str], now: float) -> int:
        """How many leading ``keys`` the provider still holds at ``now``."""
        return max((sent.held(keys) for sent in self.requests if now - sent.time < self.ttl), default=0)

    def sent(self, keys: Sequence[str], ends: Sequence[float], now: float) -> int:
        """A request starts: what is held is renewed, the rest is written. Returns how many keys were held."""
        hit = self.held(keys, now)
        stored = ends[-1] if ends and ends[-1] >= self.minimum else 0.0
        earlier = [sent for sent in self.requests if shared(sent.keys, keys) < len(sent.keys)]
        self.requests = [*earlier[1 - KEPT :], Sent(keys, ends, now, stored)]
        return hit

    def correct(self, stored: float, total: float) -> None:
        """The provider's word on the last request: ``stored`` of its ``total`` tokens were read or written."""
        last = self.requests[-1]
        share = stored / total if total else 0.0
        last.stored = last.ends[-1] * (1.0 if share >= WHOLE else share)
