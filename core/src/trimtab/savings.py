"""What a session saved so far: the provider's own usage beside what the unshortened conversation would have cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

from trimtab.cache import Cache
from trimtab.dialect import Usage
from trimtab.provider import Price

__all__ = ["Saved", "Savings"]

NEARLY = 0.95
"""The share of what should have been in the cache from which all of it was: chosen, for our count is not exact."""


@dataclass(frozen=True, slots=True)
class Saved:
    """Input of the requests that a usage was reported for, since the session was opened in this process.

    Tokens and dollars (0 where no price is known). ``sent`` is what the provider reported; ``unshortened`` is computed:
    the same requests with the conversation as it was said, in a cache that works as well as it did; ``asked`` is what
    the questions of stages took, answers included, as far as askers tell it, and is part of neither. The output of the
    session's own requests is in none of them.
    """

    requests: int = 0
    too_large: int = 0
    """Requests that would not have fit into the window."""
    sent_tokens: float = 0.0
    unshortened_tokens: float = 0.0
    asked_tokens: float = 0.0
    sent_dollars: float = 0.0
    unshortened_dollars: float = 0.0
    asked_dollars: float = 0.0

    @property
    def tokens(self) -> float:
        """Tokens saved, what was asked subtracted; may be negative."""
        return self.unshortened_tokens - self.sent_tokens - self.asked_tokens

    @property
    def dollars(self) -> float:
        """Dollars saved, what was asked subtracted; may be negative."""
        return self.unshortened_dollars - self.sent_dollars - self.asked_dollars

    def __add__(self, other: Saved) -> Saved:
        return Saved(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def as_dict(self) -> dict[str, Any]:
        """JSON-able, with what is left of it."""
        return {**asdict(self), "tokens": self.tokens, "dollars": self.dollars}


class Savings:
    """Adds up what `Saved` tells."""

    def __init__(self, cache: Cache, price: Price) -> None:
        self._cache = cache
        """What the provider would hold of the unshortened conversation."""
        self._price = price
        self._sums = Saved()

    @property
    def total(self) -> Saved:
        """So far."""
        return self._sums

    def request(
        self, usage: Usage, held: float, keys: Sequence[str], weights: Sequence[float], window: float, now: float
    ) -> None:
        """One answered request, and the same one unshortened.

        ``keys`` and ``weights`` describe the latter, in calibrated tokens; ``held`` is what of the former was probably
        in the cache.
        """
        ends = list(accumulate(weights))
        known = self._cache.held(keys, now)
        works = usage.read / held if usage.split and usage.read < NEARLY * held else 1.0
        read = works * ends[known - 1] if known else 0.0
        self._cache.sent(keys, weights, ends[-1], now)
        read_now, written = (usage.read, usage.written) if usage.split else (held, usage.total - held)
        fresh = usage.total - read_now - written
        rest = ends[-1] - read
        uncached = rest * fresh / (fresh + written) if fresh > 0 else 0.0  # as much of it as now
        cost, same = self._price.cost, ends[-1] <= usage.total * (1 + 1e-9)
        sent = cost(read=read_now, write=written, fresh=fresh)
        self._sums += Saved(
            requests=1,
            too_large=int(ends[-1] > window),
            sent_tokens=usage.total,
            unshortened_tokens=ends[-1],
            sent_dollars=sent,
            unshortened_dollars=sent if same else cost(read=read, write=rest - uncached, fresh=uncached),
        )

    def asked(self, usage: Usage, price: Price | None) -> None:
        """One question, at the price of the model that was asked; None: that of the session's."""
        price = price or self._price
        dollars = (
            price.cost(read=usage.read, write=usage.written, fresh=usage.fresh) + price.output * usage.output / 1e6
        )
        self._sums += Saved(asked_tokens=usage.total + usage.output, asked_dollars=dollars)
