"""`StageContract`: a greedy stage of a stranger breaks no promise, and every kind of misconduct is caught."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import Phase
from trimtab import Ask, AskFailed, Drop, Fold, Insert, Note, Replace, Stage, StageOptions, View
from trimtab.testing import StageContract
from trimtab.testing import contract as contracts
from trimtab.testing.stage_contract import WHENS

COUNT = itertools.count()


class Greedy(Stage):
    """A stranger's stage: whatever there is, it replaces, leaves out and folds it, pinned or not."""

    name = "greedy"

    def propose(self, view: View) -> Any:
        for item in view.messages:
            for block in item.message.blocks if item.message else ():
                yield Replace(block, ".", "everything")
        for round in view.rounds:
            yield Drop(round, "everything")
        for turn in view.turns:
            yield Drop(turn, "everything")
        for end in range(len(view.messages), 0, -1):
            yield Fold(view.messages[:end], "Something was said.", "everything")


class TestGreedy(StageContract):
    """It need not even know that there are pins, turns or thinking."""

    stage = Greedy


class Summarise(Stage):
    """Asks for a summary of all but the last ``keep`` messages."""

    name = "summarise"

    class Options(StageOptions):
        """How many stay."""

        keep: int = 4
        """Messages that stay."""

    def propose(self, view: View) -> Any:
        for end in range(self.options.keep, self.options.keep + 3):
            run = view.messages[:-end]
            if len(run) < 4:
                return
            try:
                text = yield Ask("Summarise.", covers=run, sections=("## Goal",))
            except AskFailed:
                return
            yield Fold(run, text, "old")
            if any(item.fold for item in view.messages):
                return


class TestSummarise(StageContract):
    """A stage that asks a model."""

    stage = Summarise
    options: ClassVar[dict[str, int]] = {"keep": 3}


def results(show: Callable[[Any], Any]) -> Callable[[Any, View], Any]:
    """A `propose` that shows every result as what ``show`` makes of it."""

    def propose(self: Any, view: View) -> Any:
        for result in view.results:
            if not result.replaced:
                yield Replace(result, show(result), "all")

    return propose


def failing(self: Any, view: View) -> Any:
    """Breaks at the third result."""
    yield Note("seen", view.results[2].id)


def restless(self: Any, view: View) -> Any:
    """Shortens what it shortened before."""
    for result in view.results:
        yield Replace(result, result.shown_text[: len(result.shown_text) // 2], "shorter still")


def noting(self: Any, view: View) -> Any:
    """Notes something in every pass."""
    yield Note("passes", (view.notes("passes") or 0) + 1)


def meddling(self: Any, view: View) -> Any:
    """Changes a message instead of proposing to."""
    for item in view.messages:
        if item.message and isinstance(item.message.wire["content"], list):
            item.message.wire["content"].reverse()
    yield from ()


def noticing(self: Any, view: View) -> Any:
    """Writes into the notes that the view hands out."""
    view.projection.state.notes["mine"] = True
    yield from ()


def slow(self: Any, view: View) -> Any:
    """Dawdles over each result."""
    time.sleep(0.0003 * len(view.results))
    yield from ()


def stubborn(self: Any, view: View) -> Any:
    """Folds without the summary that it did not get."""
    run = view.messages[:-4]
    try:
        yield Ask("Summarise.", covers=run)
    except AskFailed:
        for end in range(4, 8):
            yield Fold(view.messages[:-end], "Something was said.", "no answer")


def waiting(self: Any, view: View) -> Any:
    """Stands on the floor of everything: half a character and a block that is nowhere."""
    yield Replace("nowhere.0", "x")
    yield Insert("tail", "half \ud83d")


CAUGHT = [
    ("failing", failing, "test_never_fails"),
    ("unknown-block", waiting, "test_never_fails"),
    ("clock-in-text", results(lambda result: f"[cleared at {result.view.now}]"), "test_same_view_same_edits"),
    ("wall-clock", results(lambda result: f"[cleared at {time.time():.0f}]"), "test_looks_at_nothing_but_the_view"),
    ("counter", results(lambda result: f"[cleared, number {next(COUNT)}]"), "test_same_view_same_edits"),
    ("chance", results(lambda result: "[cleared]" * random.randint(1, 2)), "test_looks_at_nothing_but_the_view"),
    ("seeded", results(lambda result: f"[{random.Random().random()}]"), "test_same_view_same_edits"),
    ("reads-files", results(lambda result: Path(__file__).read_text()[:9]), "test_looks_at_nothing_but_the_view"),
    ("restless", restless, "test_proposes_nothing_twice"),
    ("noting", noting, "test_proposes_nothing_twice"),
    ("meddling", meddling, "test_leaves_the_view_alone"),
    ("noticing", noticing, "test_leaves_the_view_alone"),
    ("half", results(lambda result: result.text[:12]), "test_shows_clean_text"),
    ("slow", slow, "test_is_fast"),
    ("stubborn", stubborn, "test_bad_answers_change_nothing"),
    ("Loud_Name", results(lambda result: "."), "test_name_is_that_of_an_entry_point"),
]


class Undocumented(StageOptions):
    """Says nothing of its key."""

    keep: int = 2


def contract(name: str, propose: Any, **more: Any) -> StageContract:
    """The contract of a stage that proposes so."""
    stage = type("Made", (Stage,), {"name": name, "propose": propose, **more})
    return type("TestMade", (StageContract,), {"stage": stage, "seconds": 0.5})()


@pytest.mark.parametrize(("name", "propose", "test"), [pytest.param(*case, id=case[0]) for case in CAUGHT])
def test_misconduct_is_caught(name: str, propose: Any, test: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind by the test that is meant for it."""
    monkeypatch.setattr(contracts, "PHASES", (Phase.generate,))  # to shrink takes minutes
    method = getattr(contract(name, propose), test)
    dialects = any(mark.args[0] == "dialect" for mark in getattr(method, "pytestmark", ()))
    with pytest.raises(AssertionError):
        method("anthropic") if dialects else method()


def test_undocumented_options_are_caught() -> None:
    """A key without a docstring, and a model without one."""
    with pytest.raises(AssertionError, match="keep"):
        contract("made", noting, Options=Undocumented).test_options_are_documented()
    bare = type("Bare", (StageOptions,), {"__annotations__": {}})
    with pytest.raises(AssertionError, match="Bare"):
        contract("made", noting, Options=bare).test_options_are_documented()


def test_a_test_is_overridden_only_as_an_expected_failure() -> None:
    """With a reason; a body of one's own, a skip, or None instead of the test is caught."""

    class Honest(TestGreedy):
        @pytest.mark.xfail(reason="a thousand results take it a minute")
        def test_is_fast(self, dialect: str) -> None:
            super().test_is_fast(dialect)

    class Weak(TestGreedy):
        def test_is_fast(self, dialect: str) -> None:
            pass

    class Skipped(TestGreedy):
        @pytest.mark.skip(reason="slow")
        def test_is_fast(self, dialect: str) -> None:
            pass

    class Reasonless(TestGreedy):
        @pytest.mark.xfail
        def test_is_fast(self, dialect: str) -> None:
            pass

    class Gone(TestGreedy):
        test_is_fast = None

    Honest().test_no_test_is_weakened()
    for weak in (Weak, Skipped, Reasonless, Gone):
        with pytest.raises(AssertionError, match="test_is_fast"):
            weak().test_no_test_is_weakened()


def test_the_check_of_overrides_cannot_be_overridden() -> None:
    """Such a class cannot even be made."""
    with pytest.raises(TypeError, match="Sly may not override"):
        type("Sly", (StageContract,), {"test_no_test_is_weakened": lambda self: None})


class Nameless(Stage):
    """Nothing lists it."""


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({}, "TestNothing: `stage` is missing; say which class is tested, a subclass of Stage: `stage = ClearOld`"),
        ({"stage": dict}, "`stage` is <class 'dict'>; say which"),
        ({"stage": Greedy()}, "object at .*>; say which class"),
        ({"stage": Nameless}, "Nameless has no `name`; give it the text"),
        ({"stage": type("Seven", (Greedy,), {"name": 7})}, "Seven has the `name` 7; give it"),
    ],
)
def test_a_contract_about_nothing_cannot_be_made(more: dict[str, Any], says: str) -> None:
    """One message about the class, not one failure for each test; a base for other classes need name none."""
    with pytest.raises(TypeError, match=says):
        type("TestNothing", (StageContract,), more)
    type("Base", (StageContract,), more)


def test_failures_say_in_words_what_is_wrong() -> None:
    """A name, half a character, options without docstrings."""
    with pytest.raises(AssertionError, match="the name 'Loud_Name' is not lower-case words joined by dashes"):
        contract("Loud_Name", noting).test_name_is_that_of_an_entry_point()
    with pytest.raises(AssertionError, match="lone surrogate"):
        contract("half", results(lambda result: result.text[:12])).test_shows_clean_text("anthropic")
    with pytest.raises(AssertionError, match="option 'keep' has no docstring"):
        contract("made", noting, Options=Undocumented).test_options_are_documented()
    bare = type("Options", (StageOptions,), {"__annotations__": {}})
    with pytest.raises(AssertionError, match="Options has no docstring"):
        contract("made", noting, Options=bare).test_options_are_documented()


def test_pays_says_yes_and_no() -> None:
    """With the prices of these conversations some batches pay and others do not."""
    said = {"yes": 0, "no": 0}
    for seed in range(8):
        walk = TestGreedy()._walk(random.Random(seed), "anthropic", WHENS["pays"]).go(8)
        said["yes"] += any(not one.free for one in walk.session.ledger.decisions)
        said["no"] += walk.refusals.get("greedy", {}).get("does not pay", 0)
    assert min(said.values()) > 0
