"""The hook: tells the model what the project's files say, once, and again where one says something else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, Field
from trimtab import Hook, HookOptions, Insert, Warn, hookimpl
from trimtab.texts import clean, cut, file_text

from trimtab_project_memory.files import found, root_of

if TYPE_CHECKING:
    from trimtab.hookspecs import Source
    from trimtab.view import View

__all__ = ["ProjectMemory", "ProjectMemoryOptions"]

_HEAD = re.compile(r"The project's memory file (.+) (?:says|now says \(\d+\); what it said before no longer holds):\n")


def _within(name: str) -> str:
    path = PurePath(name)
    if not path.name or path.is_absolute() or ".." in path.parts or name.startswith("~"):
        raise ValueError(f"{name!r} is no file of the project; write a name or a path below its folder, as AGENTS.md")
    return name


class ProjectMemoryOptions(HookOptions):
    """Which files, and how much of each."""

    files: tuple[Annotated[str, AfterValidator(_within)], ...] = ("CLAUDE.md", "AGENTS.md", "MEMORY.md")
    """Names, or paths below the folder, in the order in which they are told."""
    lines: int = Field(200, gt=0)
    """Lines of each file; the rest is left out, with a warning."""
    bytes: int = Field(25_000, gt=0)
    """Bytes (UTF-8) of each file, in whole lines; the rest is left out, with a warning."""


class ProjectMemory(Hook):
    """Puts the project's files into the system text, or behind what was said where that is fixed."""

    name: ClassVar[str] = "project-memory"
    Options: ClassVar[type[BaseModel]] = ProjectMemoryOptions
    options: ProjectMemoryOptions

    @hookimpl
    def session_start(self, source: Source, view: View) -> Iterator[Insert | Warn]:
        """What the model is not shown yet: in the system text before the first answer, later where it costs least."""
        anchor: Any = "after_boundary" if source == "compact" else "tail" if view.answers else "system"
        folder = self.project.resolve()
        root, known = root_of(folder), _known(view)
        for path in found(folder, root, self.options.files):
            name = _spelled(path)
            try:
                text = file_text(path, root, self.options.bytes).strip()
            except (OSError, ValueError) as error:
                yield Warn(f"{name} was not read: {error.strerror if isinstance(error, OSError) else error}")
                continue
            said, cap = cut(text, self.options.lines, self.options.bytes)
            if not said or known.get(name) == said or (name not in known and said in known.values()):
                continue
            known[name] = said
            if cap:
                yield Warn(f"{name} is cut at {cap}")
            yield Insert(anchor, f"{_head(view, name)}\n{said}")


def _known(view: View) -> dict[str, str]:
    """What the model is shown of each file: the newest text."""
    system = [text for text, _ in view.projection.state.inserts.get("system", ())]
    behind = [item.text for item in view if item.message is None and item.fold is None]
    heads = ((text, _HEAD.match(text)) for text in (*system, *behind))
    return {head[1]: text[head.end() :] for text, head in heads if head}


def _head(view: View, name: str) -> str:
    """The line above a text; numbered from the second time on, for the same text is never inserted twice (R15)."""
    times = sum((head := _HEAD.match(text)) is not None and head[1] == name for text in view.inserts)
    now = f"now says ({times + 1}); what it said before no longer holds" if times else "says"
    return f"The project's memory file {name} {now}:"


def _spelled(path: Path) -> str:
    """A path on one line."""
    return " ".join(clean(str(path)).split())
