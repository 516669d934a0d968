"""The hook ``project-memory``: files that tell an agent about its project stand in the system text."""

from __future__ import annotations

from trimtab_project_memory.hook import ProjectMemory, ProjectMemoryOptions

__all__ = ["ProjectMemory", "ProjectMemoryOptions"]
