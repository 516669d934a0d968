"""The keys of `snip` in a profile."""

from __future__ import annotations

from typing import Literal

from trimtab import StageOptions

__all__ = ["SnipOptions"]


class SnipOptions(StageOptions):
    """Which calls go because of a later one."""

    mode: Literal["redundant"] = "redundant"
    """Who decides what goes: ``redundant``, rules that tell which read-only calls a later one superseded."""
    by: Literal["input", "tool"] = "input"
    """What the later call shares with it: tool and ``input``, or just the ``tool``, if that prints all there is."""
    tools: tuple[str, ...] = ()
    """Names of the tools whose calls may go; unless given, all that only read."""
