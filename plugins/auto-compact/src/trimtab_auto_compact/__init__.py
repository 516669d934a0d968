"""The stage ``auto-compact``: a summary in nine sections stands in for the history when the window fills."""

from __future__ import annotations

from trimtab import Stage, hookimpl

from trimtab_auto_compact.options import CompactOptions
from trimtab_auto_compact.stage import AutoCompact

__all__ = ["AutoCompact", "CompactOptions", "stage"]


@hookimpl
def stage() -> type[Stage]:
    """The stage's class."""
    return AutoCompact
