"""The stage ``reactive-compact``: a smaller request after the provider refused one."""

from __future__ import annotations

from trimtab import Stage, hookimpl

from trimtab_reactive_compact.options import ReactiveOptions
from trimtab_reactive_compact.stage import ReactiveCompact

__all__ = ["ReactiveCompact", "ReactiveOptions", "stage"]


@hookimpl
def stage() -> type[Stage]:
    """The stage's class."""
    return ReactiveCompact
