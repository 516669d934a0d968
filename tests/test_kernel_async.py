"""`aprepare`: the same passes in event loops, with waiting, cancelling and calling back."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from play import Play, bare, decided, raw, rounds, talk, user
from stages import Budget, ClearOld, FoldOld
from trimtab import Ask, Scripted

ASKING: list[Any] = [{"fold-old": {"when": "cold", "ask": True}}]
ALL: list[Any] = [*ASKING, {"clear-old": {"when": "cold"}}, "budget"]


def scenario(*answers: Any) -> tuple[list[str], list[Any]]:
    """The bytes of a few requests and what was decided, sync."""
    play = Play(FoldOld, ClearOld, Budget, stages=ALL, ask=Scripted(*answers))
    requests = []
    for n, later in enumerate((5, 3_600, 5, 3_600)):
        play.now += later
        requests.append(play.session.prepare(talk(4 + n)))
    return [raw(request) for request in requests], [decided(request) for request in requests]


async def ascenario(*answers: Any) -> tuple[list[str], list[Any]]:
    """The same with `aprepare` and an asker that has to be awaited."""
    scripted = Scripted(*answers)

    async def ask(question: Ask) -> str:
        await asyncio.sleep(0)
        return scripted(question)

    play = Play(FoldOld, ClearOld, Budget, stages=ALL, ask=ask)
    requests = []
    for n, later in enumerate((5, 3_600, 5, 3_600)):
        play.now += later
        requests.append(await play.session.aprepare(talk(4 + n)))
    return [raw(request) for request in requests], [decided(request) for request in requests]


@pytest.mark.parametrize(
    "answers", [("First.", "Second."), (OSError("x"), "Second."), ("", "")], ids=["good", "one", "none"]
)
def test_the_async_twin_does_the_same(answers: tuple[Any, ...]) -> None:
    """`aprepare` drives the same pass: the same bytes, the same decisions."""
    sync = scenario(*answers)
    assert asyncio.run(ascenario(*answers)) == sync
    assert any("fold-old" in names for names in sync[1]) == any(isinstance(a, str) and a for a in answers)


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """An event loop of its own, which may not hang."""

    async def bounded() -> Any:
        return await asyncio.wait_for(work, 5)

    return asyncio.run(bounded())


def test_an_asker_that_calls_its_session() -> None:
    """It is told so, in whatever way it calls, and waits for nothing."""

    async def scene() -> None:
        told: list[str] = []

        async def ask(question: Ask) -> str:
            calls: list[Any] = [
                lambda: play.session.aprepare(talk(1)),
                lambda: asyncio.to_thread(play.session.prepare, talk(1)),
                lambda: asyncio.create_task(play.session.aprepare(talk(1))),
            ]
            for one in calls:
                try:
                    await one()
                except Exception as error:
                    told.append(str(error))
            return "Fine."

        play = Play(FoldOld, stages=ASKING, ask=ask)
        await play.session.aprepare(talk(5))
        play.now += 3_600
        request = await play.session.aprepare(talk(5))
        assert "fold-old" in decided(request)
        assert len(told) == 3
        assert len(set(told)) == 1
        assert "a pass of this session is running" in told[0]

    run(scene())


def test_a_cancelled_pass_leaves_nothing_behind() -> None:
    """Cancelled while it asks, or while it waits for its turn: the next request finds the session as it was."""

    async def scene() -> None:
        answer = asyncio.Event()

        async def ask(question: Ask) -> str:
            await answer.wait()
            return "Fine."

        play = Play(FoldOld, Budget, stages=[*ASKING, "budget"], ask=ask)
        before = await play.session.aprepare(talk(5))
        play.now += 3_600
        asking = asyncio.create_task(play.session.aprepare(talk(5)))
        await asyncio.sleep(0.01)
        waiting = asyncio.create_task(play.session.aprepare(talk(6)))
        await asyncio.sleep(0.01)
        for task in (waiting, asking):
            assert not task.done()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert len(play.session.ledger.decisions) == 1
        play.session = play.open(stages=["budget"])
        assert raw(await play.session.aprepare(talk(5))) == raw(before)
        answer.set()
        play.session = play.open()
        await play.session.aprepare(talk(5))
        play.now += 3_600
        assert "fold-old" in decided(await play.session.aprepare(talk(5)))

    run(scene())


def test_tasks_take_turns() -> None:
    """Many tasks on one session: one pass at a time, each with its own answer, none lost."""

    async def scene() -> None:
        inside = 0

        async def ask(question: Ask) -> str:
            nonlocal inside
            inside += 1
            assert inside == 1
            await asyncio.sleep(0.001)
            inside -= 1
            return "Fine."

        play = Play(FoldOld, Budget, stages=[*ASKING, "budget"], ask=ask)
        play.now += 3_600
        threads = [[user(f"Task {n}."), *rounds(5, first=100 * n)] for n in range(8)]
        requests = await asyncio.gather(*(play.session.aprepare(messages) for messages in threads))
        for n, request in enumerate(requests):
            assert request.report.failures == []
            assert request.messages[-2] == threads[n][-2]
        for messages, request in zip(threads, requests, strict=True):
            assert bare((await play.session.aprepare(messages)).messages) == bare(request.messages)

    run(scene())
