"""What stages do after an answer: notes for later requests, their questions asked while the agent goes on (R21)."""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from trimtab.ask import Ask, Asker, adrive, drive
from trimtab.edits import Note
from trimtab.errors import AskFailed, TrimtabError, told
from trimtab.hooks import BROKEN, bounded
from trimtab.names import Names
from trimtab.pipeline import ASKS, answered
from trimtab.stage import Stage
from trimtab.view import View

if TYPE_CHECKING:
    from trimtab.engine import Engine

__all__ = ["Background", "Job", "Submit", "daemon"]

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
    asks: Ask | None = None
    """The question that waits."""
    _steps: Any = None

    def start(self) -> None:
        """Run to the first question; a stage that fails notes nothing."""
        try:
            said = self.stage.observe(self.view)
            self._steps = said if isinstance(said, Generator) else (one for one in said)
            self.asks = self._next(None)
        except BROKEN as error:
            self._failed(error)

    def finish(self) -> Generator[Ask, Any, None]:
        """Ask what is to be asked."""
        try:
            for _ in range(ASKS):
                if self.asks is None:
                    break
                ask = self.asks
                if self.request is not None:  # a copy: what an asker does to it is his own
                    ask = replace(ask, request=replace(self.request, messages=list(self.request.messages)))
                answer: Any
                try:
                    answer = yield from answered(ask, self.view)
                except AskFailed as error:
                    answer = error
                    if self.view.asks:
                        self.trouble.append(f"{self.stage.name}: no answer: {error}")
                self.asks = self._next(answer)
            else:
                raise TrimtabError(f"asks more than {ASKS} questions")
            if self._steps is not None:
                self._steps.close()
        except BROKEN as error:
            self._failed(error)

    def _failed(self, error: BaseException) -> None:
        self.asks = None
        self.notes.clear()
        self.trouble.append(f"{self.stage.name}, in the background: {told(error)}")

    def _next(self, answer: Any) -> Ask | None:
        """Collect notes up to the next question; None at the end."""
        for _ in bounded(iter(int, 1), self.view.projection):
            try:
                said = self._steps.throw(answer) if isinstance(answer, AskFailed) else self._steps.send(answer)
            except (AskFailed, StopIteration):  # a stage may leave a failed question to us
                return None
            answer = None
            if isinstance(said, Ask):
                return said
            if not isinstance(said, Note):
                raise TypeError(f"observe may not yield {type(said).__name__}")
            self.notes.append(said)
        return None


class Background:
    """The background work of one session: one piece at a time."""

    def __init__(self, session: Engine, submit: Submit | None, ask: Asker | None) -> None:
        self.session = session
        self.submit = submit
        """None: at once."""
        self.ask = ask
        self.trouble: list[str] = []
        """What the next report should say of it."""
        self._busy = False
        self._task: Any = None

    def told(self) -> list[str]:
        """What happened since the last call."""
        trouble, self.trouble = self.trouble, []
        return trouble

    def begin(self) -> list[Job]:
        """Start the stages' work on a view that stays as it is; what of it is left to do."""
        session = self.session
        stages = [one for one in session.plan.stages if type(one).observe is not Stage.observe and session.runs(one)]
        if self._busy or session.projection is None or not stages:
            return []
        context = replace(session.context, meter=copy.copy(session.meter), names=Names(), advise=lambda: None)
        jobs = [Job(stage, View(session.projection, context), session.request) for stage in stages]
        for job in jobs:
            job.start()
        jobs = [job for job in jobs if job.notes or job.trouble or job.asks]
        if jobs:
            session.projection = session.projection.copy()  # the jobs keep this one
            self._busy = True
        return jobs

    def go(self, jobs: list[Job]) -> None:
        """Have it done."""
        if not jobs:
            return
        try:
            if self.submit is None:
                self.work(jobs)
            else:
                self.submit(lambda: self.work(jobs))
        except Exception as error:  # an executor that takes no more work
            self._busy = False
            self.trouble.append(f"background work was not begun: {told(error)}")

    async def ago(self, jobs: list[Job]) -> None:
        """`go` for event loops: as a task of the running loop."""
        if jobs and self.submit is not None:
            self._task = asyncio.get_running_loop().create_task(self.awork(jobs))
        elif jobs:
            await self.awork(jobs)

    def work(self, jobs: list[Job]) -> None:
        """Do it."""
        try:
            for job in jobs:
                drive(job.finish(), self.ask)
                with self.session.lock:
                    self._took(job)
        finally:
            self._busy = False

    async def awork(self, jobs: list[Job]) -> None:
        """`work` for event loops."""
        try:
            for job in jobs:
                await adrive(job.finish(), self.ask)
                async with self.session.lock:
                    self._took(job)
        finally:
            self._busy = False

    def _took(self, job: Job) -> None:
        """Record what came of it, if the conversation still holds what it is about (H77)."""
        self.trouble += job.trouble
        tip = job.view.projection.path[-1].id
        try:
            notes = [Note(note.key, note.data, note.upto or tip) for note in job.notes]
            self.trouble += self.session.note(job.stage.name, notes, "background", since=job.view)
        except BROKEN as error:
            self.trouble.append(f"{job.stage.name}, in the background: {told(error)}")
