"""The stage ``session-memory``: a document kept up to date in the background stands in for the history."""

from __future__ import annotations

from trimtab import Stage, hookimpl

from trimtab_session_memory.options import MemoryOptions
from trimtab_session_memory.stage import SessionMemory

__all__ = ["MemoryOptions", "SessionMemory", "stage"]


@hookimpl
def stage() -> type[Stage]:
    """The stage's class."""
    return SessionMemory
