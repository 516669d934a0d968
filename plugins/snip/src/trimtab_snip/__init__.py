"""The stage ``snip``: read-only calls that were made again later go."""

from __future__ import annotations

from trimtab import Stage, hookimpl

from trimtab_snip.options import SnipOptions
from trimtab_snip.stage import Snip

__all__ = ["Snip", "SnipOptions", "stage"]


@hookimpl
def stage() -> type[Stage]:
    """The stage's class."""
    return Snip
