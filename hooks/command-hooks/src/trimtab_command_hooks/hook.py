"""The hook: calls the commands of an event and hands what they want to the kernel."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import ClassVar

from trimtab import Guide, Hook, Insert, Pin, Report, Session, TrimtabError, Veto, View, Warn, hookimpl
from trimtab.edits import Anchor
from trimtab.hookspecs import Source, Trigger
from trimtab.texts import first, flat

from trimtab_command_hooks.answers import Answer, answer
from trimtab_command_hooks.options import Command, Group, Options
from trimtab_command_hooks.running import Ran, run
from trimtab_command_hooks.words import VARIABLES, line, resolved

__all__ = ["CommandHooks"]

NAMED = 80
"""Characters of a command in a warning. Chosen."""


class CommandHooks(Hook):
    """Users' executables, by the events of Claude Code; a pass waits for them."""

    name: ClassVar[str] = "command-hooks"
    Options: ClassVar[type[Options]] = Options
    _session = ""
    """The session's id: session_start comes first in every process."""

    def runs(self) -> Sequence[Sequence[str]]:
        """All command lines of the profile."""
        options = self.options
        groups = (*options.pre_compact, *options.post_compact, *options.session_start)
        return [self._argv(command) for command in _commands(groups)]

    @hookimpl
    def pre_compact(self, view: View, trigger: Trigger) -> Iterator[Pin | Guide | Warn]:
        """PreCompact: guidance for the summariser, pins, or a veto."""
        if trigger == "first_send" and not self.options.first_send:
            return
        more = {**_triggered(trigger), "custom_instructions": view.instructions}
        answers = self._call("PreCompact", self.options.pre_compact, more["trigger"], view, more)
        yield from _warnings(answers)
        _veto(answers)
        for title, said in answers:
            if said.text:
                yield Guide(said.text)
            for words, reason in said.pins:
                if _holds(view, words):
                    yield Pin(words, reason or title)
                else:
                    yield Warn(f"{title}: not pinned, these words are nowhere: {first(words, NAMED)!r}")

    @hookimpl
    def post_compact(self, before: View, after: View, report: Report) -> Iterator[Warn]:
        """PostCompact: what it writes is shown, or a veto."""
        if all(decision.free for decision in report.decisions) and not self.options.first_send:
            return
        more = {**_triggered(after.trigger), "compact_summary": after.summary if after.compacted else ""}
        answers = self._call("PostCompact", self.options.post_compact, more["trigger"], before, more)
        yield from _warnings(answers)
        _veto(answers)
        for title, said in answers:
            if said.text:
                yield Warn(f"{title}: {said.text}")

    @hookimpl
    def session_start(self, session: Session, source: Source, view: View) -> Iterator[Insert | Warn]:
        """SessionStart: what it writes reaches the model."""
        self._session = session.id
        anchor: Anchor = "tail" if source == "resume" or view.answers else "system"
        anchor = "after_boundary" if source == "compact" else anchor
        more = {"source": source, "model": session.profile.provider.model}
        answers = self._call("SessionStart", self.options.session_start, source, view, more)
        yield from _warnings(answers)
        for title, said in answers:
            if said.blocked is not None:
                yield Warn(f"{title}: {said.blocked or 'blocked'}; nothing can be blocked here")
            elif said.text:
                yield Insert(anchor, said.text)

    # ------------------------------------------------------------------

    def _call(
        self, event: str, groups: Iterable[Group], word: str, view: View, more: Mapping[str, str]
    ) -> list[tuple[str, Answer]]:
        """Run the event's commands at the same time: title and answer of each, in the order of the profile."""
        commands = _commands(group for group in groups if group.matches(word))
        if not commands:
            return []
        with tempfile.TemporaryDirectory(prefix="trimtab-", ignore_cleanup_errors=True) as place:
            transcript = Path(place, "transcript.jsonl")
            self._write(transcript, view)
            base = {"session_id": self._session, "transcript_path": str(transcript), "cwd": str(self._project)}
            given = json.dumps({**base, "hook_event_name": event, **more}).encode()
            env = os.environ | dict.fromkeys(VARIABLES, str(self._project))
            ran = _together(commands, lambda command, stop: self._run(command, given, env, stop))
        return [(_title(event, command), answer(event, one)) for command, one in zip(commands, ran, strict=True)]

    def _run(self, command: Command, given: bytes, env: Mapping[str, str], stop: Event) -> Ran:
        argv = self._argv(command)
        try:
            self.check(argv)
        except TrimtabError as error:
            return Ran(trouble=str(error))
        return run(argv, given, command.timeout, self.folder.absolute(), env, stop)

    @property
    def _project(self) -> Path:
        return self.project.absolute()

    def _argv(self, command: Command) -> list[str]:
        if command.shell:
            return line(command.command[0], self._project)
        return resolved(command.command, self.folder.absolute(), self._project)

    def _write(self, path: Path, view: View) -> None:
        """The conversation as said, one record a line, as Claude Code's transcripts wrap messages."""
        with path.open("w", encoding="ascii") as file:
            for said in view.projection.path:
                record = {"type": said.role, "uuid": said.id, "sessionId": self._session, "message": said.wire}
                file.write(json.dumps(record, default=str) + "\n")


def _triggered(trigger: Trigger) -> dict[str, str]:
    return {"trigger": "manual" if trigger == "manual" else "auto", "trimtab_trigger": trigger}


def _commands(groups: Iterable[Group]) -> list[Command]:
    """The commands of some groups, equal ones once."""
    found: dict[object, Command] = {}
    for group in groups:
        for command in group.hooks:
            found.setdefault((command.command, command.shell), command)
    return list(found.values())


def _together(commands: Sequence[Command], call: Callable[[Command, Event], Ran]) -> list[Ran]:
    """Run them in a thread each; where the user interrupts, they are ended first."""
    stop = Event()
    with ThreadPoolExecutor(len(commands), "command-hooks") as pool:
        try:
            return list(pool.map(lambda command: call(command, stop), commands))
        except BaseException:
            stop.set()
            raise


def _title(event: str, command: Command) -> str:
    said = command.command[0] if command.shell else shlex.join(command.command)
    return f"{event} {flat(said, NAMED)}"


def _warnings(answers: Iterable[tuple[str, Answer]]) -> Iterator[Warn]:
    return (Warn(f"{title}: {text}") for title, said in answers for text in said.warnings)


def _veto(answers: Iterable[tuple[str, Answer]]) -> None:
    """Raise `Veto` with the reasons of all commands that block; of such a call only warnings count."""
    if blocked := [f"{title}: {said.blocked or 'blocked'}" for title, said in answers if said.blocked is not None]:
        raise Veto("; ".join(blocked))


def _holds(view: View, words: str) -> bool:
    """Whether the view holds these words in a text or a result, as said, or they are pinned behind a summary."""
    block = view.projection.block
    if any(words in (pin.text or block(pin.block).text) for pin in view.pins):
        return True
    messages = (item.message for item in view.messages if item.message is not None)
    blocks = (block for message in messages for block in message.blocks if block.type in ("text", "tool_result"))
    return any(words in block.text for block in blocks)
