"""What requests cost on the input side: the kernel's cache model on the recorded clock, and a price card."""

from __future__ import annotations

from collections.abc import Sequence

from trimtab.cache import Cache
from trimtab.provider import Provider
from trimtab.replay.reader import Reading

__all__ = ["Bill"]


class Bill:
    """The requests of one session as one provider would charge them; dollars and tokens."""

    def __init__(self, provider: Provider) -> None:
        self.price = provider.price
        self.step = provider.step
        self.cache = Cache(provider.ttl, provider.minimum)
        self.cost = 0.0
        self.read = 0.0
        self.total = 0.0
        self.peak = 0.0
        self.requests = 0

    def send(self, head: str, shown: Sequence[Reading], sizes: Sequence[float], now: float) -> None:
        """Charge one request: what the cache holds is read, the rest written, or fresh if too little to keep.

        Read is a multiple of the provider's step, and nothing if the cache holds less than its minimum.

        ``head`` is the key of system and tools, whose size is the first of ``sizes``; ``now`` is epoch
        seconds.
        """
        keys = [head, *(reading.key for reading in shown)]
        read, tokens = sum(sizes[: self.cache.held(keys, now)]), sum(sizes)
        read = read // self.step * self.step if read >= self.cache.minimum else 0.0
        self.cache.sent(keys, sizes, tokens, now)
        rest, kept = tokens - read, tokens >= self.cache.minimum
        self.cost += self.price.cost(read=read, write=rest if kept else 0.0, fresh=0.0 if kept else rest)
        self.read += read
        self.total += tokens
        self.peak = max(self.peak, tokens)
        self.requests += 1

    def fetch(self, tokens: float, context: float) -> float:
        """Dollars for fetching ``tokens`` again: written once, by one more request that reads ``context``."""
        return self.price.cost(read=context, write=tokens, fresh=0.0)
