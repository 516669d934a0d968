"""What all askers share: time-outs, cancellation, the limit, progress, failures; callables stand for clients."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from trimtab.ask import Answer, Ask, asking, drive
from trimtab.clients.asking import Asking, CallableAsker, Progress, Question
from trimtab.errors import AskFailed


class Pieces(Asking):
    """Answers in pieces, with a pause between them; keeps whether its work was told to end."""

    def __init__(self, *pieces: str, pause: float = 0.0, **given: Any) -> None:
        super().__init__(**{"asynchronous": False, **given})
        self.pieces, self.pause = pieces, pause
        self.ended = threading.Event()

    def answer(self, question: Question) -> Any:
        if self.asynchronous:
            return self._later(question)
        try:
            for piece in self.pieces:
                time.sleep(self.pause)
                question.came(piece)
            return Answer("".join(self.pieces))
        except AskFailed:
            self.ended.set()
            raise

    async def _later(self, question: Question) -> Answer:
        for piece in self.pieces:
            await asyncio.sleep(self.pause)
            question.came(piece)
        return Answer("".join(self.pieces))


def test_prompt_and_ask() -> None:
    """A callable is given the prompt, or the whole question."""
    assert CallableAsker(lambda prompt: prompt.upper())(Ask("why")) == "WHY"
    assert CallableAsker(lambda ask: ask.purpose, takes="ask")(Ask("why", purpose="notes")) == "notes"


def test_an_answer_is_handed_through() -> None:
    """What came beside the text is kept."""
    answer = CallableAsker(lambda _: Answer("yes", usage={"input_tokens": 7}))(Ask("why"))
    assert (answer, answer.usage) == ("yes", {"input_tokens": 7})


def test_a_prompt_alone_follows_no_request() -> None:
    """A shared question to a callable that sees the prompt alone fails so that the stage asks about it as a text."""
    with pytest.raises(AskFailed, match="does not see a request") as caught:
        CallableAsker(str)(Ask("why", shared=True))
    assert caught.value.overflow is not None


def test_coroutines_are_awaited() -> None:
    """An async callable answers in an event loop, and says so where there is none."""

    async def later(prompt: str) -> str:
        return prompt + "!"

    async def main() -> Any:
        return await CallableAsker(later)(Ask("why"))

    assert asyncio.run(main()) == "why!"
    with pytest.raises(AskFailed, match="asynchronous: here it takes a synchronous one"):
        CallableAsker(later)(Ask("why"))


def test_no_answer_in_time() -> None:
    """A late answer is a failure at once, and its work ends at its next piece."""
    asker, began = Pieces("a", "b", pause=0.12, timeout=0.05), time.monotonic()
    with pytest.raises(AskFailed, match=r"no answer within 0\.05 s"):
        asker(Ask("why"))
    assert time.monotonic() - began < 0.11
    assert asker.ended.wait(2)


def test_the_questions_own_time() -> None:
    """The time of an `Ask` goes before the asker's."""
    with pytest.raises(AskFailed, match=r"within 0\.02 s"):
        Pieces("a", pause=0.2, timeout=60)(Ask("why", timeout=0.02))
    assert Pieces("a", pause=0.03, timeout=0.001)(Ask("why", timeout=5)) == "a"


def test_no_answer_in_time_in_a_loop() -> None:
    """The same for event loops; a time-out of the callable's own is told as its own."""

    async def impatient(_: str) -> str:
        raise TimeoutError("mine")

    async def main() -> None:
        with pytest.raises(AskFailed, match=r"no answer within 0\.05 s \(1 characters of it had come\)"):
            await Pieces("a", "b", pause=0.04, timeout=0.05, asynchronous=True)(Ask("why"))
        with pytest.raises(AskFailed, match="TimeoutError: mine"):
            await CallableAsker(impatient)(Ask("why"))

    asyncio.run(main())


def test_cancelling_the_task_ends_the_call() -> None:
    """Where the caller's task is cancelled, so is what it waits for, and the place is free again."""
    seen: list[Progress] = []
    ended: list[str] = []

    async def slow(prompt: str) -> str:
        try:
            await asyncio.sleep(0 if prompt == "quick" else 30)
        except asyncio.CancelledError:
            ended.append(prompt)
            raise
        return prompt

    async def main() -> str:
        asker = CallableAsker(slow, limit=1, progress=seen.append)
        task = asyncio.ensure_future(asker(Ask("slow")))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert seen[-1].state == "failed"
        return str(await asker(Ask("quick")))

    assert asyncio.run(main()) == "quick"
    assert ended == ["slow"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_two_at_a_time(asynchronous: bool) -> None:
    """Of many questions at once no more than the limit are under way."""
    now: list[int] = [0]
    most: list[int] = []
    lock = threading.Lock()

    def count(by: int) -> None:
        with lock:
            now[0] += by
            most.append(now[0])

    def answer(prompt: str) -> str:
        count(1)
        time.sleep(0.01)
        count(-1)
        return prompt

    async def later(prompt: str) -> str:
        count(1)
        await asyncio.sleep(0.01)
        count(-1)
        return prompt

    async def main() -> list[Any]:
        asker = CallableAsker(later)
        return await asyncio.gather(*(asker(Ask(str(n))) for n in range(6)))

    if asynchronous:
        answers = asyncio.run(main())
    else:
        asker, answers = CallableAsker(answer), []
        threads = [threading.Thread(target=lambda n=n: answers.append(asker(Ask(str(n))))) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(answers) == [str(n) for n in range(6)]
    assert max(most) == 2


def test_waiting_counts_as_time() -> None:
    """A question that gets no place in its time says so; a late one holds its place until its work has ended."""
    go = threading.Event()
    asker = CallableAsker(lambda _: str(go.wait(5)), limit=1, timeout=0.05)
    with pytest.raises(AskFailed, match="no answer within"):
        asker(Ask("one"))
    with pytest.raises(AskFailed, match="1 other questions are being answered"):
        asker(Ask("two"))
    go.set()
    assert asker(Ask("three", timeout=5)) == "True"


def test_progress() -> None:
    """Each question tells when it begins, each piece, and how it ends."""
    seen: list[Progress] = []
    Pieces("ab", "c", progress=seen.append)(Ask("why", purpose="notes"))
    assert [(one.purpose, one.state, one.characters) for one in seen] == [
        ("notes", "begun", 0),
        ("notes", "answering", 2),
        ("notes", "answering", 3),
        ("notes", "done", 3),
    ]
    seen.clear()
    with pytest.raises(AskFailed):
        CallableAsker(lambda _: 1 / 0, progress=seen.append)(Ask("why"))  # type: ignore[arg-type,return-value]
    assert [one.state for one in seen] == ["begun", "failed"]


def test_a_broken_display_costs_no_answer() -> None:
    """What a progress callback raises is ignored."""

    def broken(_: Progress) -> None:
        raise ValueError

    assert Pieces("a", progress=broken)(Ask("why")) == "a"


def test_an_error_is_the_cause() -> None:
    """The client's error is told, cut to a size, and is the cause of the failure."""
    with pytest.raises(AskFailed, match="ValueError: xxx") as caught:
        CallableAsker(lambda _: (_ for _ in ()).throw(ValueError("x" * 9_000)))(Ask("why"))
    assert isinstance(caught.value.__cause__, ValueError)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("error", [SystemExit(3), asyncio.CancelledError(), GeneratorExit()])
def test_what_ends_the_askers_work_does_not_end_the_agent(error: BaseException) -> None:
    """In a thread or in a task of its own: it is a failure like others; a cancelled agent is cancelled all the same."""

    def stop(prompt: str) -> str:
        raise error

    async def wait(prompt: str) -> str:
        work = asyncio.ensure_future(asyncio.sleep(30))
        work.cancel()
        return str(await work)

    with pytest.raises(AskFailed, match=type(error).__name__):
        CallableAsker(stop)(Ask("why"))

    async def main() -> None:
        with pytest.raises(AskFailed, match="CancelledError"):
            await CallableAsker(wait)(Ask("why"))

    asyncio.run(main())


def test_R22_the_question_is_seen_in_its_thread() -> None:
    """A client that looks whether it is an asker's finds so, though it runs in another thread."""
    seen: list[Any] = []

    def answer(prompt: str) -> str:
        seen.append((threading.current_thread() is threading.main_thread(), asking.get()))
        return prompt

    def steps() -> Any:
        return (yield Ask("why"))

    assert drive(steps(), CallableAsker(answer)) == "why"
    assert seen == [(False, Ask("why"))]
