"""The stage ``micro-compact``: old tool results are cleared, or shortened to a line and the names they hold."""

from __future__ import annotations

from trimtab import Stage, hookimpl

from trimtab_micro_compact.options import MicroOptions
from trimtab_micro_compact.stage import MicroCompact

__all__ = ["MicroCompact", "MicroOptions", "stage"]


@hookimpl
def stage() -> type[Stage]:
    """The stage's class."""
    return MicroCompact
