"""The stage: notes in the background what happened, and folds the history into these notes when the window fills."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, ClassVar

from trimtab import Ask, Fold, Note, Stage, StageOptions
from trimtab.errors import AskFailed, TrimtabError
from trimtab.summary import scaled

from trimtab_session_memory.document import fitted, merged, parse
from trimtab_session_memory.fold import fold
from trimtab_session_memory.memory import Memory, note
from trimtab_session_memory.news import rounds_end
from trimtab_session_memory.options import MemoryOptions
from trimtab_session_memory.prompt import question, safe

if TYPE_CHECKING:
    from trimtab.errors import Overflow
    from trimtab.view import View

__all__ = ["SessionMemory"]

TOTAL = 12_000
"""Tokens of all sections on a window of 200k; one section may have a sixth of it (both the reference system's)."""
MOST = 4
"""Doublings of what must come before a model that fails is asked again: chosen."""
SHARES = (1.0, 0.5, 0.25)
"""Of the asked model's window: less where it says that a question is too long."""


class SessionMemory(Stage):
    """Keeps a memory of the session, and has it stand in for the history, without a question at that moment."""

    name: ClassVar[str] = "session-memory"
    Options: ClassVar[type[StageOptions]] = MemoryOptions
    options: MemoryOptions

    def __init__(self, options: Any = None) -> None:
        super().__init__(options)
        self._tried = ""
        """The newest message when a model was last asked: an answer that fails is not asked for again at once."""
        self._failures = 0
        """Answers in a row that failed: each doubles what must have come before the next question."""

    def propose(self, view: View) -> Generator[Fold, Any, None]:
        """One fold, where it brings the view below the target; in a manual pass whatever it frees."""
        yield from fold(view, view.tokens if view.trigger == "manual" else self._goal(view))

    def recover(self, view: View, overflow: Overflow) -> Generator[Fold, Any, None]:
        """The same fold whatever it frees; a second one finds nothing that the memory does not stand for already."""
        yield from fold(view, view.tokens)

    def _goal(self, view: View) -> float:
        """Tokens that a fold must leave the view below; where it would not, another stage can do more."""
        if self.options.target is not None:
            return view.window.tokens(self.options.target)
        over = [word.value for word in self.options.when.words if word.word == "over"]
        return min((view.window.tokens(value) for value in over if value is not None), default=view.window.auto)

    def observe(self, view: View) -> Generator[Note | Ask, Any, None]:
        """Have a model write into the memory what it does not cover yet, where that is enough.

        The model answers with the sections that change, not with all: what it writes costs several times what it
        reads, and a section that it never touches cannot be worn down by rewriting.
        """
        memory = Memory.of(view)
        if not view.asks or not self._due(view, memory):
            return
        path = view.projection.path
        end = rounds_end(path, view.projection.rounds)
        if end <= memory.start:
            return
        self._tried, self._failures = path[-1].id, self._failures + 1
        total = min(scaled(view, TOTAL), view.ask_window.effective / 3)
        each = total / 6
        for share in SHARES:
            ask, upto = question(view, memory, end, share, each, total)
            try:
                answer = yield ask
            except AskFailed as error:
                if error.overflow is None:
                    return
                continue
            new = parse(safe(answer))
            if not new:
                raise TrimtabError("the answer fills no section of the memory")
            self._tried, self._failures = "", 0
            yield note(fitted(merged(memory.sections, new), view.count, each, total), upto)
            return

    def _due(self, view: View, memory: Memory) -> bool:
        """Whether enough has come since the memory was written, and since a model was last asked for it."""
        options, path = self.options, view.projection.path
        start, times = memory.start, 1 << min(max(self._failures - 1, 0), MOST)
        if self._tried and view.on(self._tried):
            start = max(start, view.projection.conversation.nodes[self._tried].depth + 1)
        if not start:
            return view.tokens_after(0) >= scaled(view, options.first)
        if options.every is not None:
            return len(set(view.projection.rounds[start:]) - {-1}) >= times * options.every
        if view.tokens_after(start) < times * scaled(view, options.tokens):
            return False
        answers = (message for message in path[start:] if message.role == "assistant")
        calls = [sum(block.type == "tool_use" for block in message.blocks) for message in answers]
        return bool(calls) and (not calls[-1] or sum(calls) >= options.calls)
