"""The keys of `snip` in a profile."""

from __future__ import annotations

from typing import Literal

from trimtab import Size, StageOptions

__all__ = ["SnipOptions"]


class SnipOptions(StageOptions):
    """Which rounds go: because of a later call, or because the model says so."""

    mode: Literal["model", "redundant"] = "redundant"
    """Who decides: ``redundant``, rules that tell what a later call superseded; or the agent's own ``model``."""
    by: Literal["input", "tool"] = "input"
    """``redundant``: the later call shares tool and ``input``, or just the ``tool``, if that prints all there is."""
    tools: tuple[str, ...] = ()
    """``redundant``: names of the tools whose calls may go; unless given, all that only read."""
    nudge: Size = 10_000
    """``model``: tokens of growth after which it is told what could go; 0: never."""
