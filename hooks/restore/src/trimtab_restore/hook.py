"""The hook: behind a boundary it puts back what the model needs, the most important first, within its budgets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from trimtab import Hook, Insert, Warn, hookimpl
from trimtab.summary import scaled
from trimtab.texts import flat, size

from trimtab_restore import disk, records
from trimtab_restore.files import File, files
from trimtab_restore.history import history
from trimtab_restore.options import RestoreOptions
from trimtab_restore.words import framed, headed, safe

if TYPE_CHECKING:
    from trimtab.hookspecs import Source
    from trimtab.stage import HookOptions
    from trimtab.view import View

__all__ = ["Restore"]

SHARE = 0.25
"""Of the effective window, the most that all of it takes together on a window below 200k tokens (R19)."""
BYTES = 8
"""Bytes, or characters, of a token at most: what is larger is not even counted."""

LARGEST = 1_000_000
"""Bytes of a plan's file that are read from disk: chosen, far above any window."""
REFERENCES = "Files that were used before the summary and do not stand here; read them again if they are needed:"


class Thing(NamedTuple):
    """One insert: what it is, for a warning; its text; and the line that stands for it where that has no room."""

    what: str
    text: str
    line: str = ""


class Restore(Hook):
    """After a summary was made: instructions, plan, tasks, tools, skills and files, as they were said."""

    name: ClassVar[str] = "restore"
    Options: ClassVar[type[HookOptions]] = RestoreOptions
    options: RestoreOptions

    @hookimpl
    def session_start(self, source: Source, view: View) -> Iterator[Insert | Warn]:
        """Yield one insert for each thing that the view does not show any more.

        Raises `ProfileError` when a session starts and a folder of ``roots`` is not there.
        """
        if source != "compact":
            disk.check(self.project, self.options.roots if self.options.disk else ())
            return
        room = SHARE * view.window.effective if scaled(view, 1.0) < 1.0 else float("inf")
        there = {item.text for item in view.messages if item.message is None and item.fold is None}
        lines: list[str] = []
        for what, text, line in self._things(view):
            tokens = view.count(text) if text else 0.0
            if text in there or not (text or line):
                continue
            if text and tokens <= room:
                room -= tokens
                yield Insert("after_boundary", text)
            elif line:
                lines.append(line)
            else:
                yield Warn(f"{what} is not put back: about {tokens:,.0f} tokens, with room for {room:,.0f}")
        if lines and (text := framed(REFERENCES, "\n".join(lines))) not in there and view.count(text) <= room:
            yield Insert("after_boundary", text)

    def _things(self, view: View) -> Iterator[Thing]:
        """All that may be put back, the most important first."""
        options, deeds = self.options, history(view)
        known = files(deeds)
        if options.instructions:
            for text in records.instructions(view):
                yield Thing("an instruction", framed("Project instructions, as this conversation carried them:", text))
        if options.plan:
            yield from self._plan(records.plan(deeds, known))
        if options.todo:
            tasks, shown = records.todo(deeds)
            if tasks and not shown:
                yield Thing("the list of tasks", framed("The list of tasks, as it was kept last:", tasks))
        if options.discovery and (found := list(records.discovery(view, deeds))):
            title = "What was found out about tools, as it was said then:"
            yield Thing("what was found out about tools", framed(title, "\n\n".join(found)))
        yield from self._skills(view, records.skills(view, deeds, known))
        yield from self._files(view, known)

    def _plan(self, plan: tuple[str, bool] | File | None) -> Iterator[Thing]:
        if isinstance(plan, tuple) and not plan[1]:
            yield Thing("the plan", framed("The plan, as it was proposed last:", plan[0]))
        elif isinstance(plan, File) and not plan.shown:
            text, when = self._content(plan, LARGEST)
            title = f"The plan, from its file as it {when}: {plan.path}"
            yield Thing("the plan", framed(title, text) if text else "", "" if plan.named else reference(plan))

    def _skills(self, view: View, skills: list[records.Skill]) -> Iterator[Thing]:
        left = scaled(view, self.options.skills.total)
        for skill in skills:
            if skill.shown:
                continue
            title = f"A skill that was invoked before the summary, {skill.path}:"
            text = framed(title, headed(view, skill.text, scaled(view, self.options.skills.each), skill.path))
            if (tokens := view.count(text)) <= left:
                left -= tokens
                yield Thing(f"the skill {flat(skill.path, 100)}", text)

    def _files(self, view: View, known: list[File]) -> Iterator[Thing]:
        options = self.options.files
        each, left = scaled(view, options.each), scaled(view, options.total)
        wanted = [file for file in reversed(known) if not (file.shown or self._elsewhere(file.path))]
        for file in wanted[: options.count]:
            text, when = self._content(file, int(BYTES * each))
            whole = framed(f"This file as it {when}, put back after the summary: {file.path}", text)
            fits = text and len(text) <= BYTES * each and view.count(text) <= each and view.count(whole) <= left
            left -= view.count(whole) if fits else 0.0
            line = "" if file.named else reference(file)
            yield Thing(f"the file {flat(file.path, 100)}", whole if fits else "", line)

    def _elsewhere(self, path: str) -> bool:
        """Whether a file is put back as something else, or by another hook."""
        return records.is_memory(path) or records.is_skill(path) or (self.options.plan and records.is_plan(path))

    def _content(self, file: File, most: int) -> tuple[str, str]:
        """The content of a file and of when it is: from disk where that may be read, else from the conversation.

        Empty where there is none of at most about ``most`` bytes that can be relied on.
        """
        if self.options.disk and file.proof:
            there, text = disk.read(file.path, self.project, self.options.roots, self.options.deny, most)
            if there:
                return text if text and file.knows(text) else "", "is now"
        return file.current or "", "was last read or written (commands may have changed it since)"


def reference(file: File) -> str:
    """A line that names a file: how large it was, and why it does not stand here."""
    known = size(file.text) if file.text is not None else "never read as a whole"
    return safe(f"- {file.path}: {known}{', may have changed since' if file.stale else ''}")
