"""Background work after an answer: notes, their questions, and what may go wrong (R21)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from play import Play, decided, says, talk, user
from trimtab import Ask, AskFailed, Note, Replace, Scripted, Session, Stage

USAGE = {"usage": {"input_tokens": 5_000, "output_tokens": 10}}


class Scribe(Stage):
    """Asks for a line about the conversation and notes it."""

    name = "scribe"
    shared = False

    def propose(self, view: Any) -> Iterator[Any]:
        """Nothing."""
        yield from ()

    def observe(self, view: Any) -> Iterator[Any]:
        """One question; the old line stays where the answer fails."""
        try:
            line = yield Ask("A line, please.", purpose="notes", shared=self.shared)
        except AskFailed:
            return
        yield Note("scribe", {"line": line, "of": len(view.messages)})


def play(*answers: Any, stage: type[Stage] = Scribe) -> Play:
    """A session with an asker that answers so."""
    return Play(stage, stages=[stage.name], ask=Scripted(*answers))


def test_a_note_is_there_with_the_next_request() -> None:
    """What was asked after an answer is in the ledger, for this process and the next."""
    one = play("They mend the parser.")
    one.send(talk(2))
    one.session.observe(USAGE)
    assert one.session.notes() == {"scribe": {"line": "They mend the parser.", "of": 5}}
    one.again()
    one.send(talk(3))
    assert one.session.view.notes("scribe")["of"] == 5


@pytest.mark.parametrize(
    "answer", ["", "Error: 529 overloaded", "I'm sorry, but I can't help with that.", "<invoke>", ValueError("boom")]
)
def test_a_bad_answer_changes_nothing_and_is_reported(answer: Any) -> None:
    """The old note stays; the next report says what went wrong."""
    one = play("First.", answer)
    one.send(talk(2))
    one.session.observe(USAGE)
    rows = len(one.session.ledger.decisions)
    one.send(talk(3))
    one.session.observe(USAGE)
    assert one.session.notes()["scribe"]["line"] == "First."
    assert len(one.session.ledger.decisions) == rows
    assert "scribe: no answer:" in one.send(talk(4)).report.warnings[0]


def test_without_anybody_to_ask_it_is_silent() -> None:
    """Nobody to ask is no failure."""
    one = Play(Scribe, stages=["scribe"])
    one.send(talk(2))
    one.session.observe(USAGE)
    assert one.send(talk(3)).report.warnings == []


def test_edits_are_not_for_the_background() -> None:
    """A stage that yields one there is reported, and notes nothing."""

    class Eager(Scribe):
        """Yields a Replace."""

        name = "eager"

        def observe(self, view: Any) -> Iterator[Any]:
            """A note, then an edit."""
            yield Note("eager", 1)
            yield Replace(view.results[0], "x")

    one = play(stage=Eager)
    one.send(talk(2))
    one.session.observe(USAGE)
    assert one.session.notes() == {}
    assert "observe may not yield Replace" in one.send(talk(3)).report.warnings[0]


def test_a_shared_question_follows_the_request_that_was_answered() -> None:
    """The asker gets the very messages that the provider has in its cache."""

    class Sharing(Scribe):
        """Shares."""

        name = "sharing"
        shared = True

    one = play("A line.", stage=Sharing)
    request = one.send(talk(2))
    one.session.observe(USAGE)
    assert one.ask.asked[0].request.messages == request.messages
    assert one.ask.asked[0].request.messages is not request.messages  # what an asker appends is his own


def test_H77_a_note_about_what_was_rewound_does_not_hold() -> None:
    """The conversation went another way while the question was out: the note is not valid there."""
    one = play("About the old way.")
    waiting: list[Callable[[], None]] = []
    one.session.background.submit = waiting.append
    one.send(talk(3))
    one.session.observe(USAGE)
    one.send([*talk(1), says("Stop."), user("Another way.")])
    waiting.pop()()
    assert one.session.notes() == {}
    one.send([*talk(1), says("Stop."), user("Another way."), says("Yes."), user("Go.")])
    assert one.session.view.notes("scribe") is None


def test_H76_what_came_meanwhile_stays() -> None:
    """Requests go on while the question is out; its note speaks of what it saw, and nothing else changes."""
    one = play("Two rounds.")
    waiting: list[Callable[[], None]] = []
    one.session.background.submit = waiting.append
    one.send(talk(2))
    one.session.observe(USAGE)
    later = one.send(talk(4))
    one.session.observe(USAGE)
    assert len(waiting) == 1  # single flight
    waiting.pop()()
    assert one.session.notes()["scribe"]["of"] == 5
    again = one.send(talk(4))
    assert again.messages == later.messages
    assert decided(again) == []


def test_a_late_answer_does_not_overwrite_what_changed_meanwhile() -> None:
    """The same note was written elsewhere (a user's edit) while the question was out: that one stays."""
    one = play("The first.", "The late one.")
    one.send(talk(2))
    one.session.observe(USAGE)
    waiting: list[Callable[[], None]] = []
    one.session.background.submit = waiting.append
    one.send(talk(3))
    one.session.observe(USAGE)
    other = one.open()
    other.prepare(talk(3))
    other.note("scribe", [Note("scribe", {"line": "By hand."})], "manual")
    waiting.pop()()
    request = one.send(talk(4))
    assert one.session.view.notes("scribe") == {"line": "By hand."}
    assert "a note was refused: changed meanwhile" in request.report.warnings[0]


def test_it_runs_in_a_thread_of_its_own() -> None:
    """By default `observe` returns at once and the work is done elsewhere."""
    done, name = threading.Event(), []

    def ask(question: Ask) -> str:
        name.append(threading.current_thread().name)
        return "A line."

    one = Play(Scribe, stages=["scribe"])
    session = Session.open("t", one.session.profile, ask=ask, ledger=one.ledger, blobs=one.blobs)
    took = session.background._took

    def note(job: Any) -> None:
        took(job)
        done.set()

    session.background._took = note  # type: ignore[method-assign]
    session.prepare(talk(2))
    session.observe(USAGE)
    assert done.wait(5)
    assert name == ["trimtab"]
    assert session.notes()["scribe"]["line"] == "A line."


def test_event_loops_have_tasks() -> None:
    """`aobserve` starts a task; an asker that is a coroutine answers there."""

    async def ask(question: Ask) -> str:
        await asyncio.sleep(0)
        return "Awaited."

    async def main() -> dict[str, Any]:
        one = Play(Scribe, stages=["scribe"])
        session = Session.open("a", one.session.profile, ask=ask, ledger=one.ledger, blobs=one.blobs)
        await session.aprepare(talk(2))
        await session.aobserve(USAGE)
        for _ in range(1_000):
            if session.notes():
                break
            await asyncio.sleep(0.001)
        return session.notes()

    assert asyncio.run(main())["scribe"]["line"] == "Awaited."
