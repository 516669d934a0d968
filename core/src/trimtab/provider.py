"""What the server can do and what it charges: the profile's `provider:` section over the table of known models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trimtab.parts import part

__all__ = ["Price", "Provider", "family_factor", "price_of", "resolve", "window_of"]

FEATURES = ("cache_edits", "compaction", "context_management", "drop_block")
"""What a profile may say that the server does."""

WINDOW = 200_000
"""Tokens assumed where neither the profile nor the table knows the model: the smallest window of today's models."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens. ``cliffs``: (prompt tokens, factor on the whole request) pairs."""

    input: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    cliffs: tuple[tuple[int, float], ...] = ()
    output: float = 0.0

    def cost(self, *, read: float, write: float, fresh: float) -> float:
        """Dollars for the input side of one request, given its tokens by kind."""
        total = read + write + fresh
        factor = max((factor for limit, factor in self.cliffs if total > limit), default=1.0)
        return factor * (read * self.cache_read + write * self.cache_write + fresh * self.input) / 1e6


@dataclass(frozen=True, slots=True)
class Provider:
    """The facts one profile works with; tokens and seconds."""

    model: str
    known: bool
    """Whether the table of models knows this one; if not, the defaults here and the profile decide."""
    window: int
    ttl: float
    minimum: int
    step: int
    """What is read from the cache is a multiple of it."""
    price: Price
    prefix_bound: bool
    """Thinking is bound to everything before it (R23)."""
    factor: float
    """Tokens of this model for one token of the counter, before calibration."""
    features: Mapping[str, Any] = field(default_factory=dict)
    """Server features that the profile switches on, with what it says of them."""


def family_factor(model: str) -> float | None:
    """Tokens of a model's family for one counted token; None for an unknown one."""
    found = part("models", "table")(model) if model else None
    return getattr(found, "factor", None)


def resolve(settings: Any) -> Provider:
    """The provider of a profile; every value that the profile states wins over the table."""
    model = part("models", "table")(settings.model)

    def fact(section: Any, name: str, default: Any) -> Any:
        stated = getattr(section, name, None)
        return getattr(model, name, default) if stated is None else stated

    ttl, price = fact(settings.cache, "ttl", 300.0), fact(settings, "price", None)
    return Provider(
        model=settings.model,
        known=model is not None,
        window=fact(settings, "window", 0) or WINDOW,
        ttl=ttl,
        minimum=fact(settings.cache, "minimum", 1024),
        step=fact(settings.cache, "step", 1),
        price=_price(price, ttl, fact(settings.price, "cliffs", ())),
        prefix_bound=fact(settings, "prefix_bound", False),
        factor=fact(settings, "factor", 1.2),
        features={name: on for name in FEATURES if (on := getattr(settings, name))},
    )


def _price(price: Any, ttl: float, cliffs: tuple[tuple[int, float], ...]) -> Price:
    """What the profile or the table says of prices, for one time to live of the cache."""
    write = "cache_write_1h" if ttl > 300.0 else "cache_write"
    return Price(price.input, price.cache_read, getattr(price, write), cliffs, price.output) if price else Price()


def price_of(model: str) -> Price | None:
    """The price of a model; None for an unknown one."""
    found = part("models", "table")(model) if model else None
    return _price(found.price, found.ttl, found.cliffs) if found is not None else None


def window_of(model: str) -> int | None:
    """The window of a model in tokens; None for an unknown one."""
    found: int | None = getattr(part("models", "table")(model) if model else None, "window", None)
    return found
