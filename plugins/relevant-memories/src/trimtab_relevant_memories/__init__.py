"""The stage ``relevant-memories``: memory files that bear on what the user says are inserted at the tail."""

from __future__ import annotations

from trimtab import Stage, hookimpl

from trimtab_relevant_memories.options import MemoriesOptions
from trimtab_relevant_memories.stage import RelevantMemories

__all__ = ["MemoriesOptions", "RelevantMemories", "stage"]


@hookimpl
def stage() -> type[Stage]:
    """The stage's class."""
    return RelevantMemories
