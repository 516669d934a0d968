"""Odd words from providers, callers and plugins around recovery, tools and background work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from play import Play, call, talk
from stages import FoldOld
from trimtab import Ask, AskFailed, ContextOverflow, Evict, Fold, Overflow, Stage, Tool, hookimpl
from trimtab.edits import Note
from trimtab.errors import StorageError

USAGE = {"usage": {"input_tokens": 5_000, "output_tokens": 10}}


class Halve(Stage):
    """Folds half of the rounds."""

    name = "halve"

    def propose(self, view: Any) -> Iterator[Any]:
        """Nothing."""
        yield from ()

    def recover(self, view: Any, overflow: Overflow) -> Iterator[Any]:
        """The older half."""
        old = view.rounds[: len(view.rounds) // 2]
        if old:
            yield Fold([item for round in old for item in round.messages], "Half.")


def halving(**more: Any) -> Play:
    """A session that recovers."""
    return Play(Halve, **{"stages": ["halve"], **more})


def test_an_empty_answer_says_nothing_of_a_small_request() -> None:
    """Cut for length far below the window: no overflow; nor does a text without sizes narrow the window for good."""
    play = halving(provider={"kind": "openai", "window": 200_000})
    play.session.prepare([{"role": "user", "content": "Hi."}])
    empty = {"choices": [{"finish_reason": "length", "message": {"role": "assistant", "content": ""}}]}
    assert play.session.observe(empty) is False
    one = halving(provider={"window": 200_000})
    one.send(talk(20))
    one.session.recover(ValueError("prompt is too long"))
    one.session.observe({"usage": {"input_tokens": 150_000}})
    one.send(talk(24))
    assert one.session.window.window == 200_000


def test_an_empty_answer_of_the_sdk_is_read_alike() -> None:
    """The client's own object, without usage."""
    chat = pytest.importorskip("openai").types.chat
    play = halving(provider={"kind": "openai", "window": 200_000})
    play.session.prepare([{"role": "user", "content": "Hi."}])
    choice = {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": ""}}
    fields = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    assert play.session.observe(chat.ChatCompletion.model_validate(fields)) is False


def test_a_refused_feature_is_off_although_it_cannot_be_noted() -> None:
    """The disk is full: the same request is not sent with it again."""

    class Clearing(Halve):
        """Sets the parameter."""

        name = "clearing"

        def free(self, view: Any) -> Iterator[Any]:
            """One parameter."""
            from trimtab import Param

            yield Param("context_management", {"trigger": 100_000})

    play = Play(Clearing, stages=["clearing"], provider={"context_management": True})
    assert play.send(talk(3)).extra

    def full(*_: Any) -> None:
        raise StorageError("disk full")

    play.session.ledger.store.append = full  # type: ignore[method-assign]
    error = ValueError("400 context_management: Extra inputs are not permitted")
    assert play.session.recover(error).extra == {}
    with pytest.raises(ValueError, match="context_management"):
        play.session.recover(error)


@pytest.mark.parametrize(
    "told", ["1000000000000 tokens > 1000000000000", "1" + "0" * 400 + " tokens > 20000", "300 tokens > 200"]
)
def test_absurd_sizes_are_not_believed(told: str) -> None:
    """The next request goes out."""
    play = halving(provider={"window": 20_000})
    play.send(talk(20))
    with suppress(ContextOverflow):
        play.session.recover(ValueError(f"prompt is too long: {told} maximum"))
    assert play.session.prepare(talk(4)).report.tokens_after < 20_000
    assert play.session.window.window >= 1_000


def test_an_interrupted_compaction_leaves_no_instructions() -> None:
    """What was wanted of one summary does not go into the next."""
    prompts: list[str] = []

    class Telling(FoldOld):
        """Asks with the instructions."""

        name = "telling"

        def propose(self, view: Any) -> Iterator[Any]:
            """One fold."""
            prompts.append(f"{view.instructions}/{view.keep}")
            yield Fold(view.messages[:-2], (yield Ask("?", covers=view.messages[:-2])))

    def ask(question: Ask) -> str:
        raise KeyboardInterrupt

    play = Play(Telling, stages=[{"telling": {"when": "cold"}}], ask=ask)
    play.send(talk(5))
    with pytest.raises(KeyboardInterrupt) as held:
        play.session.compact(talk(5), instructions="SECRET", keep=1)
    play.now += 3_600
    with pytest.raises(KeyboardInterrupt):
        play.session.prepare(talk(6))
    assert held.value is not None
    assert prompts == ["SECRET/1", "/None"]


def test_questions_come_to_an_end() -> None:
    """A stage that asks for ever is stopped in the background and in a pass, and reported."""

    class Asking(Halve):
        """Asks and asks."""

        name = "asking"

        def observe(self, view: Any) -> Iterator[Any]:
            """For ever."""
            while True:
                with suppress(AskFailed):
                    yield Ask("x")

    asked: list[Ask] = []
    play = Play(Asking, stages=["asking"], ask=lambda ask: asked.append(ask) or "")
    play.send(talk(2))
    play.session.observe(USAGE)
    assert len(asked) == 100
    assert "asks more than 100 questions" in " ".join(play.send(talk(3)).report.warnings)


def test_what_was_asked_in_vain_is_not_asked_again_at_once() -> None:
    """A hook vetoes every summary: the model is asked once, and again only when the view has grown."""
    from trimtab import Hook, Veto

    class Never(Hook):
        """Vetoes."""

        name = "never"

        @hookimpl
        def post_compact(self, before: Any, after: Any, report: Any) -> Iterator[Any]:
            """Always."""
            if any(one.boundary for one in report.decisions):
                raise Veto("no")
            yield from ()

    asked: list[Ask] = []
    play = Play(
        FoldOld,
        Never,
        stages=[{"fold-old": {"when": {"over": 3_000}, "ask": True}}],
        hooks=["never"],
        ask=lambda ask: asked.append(ask) or "They read.",
        provider={"window": 100_000},
    )
    for n in range(8, 13):
        play.session.prepare(talk(n))
    assert len(asked) == 2  # at the first, and after 1,800 tokens


ODD: list[Any] = [("x", "", None), ("x", "", [1]), ("x y", "", {}), ("x", "\ud800", {}), ("", "", {})]


@pytest.mark.parametrize("given", ODD)
def test_tools_that_no_provider_takes_are_not_offered(given: Any) -> None:
    """Reported, and the request goes out."""
    odd = type("Odd", (Halve,), {"name": "odd", "tools": lambda self, view: [Tool(*given)]})
    play = Play(odd, stages=["odd"], stage_tools=True)
    request = play.session.prepare(talk(2))
    assert request.tools is None
    assert "no provider takes the tool" in request.report.failures[0]


def test_errors_that_cannot_be_read_come_back() -> None:
    """Properties that raise, bodies that hold themselves, odd shapes."""

    class NastyError(Exception):
        """Everything about it raises."""

        def __str__(self) -> str:
            raise RuntimeError("no words")

        @property
        def status_code(self) -> int:
            """Raise."""
            raise RuntimeError("no status")

    play = halving()
    play.send(talk(3))
    error = NastyError()
    with pytest.raises(NastyError):
        play.session.recover(error)
    loop = ValueError("odd")
    loop.body = {}  # type: ignore[attr-defined]
    loop.body["error"] = loop.body  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="odd"):
        play.session.recover(loop)


def test_what_another_process_made_smaller_is_smaller() -> None:
    """The recovery finds the work done, and gives the request out."""
    play = Play(FoldOld, stages=[{"fold-old": {"when": "cold"}}], provider={"window": 16_000})
    play.send(talk(20))
    other = play.open()
    other.compact(talk(20))
    request = play.session.recover(ValueError("prompt is too long: 17000 tokens > 16000 maximum"))
    assert len(request.messages) < 41


def test_a_rewind_moves_no_deletion_and_no_tag() -> None:
    """What was sent with deletions and tags in one place is sent so again, after an earlier point was tried anew."""

    class Both(Stage):
        """Evicts all but two results, and wants tags."""

        name = "both"

        def propose(self, view: Any) -> Iterator[Any]:
            """Evictions."""
            for one in view.results[:-2]:
                if not one.evicted:
                    yield Evict(one, "[gone]")

        def tags(self) -> bool:
            """Yes."""
            return True

    play = Play(Both, stages=["both"], provider={"cache_edits": True}, stage_tools=True)
    play.send(talk(4))
    for n in (6, 9):
        last = play.send(talk(n))
    play.send(talk(5))
    again = play.send(talk(9))
    gone, there = (list(enumerate(request.messages)) for request in (last, again))
    assert len(gone) == len(there)
    for (_, before), (_, after) in zip(gone, there, strict=True):
        edits = [edit for block in before["content"] if block["type"] == "cache_edits" for edit in block["edits"]]
        assert all(str(edit) in str(after) for edit in edits)
        assert str(after).count("[id:") == str(before).count("[id:")


def test_the_callers_tool_is_the_callers() -> None:
    """Also if it came after a stage's of the same name; what we offered and he hands back is ours."""

    class Offering(Halve):
        """Has a tool."""

        name = "offering"

        def tools(self, view: Any) -> list[Tool]:
            """One."""
            return [Tool("lookup", "Ours.", {"type": "object"})]

        def call_tool(self, view: Any, name: str, input: Any) -> Any:
            """Answer."""
            yield Note("offering", 1)
            return "ours"

    play = Play(Offering, stages=["offering"], stage_tools=True)
    request = play.send(talk(1))
    play.send(talk(2), tools=request.tools)
    assert play.session.call_tool(call("l", "lookup"))["content"] == "ours"
    play.send(talk(3), tools=[{"name": "lookup", "input_schema": {"type": "object"}}])
    assert play.session.call_tool(call("l", "lookup")) is None


def test_deleted_tokens_are_no_overflow() -> None:
    """What evictions took out of the cache is not part of what the model was shown."""
    play = halving(provider={"window": 20_000, "cache_edits": True})
    play.send(talk(20))
    usage = {"input_tokens": 1_000, "cache_read_input_tokens": 20_000, "cache_deleted_input_tokens": 15_000}
    assert play.session.observe({"usage": usage}) is False
