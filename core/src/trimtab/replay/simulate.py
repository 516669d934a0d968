"""What requests cost on the input side: the kernel's cache model on the recorded clock, and a price card."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from trimtab.cache import Cache
from trimtab.provider import Provider
from trimtab.replay.reader import Reading

__all__ = ["Bill"]


class Bill:
    """The requests of one session as one provider would charge them; dollars and tokens."""

    def __init__(self, provider: Provider) -> None:
        self.price = provider.price
        self.minimum = provider.minimum
        self.cache = Cache(provider.ttl, provider.minimum)
        self.cost = 0.0
        self.read = 0.0
        self.total = 0.0
        self.peak = 0.0
        self.requests = 0

    def send(self, head: str, shown: Sequence[Reading], sizes: Sequence[float], now: float) -> None:
        """Charge one request: what the cache holds is read, the rest written, or fresh if too little to keep.

        ``head`` is the key of system and tools, whose size is the first of ``sizes``; ``now`` is epoch
        seconds.
        """
        keys = [head, *(reading.key for reading in shown)]
        ends = list(accumulate(sizes))
        held = self.cache.sent(keys, ends, now)
        read = ends[held - 1] if held else 0.0
        rest = ends[-1] - read
        kept = ends[-1] >= self.minimum
        self.cost += self.price.cost(read=read, write=rest if kept else 0.0, fresh=0.0 if kept else rest)
        self.read += read
        self.total += ends[-1]
        self.peak = max(self.peak, ends[-1])
        self.requests += 1

    def held(self, keys: Sequence[str], now: float) -> int:
        """How many leading messages, element 0 counted, the provider still holds before the next request."""
        return self.cache.held(keys, now)

    def fetch(self, tokens: float, context: float) -> float:
        """Dollars for fetching ``tokens`` again: written once, by one more request that reads ``context``."""
        return self.price.cost(read=context, write=tokens, fresh=0.0)
