"""The hook: tells the model what the project's files say, once, and again where one says something else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, Field
from trimtab import Hook, HookOptions, Insert, Warn, hookimpl
from trimtab.texts import clean, cut, file_text, neutral

from trimtab_project_memory.files import found, root_of

if TYPE_CHECKING:
    from trimtab.edits import Anchor
    from trimtab.hookspecs import Source
    from trimtab.view import View

__all__ = ["ProjectMemory", "ProjectMemoryOptions"]

TAG = "project-memory"
_AGAIN = "; what it said before no longer holds"
_TOLD = re.compile(
    rf"The project's memory file (?P<name>.+) (?:says(?: \((?P<nth>\d+)\))?|now says \((?P<new>\d+)\){_AGAIN}):\n"
    rf"<{TAG}>\n(?P<said>(?s:.*))\n</{TAG}>"
)


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
        anchor: Anchor = "after_boundary" if source == "compact" else "tail" if view.answers else "system"
        folder = self.project.resolve()
        root, known = root_of(folder), _known(view)
        for path in found(folder, root, self.options.files):
            name = _spelled(path)
            try:
                text = file_text(path, root, self.options.bytes).strip()
            except (OSError, ValueError) as error:
                yield Warn(f"{name} was not read: {error.strerror if isinstance(error, OSError) else error}")
                continue
            said, cap = cut(_safe(text), self.options.lines, self.options.bytes)
            if not said or known.get(name) == said or (name not in known and said in known.values()):
                continue
            says = _says(view, anchor, name, said, other=name in known)
            known[name] = said
            if cap:
                yield Warn(f"{name} is cut at {cap}")
            yield Insert(anchor, f"The project's memory file {name} {says}:\n<{TAG}>\n{said}\n</{TAG}>")


def _known(view: View) -> dict[str, str]:
    """What the model is shown of each file: the newest text."""
    system = [text for text, _ in view.projection.state.inserts.get("system", ())]
    behind = [item.text for item in view if item.message is None and item.fold is None]
    return {told["name"]: told["said"] for text in (*system, *behind) if (told := _TOLD.fullmatch(text))}


def _says(view: View, anchor: Anchor, name: str, said: str, *, other: bool) -> str:
    """How a text is announced; ``other``: the model is shown another one of the same file.

    Numbered where it replaces one, and where it repeats one other than behind a boundary: nowhere else may the same
    text be inserted twice (R15).
    """
    all_told = filter(None, map(_TOLD.fullmatch, view.inserts))
    before = [(int(told["nth"] or told["new"] or 1), told["said"]) for told in all_told if told["name"] == name]
    if not before:
        return "says"
    number, last = max(before, key=itemgetter(0))  # what repeats the newest has no number or a higher one
    if other or said != last:
        return f"now says ({number + 1}){_AGAIN}"
    return "says" if anchor == "after_boundary" else f"says ({number + 1})"


def _spelled(path: Path) -> str:
    """A path on one line."""
    return _safe(" ".join(clean(str(path)).split()))


def _safe(text: str) -> str:
    """A text that cannot close the frame that it stands in, nor speak for the program that the model runs in."""
    return neutral(neutral(text, TAG), "system-reminder")
