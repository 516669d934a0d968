"""What the conversation holds beside files: skills, a plan, tasks, instructions, and what was found about tools."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from trimtab.texts import SMALL, answers, called, spelled

if TYPE_CHECKING:
    from trimtab.conversation import Block, Message
    from trimtab.view import View

    from trimtab_restore.files import File
    from trimtab_restore.history import Deed

__all__ = ["Skill", "discovery", "instructions", "is_memory", "is_plan", "is_skill", "plan", "skills", "todo"]

PLANS = ("exitplanmode", "updateplan")
LISTS = ("todowrite", "updateplan", "writetodos")
MARKS = {"cancelled": "-", "canceled": "-", "completed": "x", "done": "x", "in_progress": "~"}
TASKS = ("content", "step", "description", "title", "subject", "task", "text")

_SKILL = re.compile(r"\s*Base directory for this skill: (\S.*)")
_REMINDER = re.compile(r"<system-reminder>((?:(?!</?system-reminder>).)*)</system-reminder>", re.DOTALL)
_GIVEN = re.compile(
    r"^(?:# AGENTS\.md instructions\b.*|Contents of \S.*\b(?:CLAUDE|AGENTS)(?:\.\w+)?\.md\b.*|# claudeMd\b.*)$", re.M
)
_SERVERS = re.compile(r"^(?:# MCP Server Instructions\b.*|The following deferred tools\b.*)$", re.M)
_SEARCH = re.compile(r"tool_?search|(?:search|list|find|discover|load)_?tools?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill that was invoked."""

    path: str
    text: str
    shown: bool
    at: int
    """The place on the path where it was said last."""


def is_skill(path: str) -> bool:
    """Whether a file is a skill."""
    return _name(path) == "skill.md"


def is_memory(path: str) -> bool:
    """Whether a file is one that agents load by themselves."""
    return _name(path) in ("agents.md", "claude.local.md", "claude.md", "gemini.md", "memory.md")


def is_plan(path: str) -> bool:
    """Whether a file is a plan: Markdown in a folder ``plans``, or called ``plan.md``."""
    parts = PurePosixPath(path.replace("\\", "/").lower()).parts
    return parts[-1:] == ("plan.md",) or (path.lower().endswith(".md") and "plans" in parts[-2:-1])


def _name(path: str) -> str:
    return PurePosixPath(path.replace("\\", "/")).name.lower()


def skills(view: View, deeds: Iterable[Deed], files: Iterable[File]) -> list[Skill]:
    """All skills, the one invoked last first: as a message carried them, as a tool gave them, or as files were read."""
    found: dict[str, Skill] = {}
    for file in files:
        if is_skill(file.path) and (text := file.current):
            found[file.path] = Skill(file.path, text, file.shown, file.at)
    for deed in deeds:
        if deed.call.name.lower() == "skill" and len(deed.result.text) > SMALL and not deed.result.error:
            name = next((spelled(value) for value in deed.call.input.values()), "")
            found[name] = Skill(name, deed.result.text, deed.shown, deed.at)
    for message, block in _said(view):
        if match := _SKILL.match(block.text):
            name = posixpath.join(match[1].strip(), "SKILL.md")
            found[name] = Skill(name, block.text, bool(view.holds(block)), message.depth)
    return sorted(found.values(), key=lambda skill: -skill.at)


def plan(deeds: Sequence[Deed], files: Iterable[File]) -> tuple[str, bool] | File | None:
    """The newest plan: its text as a call said it, and whether the view shows that; or its file."""
    file = max((file for file in files if is_plan(file.path)), key=lambda file: file.at, default=None)
    for deed in reversed(deeds):
        text = deed.call.input.get("plan")
        if _plain(deed.call.name) in PLANS and isinstance(text, str) and text.strip():
            return file if file is not None and file.at > deed.at else (text, deed.shown)
    return file


def todo(deeds: Sequence[Deed]) -> tuple[str, bool]:
    """The newest list of tasks, and whether the view shows it; empty where none is open."""
    for deed in reversed(deeds):
        for given in deed.call.input.values():
            tasks = isinstance(given, list) and all(isinstance(one, Mapping) and "status" in one for one in given)
            if tasks and (given or _plain(deed.call.name) in LISTS):
                lines = [_task(one) for one in given]
                return ("" if all(line[3] in "x-" for line in lines) else "\n".join(lines)), deed.shown
    return "", False


def _task(task: Mapping[str, Any]) -> str:
    text = next((spelled(task[key]) for key in TASKS if key in task), "")
    return f"- [{MARKS.get(str(task['status']).lower(), ' ')}] {' '.join(text.split())}"


def _plain(tool: str) -> str:
    return tool.replace("_", "").lower()


def instructions(view: View) -> Iterator[str]:
    """What messages carried of CLAUDE.md and AGENTS.md and the view shows no more; of one file the newest."""
    return _carried(view, _GIVEN)


def discovery(view: View, deeds: Iterable[Deed]) -> Iterator[str]:
    """What tool searches found, and what MCP servers said of themselves, as far as the view shows it no more."""
    yield from _carried(view, _SERVERS)
    found = {deed.words: deed for deed in deeds if _SEARCH.search(deed.call.name) and not deed.result.error}
    for deed in found.values():
        if not deed.shown:
            yield "\n".join(filter(None, (called(deed.call), deed.result.text)))


def _carried(view: View, heading: re.Pattern[str]) -> Iterator[str]:
    """Reminders, and whole texts, that stand under a heading, by what stands in it; the newest of each."""
    found: dict[str, tuple[str, bool]] = {}
    for _, block in _said(view):
        parts = _REMINDER.findall(block.text) or [block.text]
        for part in map(str.strip, parts):
            match = heading.search(part)
            if match and (match.start() == 0 or part != block.text.strip()):
                found[match[0]] = part, bool(view.holds(block))
    return (part for part, shown in found.values() if not shown)


def _said(view: View) -> Iterator[tuple[Message, Block]]:
    """The texts of the user's role that come from no tool."""
    for message in view.projection.path:
        for block in message.blocks if message.role == "user" else ():
            if block.type == "text" and not answers(block):
                yield message, block
