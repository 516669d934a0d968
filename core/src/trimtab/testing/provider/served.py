"""The log: what was asked, what was answered, what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["Billed", "Served", "billed"]


class Price(Protocol):
    """Dollars per million tokens; the prices of `trimtab.models` are one."""

    @property
    def input(self) -> float: ...
    @property
    def output(self) -> float: ...
    @property
    def cache_read(self) -> float: ...
    @property
    def cache_write(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Billed:
    """Tokens: read from the cache, written to it, neither of both (fresh), and answered."""

    read: int = 0
    written: int = 0
    fresh: int = 0
    output: int = 0

    def __add__(self, other: Billed) -> Billed:
        return Billed(
            self.read + other.read,
            self.written + other.written,
            self.fresh + other.fresh,
            self.output + other.output,
        )

    @property
    def hit_rate(self) -> float:
        """The share of all input that was read from the cache; 0 where there was none."""
        total = self.read + self.written + self.fresh
        return self.read / total if total else 0.0

    def cost(self, price: Price) -> float:
        """Dollars, at ``price`` per million tokens; all writes at the price of the short time, without cliffs."""
        return (
            self.read * price.cache_read
            + self.written * price.cache_write
            + self.fresh * price.input
            + self.output * price.output
        ) / 1_000_000


@dataclass(slots=True)
class Served:
    """One request and what came of it.

    ``api`` is one of messages, count_tokens, models, chat, responses, …; ``body`` the JSON as received ({} where there
    was none), ``error`` the error's body (also one sent in a stream), ``response`` the whole answer as JSON, also of a
    stream; ``started`` the provider's clock at the request's start, in epoch seconds; header names are in lower case.
    """

    api: str
    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    started: float
    status: int = 0
    error: Mapping[str, Any] | None = None
    usage: Mapping[str, Any] | None = None
    response: Mapping[str, Any] | None = None
    billed: Billed = Billed()


def billed(log: Iterable[Served]) -> Billed:
    """The sum over the log."""
    return sum((served.billed for served in log), Billed())
