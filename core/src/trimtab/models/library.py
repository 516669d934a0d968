"""Prices and windows of the models that our table lacks, from the data in the library genai-prices.

The library is imported when the first such model is asked for; its data are those of the installed version, never
fetched. It says nothing of caches but prices: the other facts are `DEFAULTS`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from trimtab.models.table import Cliffs, Model, Prices

__all__ = ["find"]

DEFAULTS: dict[str, Any] = {"minimum": 1_024, "ttl": 300.0, "factor": 1.2}
"""What is taken of a model of whose cache nothing is known: the vendors' usual minimum, their shortest time to live,
the factor of Claude before 4.7; hits to the token."""

KINDS = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok")


@lru_cache(maxsize=256)
def find(model: str) -> Model | None:
    """The model that the library knows by this id, or by a provider's path; None without the library, or a price.

    A price that depends on the date is today's, one that depends on the hour that of noon UTC. Where reading
    from the cache has no price it costs as much as sending, where writing has none as well.
    """
    found = _match(model) if model else None
    if found is None:
        return None
    version, provider, info = found
    prices = info.get_prices(datetime.now(UTC).replace(hour=12))
    input, output, read, write, long = (_base(getattr(prices, kind)) for kind in KINDS)
    if input is None:
        return None  # priced by the character, the hour or the page
    write = input if write is None else write
    price = Prices(input, output or 0.0, input if read is None else read, write, write if long is None else long)
    window = info.context_window or 0
    source = f"genai-prices {version} ({provider}: {info.id})"
    cliffs = _cliffs(prices.input_mtok)
    return Model(info.id, window, window, price, **DEFAULTS, cliffs=cliffs, source=source)


def _match(model: str) -> tuple[str, str, Any] | None:
    """The library's version, its provider's id and its model: by ``provider/model``, else by the name alone."""
    try:
        from genai_prices import __version__
        from genai_prices.data import providers
        from genai_prices.data_snapshot import DataSnapshot
    except ImportError:
        return None
    # A snapshot of our own: an application may have given the library one that it updates over the network.
    data = DataSnapshot(providers, from_auto_update=False)
    provider, _, name = model.partition("/")
    for reference, by in ((name, provider), (model.rpartition("/")[2], None)):
        try:
            found, info = data.find_provider_model(reference, None, by, None)
        except LookupError:
            continue
        return __version__, found.id, info
    return None


def _base(price: Any) -> float | None:
    return None if price is None else float(getattr(price, "base", price))


def _cliffs(price: Any) -> Cliffs:
    """The library's tiers price the whole request, as cliffs do.

    Ours are a factor on all kinds of input: that of plain input, which the other kinds follow in all but 12 of its
    2,330 models (0.2.3).
    """
    base = _base(price)
    return tuple((tier.start, float(tier.price) / base) for tier in getattr(price, "tiers", ()) if base)
