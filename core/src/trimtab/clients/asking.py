"""What all askers share: time-outs, cancellation, a limit of questions at a time, progress, and clear failures.

An asker answers the questions of a session's stages (``Session.open(ask=…)``). One with a synchronous client is for
`prepare`, one with an asynchronous client for `aprepare`.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from typing import Any, Literal
from weakref import WeakKeyDictionary

from trimtab.ask import Ask
from trimtab.background import daemon
from trimtab.clients.question import Progress, Question
from trimtab.errors import AskFailed, Overflow, told

__all__ = ["LIMIT", "TIMEOUT", "Asking", "CallableAsker", "Progress", "Question"]

TIMEOUT = 60.0
"""Seconds that an answer may take, waiting included: chosen. A summary of several thousand tokens may need more."""
LIMIT = 2
"""Questions at a time: chosen, one of the pass and one in the background."""
UNNAMED = "a callable"
"""The model of a callable that sees no request: another one than the session's, so it is asked about a text."""
TOLD = 500
"""Characters of another's error that a failure repeats at most: chosen."""


class Asking:
    """The base of askers; a subclass answers one `Question` in `answer`.

    ``model``: see `named`. ``asynchronous``: `answer` is a coroutine function. ``timeout``: seconds that an answer may
    take where the `Ask` does not say. ``limit``: questions at a time; those above it wait, within their time.
    ``progress`` is called with each `Progress`, from the thread that answers; what it raises is ignored.

    A call returns what `answer` returned, an `Answer` as a rule, and raises `AskFailed` for whatever went wrong.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        asynchronous: bool,
        timeout: float = TIMEOUT,
        limit: int = LIMIT,
        progress: Callable[[Progress], object] | None = None,
    ) -> None:
        self.model = model
        self.asynchronous = asynchronous
        self.timeout = timeout
        self.limit = limit
        self.progress = progress
        self._slots = threading.BoundedSemaphore(limit)
        self._by_loop: WeakKeyDictionary[Any, asyncio.Semaphore] = WeakKeyDictionary()

    def answer(self, question: Question) -> Any:
        """The answer, calling `Question.came` with each piece of it; any exception is a failure."""
        raise NotImplementedError

    def named(self, ask: Ask) -> str:
        """The model for a question: as the profile says, else the asker's, else the session's; raises `AskFailed`."""
        model = ask.model or self.model or (ask.request.parameters.get("model") if ask.request is not None else "")
        if not model:
            raise AskFailed("no model to ask: name it in the profile (ask.model), or as the asker's model")
        return str(model)

    def __call__(self, ask: Ask) -> Any:
        """Answer; raises `AskFailed`."""
        if self.asynchronous:
            try:
                asyncio.get_running_loop()
            except RuntimeError:
                raise AskFailed("this asker's client is asynchronous: here it takes a synchronous one") from None
        question = Question(ask, self.timeout if ask.timeout is None else ask.timeout, self.progress)
        if self.asynchronous:
            return self._in_loop(question)
        try:
            return self._in_thread(question)
        finally:
            question.end("failed")

    def _in_thread(self, question: Question) -> Any:
        """In a thread of its own, for no call of a synchronous client can be ended from without.

        One that is late is left alone: it ends at the next piece of its answer, or by its client's own time-out, and
        takes its place among the `limit` until then.
        """
        if not self._slots.acquire(timeout=question.left):
            raise AskFailed(f"not asked within {question.seconds:g} s: {self.limit} other questions are being answered")
        done: Future[Any] = Future()
        context = contextvars.copy_context()  # R22: also in that thread a client must see that it is an asker's

        def work() -> None:
            try:
                done.set_result(context.run(self.answer, question))
            except BaseException as error:
                done.set_exception(error)
            finally:
                self._slots.release()

        try:
            daemon(work)
        except BaseException:  # no thread to be had
            self._slots.release()
            raise
        wait([done], question.left)
        if not done.done():
            raise question.late()
        try:
            answer = done.result()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # that of another thread, which ends nothing here
            failed = _failed(error)
            raise failed from failed.__cause__
        question.end("done")
        return answer

    async def _in_loop(self, question: Question) -> Any:
        """As part of the caller's task: where that is cancelled, so is the client's call."""
        slots = self._by_loop.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self.limit))
        try:
            async with asyncio.timeout(question.left) as time_left, slots:
                answer = await self.answer(question)
            question.end("done")
            return answer
        except (Exception, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise  # the caller's own; else something that the answer waited for was cancelled
            failed = question.late() if time_left.expired() else _failed(error)
            raise failed from failed.__cause__
        finally:
            question.end("failed")


class CallableAsker(Asking):
    """Has any callable answer: ``call(prompt)``, or with ``takes="ask"`` ``call(ask)``, returns a text or an `Answer`.

    ``call`` may be an ``async def`` (then for `aprepare`). One that takes the prompt alone is asked about texts, for it
    cannot see the request that a question might follow.
    """

    def __init__(
        self,
        call: Callable[[Any], str | Awaitable[str]],
        *,
        takes: Literal["prompt", "ask"] = "prompt",
        timeout: float = TIMEOUT,
        limit: int = LIMIT,
        progress: Callable[[Progress], object] | None = None,
    ) -> None:
        asynchronous = any(map(inspect.iscoroutinefunction, (call, getattr(call, "__call__", None))))  # noqa: B004
        model = UNNAMED if takes == "prompt" else None
        super().__init__(model, asynchronous=asynchronous, timeout=timeout, limit=limit, progress=progress)
        self.call = call
        self.takes = takes

    def answer(self, question: Question) -> Any:
        """What the callable returns."""
        ask = question.ask
        if self.takes == "ask":
            return self.call(ask)
        if ask.shared or ask.native:
            failed = AskFailed("a callable that takes the prompt alone does not see a request")
            failed.overflow = Overflow(0.0, 0.0)  # the stage may ask again with what it is about as a text
            raise failed
        return self.call(ask.prompt)


def _failed(error: BaseException) -> AskFailed:
    """A failure with the client's words in it, and its error as the cause, which may tell of an overflow."""
    if isinstance(error, AskFailed):
        return error
    failed = AskFailed(f"the asked model's client said: {told(error)[:TOLD]}")
    failed.__cause__ = error
    return failed
