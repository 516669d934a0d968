"""Hazards H34 to H44: no valid summary, no change; pins and originals survive every path."""

from __future__ import annotations

import json
from typing import Any

import pytest
from play import Play, bare, decided, edits, raw, rounds, says, shown, talk, text, user, why
from stages import ClearOld, Do, DropOld, FoldOld, KeepWords
from trimtab import Ask, AskFailed, Fold, Scripted, Stage
from trimtab.errors import StorageError

ORDER = "You must never push to main without asking me."
BLANKS: list[Any] = ["", " \n ", None]
ASKING: dict[str, Any] = {"fold-old": {"when": "cold", "ask": True}}


def order() -> list[dict[str, Any]]:
    """A conversation whose second message gives a standing order."""
    return [user("Mend the parser."), says("I will."), user(text(ORDER), text("Go.")), *rounds(5)]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "  \n",
        "<function_calls>read</function_calls>",
        TimeoutError("slow"),
        AskFailed("cut off"),
        "x" * 90_000,
        "\ud83d",
    ],
    ids=["empty", "blank", "tool markup", "timeout", "cut off", "too long", "half a character"],
)
def test_H34_no_valid_summary_no_change(answer: Any) -> None:
    """An answer that cannot be a summary leaves the request as it was, object for object, and no row is written."""
    play = Play(FoldOld, stages=[ASKING], ask=Scripted(answer, "They read the parser."))
    messages = talk(5)
    play.send(messages)
    play.now += 3_600
    request = play.session.prepare(messages)
    assert all(new is old for new, old in zip(request.messages, messages, strict=True))
    assert decided(request) == []
    assert play.ledger.sessions() == []
    assert len(request.report.failures) == 1
    assert request.report.failures[0].startswith("fold-old: AskFailed")
    assert decided(play.cold(messages)) == ["fold-old"]


def test_H35_an_answer_without_its_sections_is_no_summary() -> None:
    """A text that lacks the sections asked for (an error message) is rejected; the stage may then say otherwise."""

    class Sections(FoldOld):
        """Falls back on words of its own."""

        name = "sections"

        def propose(self, view: Any) -> Any:
            """Ask for two sections."""
            run = view.messages[:-2]
            try:
                words = yield Ask("Summarise.", covers=run, sections=("## Goal", "## State"))
            except AskFailed as failed:
                words = f"No summary ({failed.what})."
            yield Fold(run, words)

    ask = Scripted("The service is overloaded", "## Goal\nmend\n## State\nread")
    play = Play(Sections, stages=[{"sections": {"when": "cold"}}], ask=ask)
    play.send(talk(5))
    assert "No summary (the answer lacks '## Goal')." in shown(play.cold(talk(5)))
    messages = [*talk(5), *rounds(5, first=20)]
    assert "## State" in shown(play.cold(messages))


def test_H36_an_empty_skeleton_is_refused() -> None:
    """Neither a blank text nor a blank run can stand for a history."""
    play = Play(Do, stages=[{"do": {"when": "cold"}}])
    Do.now = lambda view: [Fold(view.messages[:-2], words) for words in BLANKS]
    request = play.session.compact(talk(4))
    assert why(request, "do") == {"empty text": 3}
    assert request.messages == talk(4)


def test_H37_a_failing_stage_returns_the_same_list() -> None:
    """A stage that raises after it has folded half of the history has changed nothing."""

    class Half(Stage):
        """Folds, then fails."""

        name = "half"

        def propose(self, view: Any) -> Any:
            """One fold too early."""
            yield Fold(view.messages[:5], "Summary.")
            raise ConnectionError("gone")

    play = Play(Half, ClearOld, stages=[{"half": {"when": "cold"}}, {"clear-old": {"when": "cold", "keep": 4}}])
    messages = talk(5)
    play.send(messages)
    play.now += 3_600
    request = play.session.prepare(messages)
    assert request.report.failures == ["half: ConnectionError: gone"]
    assert decided(request) == ["clear-old"]
    assert "Summary." not in shown(request)


def test_H38_boundary_and_summary_are_recorded_together_or_not() -> None:
    """When the ledger cannot be written, neither is there: now, on the next request, and in the next process."""
    play = Play(FoldOld, stages=[{"fold-old": {"when": "cold"}}])
    messages = talk(5)
    play.send(messages)
    store: Any = play.ledger
    append = store.append

    def fails(*_: Any) -> None:
        raise StorageError("the disk is full")

    store.append = fails
    play.now += 3_600
    request = play.session.prepare(messages)
    assert request.report.failures == ["nothing was decided in this pass: StorageError: the disk is full"]
    assert all(new is old for new, old in zip(request.messages, messages, strict=True))
    assert not decided(request)
    store.append = append
    assert play.again(stages=[]).prepare(messages).messages == messages
    play.again()
    play.send(messages)
    assert decided(play.cold(messages)) == ["fold-old"]


def test_H39_only_what_was_summarised_goes() -> None:
    """When the summary of a long run fails and that of a shorter one succeeds, the rest stays as it is."""

    class Retry(Stage):
        """Asks about less and less."""

        name = "retry"

        def propose(self, view: Any) -> Any:
            """Leave out the oldest rounds until it works."""
            for first in range(3):
                run = view.rounds[first:-1]
                try:
                    words = yield Ask(f"From {first}", covers=run)
                except AskFailed:
                    continue
                yield Fold(run, words)
                return

    play = Play(Retry, stages=[{"retry": {"when": "cold"}}], ask=Scripted(OSError("too long"), "", "They read c2, c3."))
    messages = talk(5)
    play.send(messages)
    request = play.cold(messages)
    assert request.messages[:5] == messages[:5]
    assert "They read c2, c3." in str(request.messages[5])
    assert request.messages[6:] == messages[9:]


def keeps(play: Play, messages: list[Any], *, words: str = ORDER) -> None:
    """The pinned words stand in every request of every path, verbatim and once."""
    play.send(messages)
    for prepare in (play.cold, play.session.compact, play.cold):
        play.now += 5
        assert shown(prepare(messages)).count(words) == 1
    play.again()
    assert shown(play.send(messages)).count(words) == 1
    fork = [*messages[:-1], user("No, something else.")]
    assert shown(play.cold(fork)).count(words) == 1
    more = [*messages, *rounds(5, first=70)]
    assert shown(play.send(more)).count(words) == 1
    assert shown(play.cold(more)).count(words) == 1


@pytest.mark.parametrize("whole", [False, True], ids=["words", "block"])
@pytest.mark.parametrize("stage", [FoldOld, DropOld, ClearOld])
def test_H40_pins_survive_every_path(stage: type[Stage], whole: bool) -> None:
    """Automatic, manual, repeated, resumed, forked; folded, dropped, cleared: the order stays, verbatim and once."""
    hooks = [{"keep-words": {"words": ORDER, "whole": whole}}]
    keeps(Play(stage, KeepWords, stages=[{stage.name: {"when": "cold"}}], hooks=hooks), order())


def test_H41_no_kind_of_edit_forgets_the_pins() -> None:
    """A pinned result can be neither replaced nor dropped; a fold carries it behind its text."""
    play = Play(ClearOld, DropOld, FoldOld, KeepWords, hooks=[{"keep-words": {"words": "c1: The quick"}}])
    messages = talk(5)
    for stage in ("clear-old", "drop-old", "fold-old"):
        play.again(stages=[{stage: {"when": "cold"}}])
        request = play.session.compact(messages)
        assert request.report.decisions[-1].stage != "keep-words", stage
        assert "c1: The quick" in shown(request)
        assert why(request, stage).get("pinned", 0) == (stage != "fold-old")
    assert bare(request.messages[0]["content"][1:]) == [text("[A tool returned:]"), text("c1: The quick")]


def test_H42_each_reduction_says_what_it_took() -> None:
    """`explain` lists stage, reason, ids and sizes, and the way back opens and holds the original."""
    play = Play(ClearOld, DropOld, stages=[{"clear-old": {"when": "cold"}}, {"drop-old": {"when": "cold", "keep": 4}}])
    messages = talk(6)
    play.send(messages)
    request = play.cold(messages)
    rows = edits(play)
    assert {row["kind"] for row in rows} == {"drop", "replace"}
    for row in rows:
        assert row["why"] == "old"
        assert row["freed"] > 0
        assert row["decision"] in (1, 2)
        assert row["targets"]
        for path in row["way_back"]:
            stored = play.blobs.get(path.removeprefix("blob:")).decode()
            assert "The quick brown fox" in stored or json.loads(stored)["message"] in messages
    hidden = [message for message in messages if message not in request.messages]
    stored = {play.blobs.get(key).decode() for key in play.session.ledger.originals.values()}
    kept = [json.loads(data)["message"] for data in stored if data.startswith('{"parent"')]
    assert all(message in kept for message in hidden)
    assert len(hidden) == 6


def test_H44_the_chain_of_summaries_does_not_break() -> None:
    """The previous summary is part of the next one's input, and stays when the next one fails."""
    ask = Scripted("First: they read c0 to c3.", "", "Second: First and more.")
    play = Play(FoldOld, stages=[ASKING], ask=ask)
    messages = talk(5)
    play.send(messages)
    first = play.cold(messages)
    messages = [*messages, *rounds(4, first=20)]
    play.now += 3_600
    failed = play.session.prepare(messages)
    assert failed.report.failures
    assert raw(failed).startswith(raw(first)[:-1])
    assert "First: they read c0 to c3." in ask.asked[1].prompt
    assert "Second: First and more." in shown(play.cold(messages))
    assert "First: they read c0 to c3." in ask.asked[2].prompt
