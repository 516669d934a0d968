"""The usage that the provider would have reported for a smaller request than the recorded one."""

from __future__ import annotations

from dataclasses import replace

from trimtab.dialect import Usage

__all__ = ["reduced"]


def reduced(usage: Usage, known: float, new: float) -> Usage:
    """Take off what the request lacks: ``known`` tokens of what was sent before, ``new`` of what was not.

    The known ones would have been read from the cache, the new ones written to it; what a field cannot give,
    the next one does.
    """
    left = {"read": usage.read, "written": usage.written, "fresh": usage.fresh}
    for amount, order in ((known, ("read", "written", "fresh")), (new, ("written", "fresh", "read"))):
        for field in order:
            taken = min(amount, left[field])
            left[field] -= taken
            amount -= taken
    return replace(usage, read=left["read"], written=left["written"], fresh=left["fresh"])
