"""What is put back, how much of it, and from where."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from trimtab import Size
from trimtab.stage import HookOptions

__all__ = ["Files", "RestoreOptions", "Skills"]


def _listed(said: Any) -> Any:
    return [said] if isinstance(said, str) else said


Texts = Annotated[tuple[str, ...], BeforeValidator(_listed, list[str] | str)]


class Files(HookOptions):
    """Files that were read or edited last; sizes are those for a window of 200k tokens, in proportion below."""

    count: int = Field(default=5, ge=0)
    """So many; 0: none. (This and the sizes: public figures of Claude Code.)"""
    each: Size = 5_000
    """Tokens of one; a larger file becomes a line that names it."""
    total: Size = 50_000
    """Tokens of all."""


class Skills(HookOptions):
    """Skills that were invoked, newest first; sizes are those for a window of 200k tokens, in proportion below."""

    each: Size = 5_000
    """Tokens of one; of a larger one the beginning is kept."""
    total: Size = 25_000
    """Tokens of all; 0: none."""


class RestoreOptions(HookOptions):
    """The keys of ``restore`` in a profile."""

    files: Files = Files()
    """How many files, and how much of them."""
    skills: Skills = Skills()
    """How much of the skills."""
    plan: bool = True
    """The newest plan."""
    todo: bool = True
    """The newest list of tasks."""
    instructions: bool = True
    """What messages carried of CLAUDE.md and AGENTS.md."""
    discovery: bool = True
    """What tool searches found, and what MCP servers said of themselves."""
    disk: bool = False
    """Read files as they are now; else as the conversation holds them, unless they were changed since."""
    roots: Texts = ()
    """Folders below which files may be read from disk; the project's folder if none is named."""
    deny: Texts = ()
    """Globs of files that are never read from disk, beside those that hold secrets: ``*.sql``, ``private/**``."""
