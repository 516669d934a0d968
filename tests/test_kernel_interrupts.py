"""Passes that do not end: interrupted, cancelled, undone, handed back raw; and plugins that fail beside `propose`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from play import Play, call, edits, raw, rounds, says, shown, talk, user
from stages import ClearOld, FoldOld
from trimtab import Ask, ContextOverflow, Note, Stage, Tool
from trimtab.dialects.anthropic import validate
from trimtab.errors import Unknown

USAGE = {"usage": {"input_tokens": 5_000, "output_tokens": 10}}
SUB = [user("You are the helper."), *rounds(3, first=50)]
"""As many messages as ``talk(3)``."""


class Interrupted:
    """An asker that is interrupted as long as ``on``."""

    on = False

    def __call__(self, ask: Ask) -> str:
        """Raise, or answer."""
        if self.on:
            raise KeyboardInterrupt
        return "They read."


def asking(**more: Any) -> Play:
    """A session whose stage asks in each pass that is cold."""
    return Play(FoldOld, stages=[{"fold-old": {"when": "cold", "ask": True}}], ask=Interrupted(), **more)


def test_an_interrupted_pass_leaves_no_trace_in_another_conversation() -> None:
    """A sub-agent's pass is interrupted; the main conversation, of the same length, stays its own."""
    play = asking()
    main = play.send(talk(3))
    play.session.prepare(SUB[:3])
    play.ask.on = True
    play.now += 3_600
    with pytest.raises(KeyboardInterrupt):
        play.session.prepare(SUB)
    play.ask.on = False
    again = play.send(talk(3), later=0)
    assert "c50" not in shown(again)
    sub = play.session.prepare(SUB)
    assert "c50" in shown(sub) or "They read." in shown(sub)
    assert "c0.py" not in shown(sub)
    assert "c0" in shown(main)


def test_repairs_survive_an_interrupt() -> None:
    """What a pass that did not end mended is mended by the next one."""
    play = asking()
    play.send(talk(3))
    broken = [user("You are the helper."), *rounds(2, first=50), says(call("b0")), user("No result came.")]
    play.ask.on = True
    play.now += 3_600
    with pytest.raises(KeyboardInterrupt):
        play.session.prepare(broken)
    play.ask.on = False
    request = play.session.prepare(broken)
    assert [found for found in validate(request.messages) if found.certain] == []
    assert request.report.repairs == 1


def test_a_cancelled_task_changes_nothing() -> None:
    """An `aprepare` that is cancelled in its question: the next request is as if it had not been."""

    async def ask(question: Ask) -> str:
        await asyncio.sleep(60)
        return ""

    async def main() -> tuple[Any, Any]:
        play = Play(FoldOld, stages=[{"fold-old": {"when": "cold", "ask": True}}], ask=ask)
        before = play.send(talk(3))
        play.now += 3_600
        task = asyncio.create_task(play.session.aprepare(talk(3)))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        play.now -= 3_600
        return raw(before), raw(play.send(talk(3)))

    before, after = asyncio.run(main())
    assert before == after


def test_after_restore_the_view_is_there() -> None:
    """`restore` waits for the next request, and takes nothing away meanwhile."""
    play = Play(ClearOld, stages=[{"clear-old": {"when": "cold"}}])
    play.send(talk(5))
    play.cold(talk(5))
    play.session.restore(edits(play)[0]["decision"])
    assert play.session.view.tokens > 0
    with pytest.raises(ContextOverflow):
        play.session.recover(ValueError("prompt is too long: 300000 tokens > 200000 maximum"))
    with pytest.raises(Unknown, match="no decision 'x'"):
        play.session.restore("x")  # type: ignore[arg-type]


def test_off_hides_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """With TRIMTAB_OFF `recover` raises what the provider said."""
    monkeypatch.setenv("TRIMTAB_OFF", "1")
    play = Play()
    play.session.prepare(talk(1))
    with pytest.raises(ValueError, match="too long"):
        play.session.recover(ValueError("prompt is too long: 3 tokens > 2 maximum"))


def test_a_limit_belongs_to_its_model() -> None:
    """What one model was seen to take says nothing of another."""
    play = Play(provider={"window": 20_000, "model": "claude-opus-4-5"})
    play.send(talk(20))
    with pytest.raises(ContextOverflow):
        play.session.recover(ValueError("prompt is too long: 15000 tokens > 14000 maximum"))
    play.again()
    play.send(talk(2))
    assert play.session.window.window == 14_000
    play.overrides["provider"]["model"] = "claude-opus-4-6"
    play.again()
    play.send(talk(2))
    assert play.session.window.window == 20_000


class Bad(Stage):
    """Fails beside `propose`, each in the way that the test says."""

    name = "bad"
    how = ""

    def propose(self, view: Any) -> Iterator[Any]:
        """Nothing."""
        yield from ()

    def tags(self) -> bool:
        """Raise."""
        if self.how == "tags":
            raise RuntimeError("tags")
        return True

    def tools(self, view: Any) -> Any:
        """Raise, or give what is no tool."""
        if self.how == "tools":
            raise RuntimeError("tools")
        odd = {"dicts": [{"name": "x"}], "schema": [Tool("x", "", {"a": {1, 2}})], "name": [Tool("Read", "", {})]}
        return odd.get(self.how, [Tool("x", "", {})])

    def observe(self, view: Any) -> Iterator[Any]:
        """Never end, or note what is no note."""
        while self.how == "endless":
            yield Note("bad", 1)
        yield Note("bad", 1, 5 if self.how == "upto" else "")

    def call_tool(self, view: Any, name: str, input: Any) -> Any:
        """Never end."""
        while self.how == "endless":
            yield Note("bad", 1)
        return "done"


@pytest.mark.parametrize("how", ["tags", "tools", "dicts", "schema", "name", "endless", "upto"])
def test_a_stage_that_fails_elsewhere_costs_its_own_effect(how: str) -> None:
    """It is reported, requests go out, other stages decide, the agent's own tools are its own."""
    bad = type("Bad", (Bad,), {"how": how})
    play = Play(bad, ClearOld, stages=["bad", {"clear-old": {"when": "cold"}}], stage_tools=True)
    reports = [play.session.prepare(talk(5), tools=[{"name": "Read", "input_schema": {}}]).report]
    play.session.observe(USAGE)
    assert play.session.call_tool(call("r1", "Read")) is None
    answer = play.session.call_tool(call("x1", "x"))
    play.now += 3_600
    request = play.session.prepare(talk(5), tools=[{"name": "Read", "input_schema": {}}])
    reports.append(request.report)
    told = [line for report in reports for line in (*report.failures, *report.warnings) if "bad" in line]
    assert "clear-old" in [outcome.stage for outcome in request.report.decisions]
    assert bool(told) == (how != "name")
    assert (answer is None) == (how in ("tools", "dicts", "schema", "name"))
    assert answer is None or answer.get("is_error", False) == (how == "endless")


def test_an_executor_that_takes_no_more() -> None:
    """The agent goes on, it is told, and background work is tried again."""

    def closed(work: Any) -> None:
        raise RuntimeError("cannot schedule new futures after shutdown")

    play = Play(type("Bad", (Bad,), {}), stages=["bad"])
    play.session.background.submit = closed
    play.send(talk(2))
    play.session.observe(USAGE)
    assert "after shutdown" in play.send(talk(3)).report.warnings[0]
    play.session.background.submit = None
    play.session.observe(USAGE)
    assert play.session.notes() == {"bad": 1}


def test_tools_are_asked_for_once() -> None:
    """Also where there are none at first: one that came later would cost all that is cached."""
    late = type("Late", (Bad,), {"tools": lambda self, view: [Tool("x", "", {})] if len(view.messages) > 3 else []})
    play = Play(late, stages=["bad"], stage_tools=True)
    assert play.send(talk(1)).tools is None
    assert play.send(talk(3)).tools is None


def test_compact_goes_on_from_what_was_sent() -> None:
    """What the caller appended to his list since is not part of the last request."""
    play = Play(FoldOld, stages=["fold-old"])
    messages = talk(3)
    play.send(messages)
    messages.append(says("and more"))
    play.session.compact()
    assert len(play.session.view.projection.path) == 7
