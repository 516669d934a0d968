"""What stages do after an answer: notes for later requests, their questions asked while the agent goes on (R21)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from trimtab.ask import Ask
from trimtab.edits import Note
from trimtab.errors import AskFailed, told
from trimtab.hooks import BROKEN
from trimtab.pipeline import answered
from trimtab.stage import Stage
from trimtab.view import View

__all__ = ["Job", "Submit", "begin", "daemon"]

Submit = Callable[[Callable[[], None]], object]
"""Has a call done at some time, as `concurrent.futures.Executor.submit` does."""


def daemon(work: Callable[[], None]) -> None:
    """Do it in a thread that does not keep the process alive: what is not finished then was never begun."""
    threading.Thread(target=work, name="trimtab", daemon=True).start()


@dataclass(slots=True)
class Job:
    """One stage's `observe`: what it noted so far, and what is left to do."""

    stage: Stage
    view: View
    request: Any
    """The request that was answered: what a shared question follows."""
    notes: list[Note] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    """What a report should say of it."""
    _steps: Generator[Any, Any, Any] = field(init=False)
    _ask: Ask | None = None

    @property
    def asks(self) -> bool:
        """Whether a question is waiting."""
        return self._ask is not None

    def start(self) -> None:
        """Run to the first question. Raises what the stage raises."""
        proposals: Iterable[Any] = self.stage.observe(self.view)
        self._steps = proposals if isinstance(proposals, Generator) else (said for said in proposals)
        self._ask = self._next(None)

    def finish(self) -> Generator[Ask, Any, None]:
        """Ask what is to be asked; a stage that fails notes nothing."""
        try:
            while self._ask is not None:
                ask, view = self._ask, self.view
                answer: Any
                try:
                    answer = yield from answered(replace(ask, request=self.request) if ask.shared else ask, view)
                except AskFailed as error:
                    answer = error
                    if view.asks:
                        self.trouble.append(f"{self.stage.name}: no answer: {error}")
                self._ask = self._next(answer)
        except BROKEN as error:
            self.trouble.append(f"{self.stage.name}, in the background: {told(error)}")
            self.notes.clear()
        finally:
            self._steps.close()

    def _next(self, answer: Any) -> Ask | None:
        """Collect notes up to the next question; None at the end."""
        while True:
            try:
                said = self._steps.throw(answer) if isinstance(answer, AskFailed) else self._steps.send(answer)
            except StopIteration:
                return None
            except AskFailed:  # a stage may leave a failed question to us
                return None
            answer = None
            if isinstance(said, Ask):
                return said
            if isinstance(said, Note):
                self.notes.append(said)
            else:
                raise TypeError(f"observe may not yield {type(said).__name__}")


def begin(stages: Iterable[Stage], view: View, request: Any) -> list[Job]:
    """Start each stage's `observe` on a view that must not change any more."""
    jobs = []
    for stage in stages:
        job = Job(stage, view, request)
        try:
            job.start()
        except BROKEN as error:
            job.trouble.append(f"{stage.name}, in the background: {told(error)}")
            job.notes.clear()
        jobs.append(job)
    return jobs
