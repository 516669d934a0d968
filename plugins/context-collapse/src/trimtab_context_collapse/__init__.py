"""The stage ``context-collapse``: superseded reads point to the newest, runs of old rounds become notes."""

from __future__ import annotations

from trimtab import Stage, hookimpl

from trimtab_context_collapse.options import CollapseOptions
from trimtab_context_collapse.stage import ContextCollapse

__all__ = ["CollapseOptions", "ContextCollapse", "stage"]


@hookimpl
def stage() -> type[Stage]:
    """The stage's class."""
    return ContextCollapse
