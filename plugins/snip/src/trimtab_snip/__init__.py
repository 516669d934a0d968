"""The stage ``snip``: rounds go that a later call superseded, or that the model names."""

from __future__ import annotations

from trimtab import Stage, hookimpl

from trimtab_snip.options import SnipOptions
from trimtab_snip.stage import Snip

__all__ = ["Snip", "SnipOptions", "stage"]


@hookimpl
def stage() -> type[Stage]:
    """The stage's class."""
    return Snip
