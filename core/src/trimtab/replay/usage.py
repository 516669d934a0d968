"""The usage that the provider would have reported for a smaller request than the recorded one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["reduced"]

READ, WRITTEN, FRESH = "cache_read_input_tokens", "cache_creation_input_tokens", "input_tokens"


def reduced(usage: Mapping[str, Any], known: float, new: float) -> dict[str, Any]:
    """Take off what the request lacks: ``known`` tokens of what was sent before, ``new`` of what was not.

    The known ones would have been read from the cache, the new ones written to it; what a field cannot give,
    the next one does.
    """
    left = {field: float(usage.get(field) or 0) for field in (READ, WRITTEN, FRESH)}
    for amount, order in ((known, (READ, WRITTEN, FRESH)), (new, (WRITTEN, FRESH, READ))):
        for field in order:
            taken = min(amount, left[field])
            left[field] -= taken
            amount -= taken
    return {**left, "output_tokens": usage.get("output_tokens") or 0}
