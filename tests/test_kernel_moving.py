"""Moving pins: of no row, held until their hook is asked again (R10); and what hooks may say to the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest
from play import Play, decided, edits, rounds, says, shown, talk, user, why
from stages import ClearOld, Do, DropOld, FoldOld, Watch
from trimtab import Hook, Insert, Pin, Replace, Restore, Veto, View, Warn, hookimpl

COLD = {"clear-old": {"when": "cold"}}
FOLD = {"fold-old": {"when": "cold"}}

Said = Callable[[View], Iterator[Any]]


class First(Hook):
    """Says what the test says."""

    name = "first"
    said: ClassVar[Said | None] = None

    @hookimpl
    def pre_compact(self, view: View, trigger: str) -> Any:
        """Whatever the test says."""
        yield from (type(self).said(view) if type(self).said else ())


class Second(First):
    """Another one."""

    name = "second"
    said: ClassVar[Said | None] = None


@pytest.fixture(autouse=True)
def fresh() -> None:
    """No test sees what another one told the hooks."""
    First.said = Second.said = Do.now = Watch.pins = Watch.judge = None


def newest(view: View) -> Iterator[Any]:
    """The newest user text alone."""
    texts = [block for item in view.messages if item.message for block in item.message.blocks if item.role == "user"]
    yield Pin([block for block in texts if block.type == "text"][-1], "newest", moving=True)


def held(request: Any) -> list[str]:
    """What is pinned in a request, by its reason."""
    return [pin.reason for pin in request.report.pins]


def test_holds_until_asked_again_and_leaves_no_row() -> None:
    """Each call says anew what stays; the ledger knows of none of it, and a new process asks again."""
    First.said = lambda view: iter([Pin(view.results[0], f"of {len(view.results)}", moving=True)])
    play = Play(First, ClearOld, stages=[COLD], hooks=["first"])
    messages = talk(5)
    play.send(messages)
    request = play.cold(messages)
    assert held(request) == ["of 5"]
    assert "c0: The quick" in shown(request)
    assert edits(play, "pin") == []
    assert held(play.send([*messages, *rounds(1, 5)])) == ["of 5"], "a pass without proposals asks nobody"
    First.said = lambda view: iter([Pin(view.results[5], "another", moving=True)])
    request = play.cold([*messages, *rounds(4, 5)])
    assert held(request) == ["another"]
    assert "c0: The quick" not in shown(request)
    assert "c5: The quick" in shown(request)
    play.again()
    assert held(play.send([*messages, *rounds(4, 5)])) == []


def test_a_fixed_pin_of_the_same_words_is_the_same_pin() -> None:
    """It is held once, and stays when the moving one goes."""
    First.said = lambda view: iter([Pin(view.results[0], "fixed"), Pin(view.results[0], "moving", moving=True)])
    play = Play(First, ClearOld, stages=[COLD], hooks=["first"])
    messages = talk(5)
    play.send(messages)
    assert held(play.cold(messages)) == ["fixed"]
    First.said = None
    assert held(play.cold([*messages, *rounds(1, 5)])) == ["fixed"]


def test_what_a_fold_carries_can_be_held_on() -> None:
    """A moving pin of folded words goes on into the next fold; what the fold does not carry is not in the view."""
    first: list[Any] = []
    First.said = lambda view: iter(first)
    play = Play(First, FoldOld, stages=[FOLD], hooks=["first"])
    messages = [*talk(3), says("Done."), user("Never push. Second rule."), says("Yes."), *talk(3)]
    play.send(messages)
    blocks = {b.text: b for m in play.session.view.projection.path for b in m.blocks if b.type == "text"}
    rule, task = blocks["Never push. Second rule."], blocks["Mend the parser, please."]
    first[:] = [Pin(rule, "rule", "Never push.", moving=True)]
    request = play.cold(messages)
    assert [block["text"] for block in request.messages[0]["content"]][1:] == ["Never push."]
    messages = [*messages, *rounds(3, 10)]
    first[:] = [*first, Pin(task, "lost", moving=True), Pin(rule, "more", moving=True)]
    request = play.cold(messages)
    assert why(request, "first") == {"not in the view": 2}
    assert [block["text"] for block in request.messages[0]["content"]][1:] == ["Never push."]
    assert held(request) == ["rule"]
    assert [pin.key for pin in request_fold(play).pins] == [(rule.id, "Never push.")]
    first.clear()
    request = play.cold([*messages, *rounds(3, 20)])
    assert "Never push." not in shown(request)


def request_fold(play: Play) -> Any:
    """The boundary of the last request."""
    return play.session.view.projection.boundary


def test_a_failing_hook_keeps_what_it_said_last() -> None:
    """Its moving pins stay while it fails; those of others move on, also of a second entry of the same hook."""
    say = {"first": newest, "second": newest}
    First.said, Second.said = (lambda view: say["first"](view)), (lambda view: say["second"](view))
    play = Play(First, Second, ClearOld, stages=[COLD], hooks=["first", "second"])
    messages = [*talk(4), says("Done."), user("Go on."), *rounds(3, 5)]
    play.send(messages)
    play.cold(messages)

    def fails(view: View) -> Iterator[Any]:
        yield Pin(view.results[-1], "half", moving=True)
        raise ValueError("broken")

    def vetoes(view: View) -> Iterator[Any]:
        yield Warn("look")
        raise Veto("no")

    for more, broken in enumerate((fails, vetoes), 2):
        say.update(first=broken, second=lambda view: iter(()))
        play.now += 3_600
        request = play.session.prepare([*messages, *rounds(more, 10)])
        assert held(request) == ["newest"]
    assert request.report.warnings == ["first: look", "a hook vetoed: first: no"]


def test_they_hold_behind_a_pass_that_decided_nothing() -> None:
    """What a hook pinned in a pass without a decision still stays where the hook fails in the next one."""
    First.said = lambda view: iter([Pin(one, "all", moving=True) for one in view.results])
    play = Play(First, ClearOld, stages=[COLD], hooks=["first"])
    messages = talk(5)
    play.send(messages)
    request = play.cold(messages)
    assert (decided(request), held(request)) == ([], ["all"] * 5)

    First.said = fails
    play.now += 3_600
    request = play.session.prepare(messages)
    assert (decided(request), held(request)) == ([], ["all"] * 5)


def fails(view: View) -> Iterator[Any]:
    """A hook that is down."""
    raise ValueError("broken")
    yield


def test_they_hold_on_another_branch_and_beside_another_process() -> None:
    """A projection that is made anew knows the moving pins on its path, also after another conversation was there."""
    First.said = lambda view: iter([Pin(one, "all", moving=True) for one in view.results])
    play = Play(First, ClearOld, stages=[COLD], hooks=["first"])
    messages, other = talk(5), [user("You search."), *rounds(3, 50)]
    play.send(messages)
    play.cold(messages)
    First.said = fails
    for again in (other, [*messages[:9], user("No, otherwise.")], messages):
        play.now += 3_600
        request = play.session.prepare(again)
        kept = 4 if again is not messages else 5
        assert held(request) == ["all"] * (kept if again is not other else 0)
        assert again is other or "clear-old" not in decided(request)
    writer = play.open()
    First.said = lambda view: iter([Pin(view.results[0], "theirs")])
    writer.compact(messages)
    First.said = fails
    play.now += 3_600
    request = play.session.prepare([*messages, *rounds(1, 5)])
    assert "all" in held(request)


def test_a_veto_forgets_no_pin() -> None:
    """What was pinned in a run that a check refused stays where the hook fails in the next run of the pass."""
    runs: list[int] = []

    def once(view: View) -> Iterator[Any]:
        runs.append(1)
        if len(runs) % 2 == 0:
            raise ValueError("every second time")
        yield Pin(view.results[0], "fixed")
        yield Pin(view.results[1], "moving", moving=True)

    First.said = once
    Watch.pins, Watch.judge = None, veto
    play = Play(
        First, Watch, ClearOld, DropOld, stages=[COLD, {"drop-old": {"when": "cold"}}], hooks=["first", "watch"]
    )
    messages = talk(6)
    play.send(messages)
    play.now += 3_600
    request = play.session.prepare(messages)
    assert len(runs) == 2
    assert sorted(held(request)) == ["fixed", "moving"]
    assert "c0: The quick" in shown(request)
    assert "c1: The quick" in shown(request)
    assert [row["why"] for row in edits(play, "pin")] == ["fixed"]


def veto(before: View, after: View, report: Any) -> Iterator[Any]:
    """Refuses what one stage did."""
    if any(one.stage == "drop-old" and not one.free for one in report.decisions):
        raise Veto("not that", stages=["drop-old"])
    yield from ()


def test_words_alone_are_held_on_as_well() -> None:
    """Words without a block are looked up behind a fold too; what is held already is no refusal."""
    First.said = lambda view: iter([Pin("Never push.", "said", moving=True)])
    Second.said = lambda view: iter([Pin("Never push.", "said too"), Pin("nowhere at all")])
    play = Play(First, Second, FoldOld, stages=[FOLD], hooks=["first", "second"])
    messages = [*talk(3), says("Done."), user("Never push. Thanks."), says("Yes."), *talk(3)]
    play.send(messages)
    for n in range(3):
        messages = [*messages, *rounds(3, 10 + 3 * n)]
        request = play.cold(messages)
        assert why(request, "first") == {}
        assert why(request, "second") == {"these words are nowhere": 1}
        assert [block["text"] for block in request.messages[0]["content"]][1:] == ["Never push."], n


def test_they_survive_a_restore_and_a_small_batch() -> None:
    """Replaying the rows, and going back to before a stage's look, forget none of them."""
    First.said = newest
    stages = [COLD, {"do": {"when": "cold", "at_least": "100k"}}]
    play = Play(First, ClearOld, Do, stages=stages, hooks=["first"])
    messages = talk(5)
    play.send(messages)
    Do.now = lambda view: [Replace(view.results[-2], "short", "too few")]
    assert held(play.cold(messages)) == ["newest"]
    Do.now = lambda view: [Restore((1,), "back")]
    assert held(play.cold([*messages, *rounds(1, 5)])) == ["newest"]


def test_hooks_speak_to_the_user() -> None:
    """A `Warn` of any hook stands in the report under its name, once, and nowhere else."""

    class Speak(Hook):
        """Says the same everywhere."""

        name = "speak"

        @hookimpl
        def pre_compact(self, view: View, trigger: str) -> Any:
            """Before."""
            yield from (Warn("two pins are lost"), Warn("two pins are lost"))

        @hookimpl
        def post_compact(self, before: View, after: View, report: Any) -> Any:
            """After."""
            yield Warn(f"{len(report.decisions)} decisions")

        @hookimpl
        def session_start(self, session: Any, source: str, view: View) -> Any:
            """At the start, which sees the view."""
            yield Warn(f"{source}: {len(view.messages)}")
            yield Insert("tail" if source == "startup" else "after_boundary", f"{source} of {session.id}")

    play = Play(Speak, FoldOld, stages=[FOLD], hooks=["speak"])
    messages = talk(5)
    request = play.send(messages)
    assert request.report.warnings == ["speak: startup: 11", "speak: 1 decisions"]
    assert play.session.view.inserts == ["startup of s"]
    messages = [*messages, *rounds(2, 5)]
    request = play.cold(messages)
    assert request.report.warnings == ["speak: two pins are lost", "speak: compact: 3", "speak: 2 decisions"]
    assert decided(request) == ["fold-old", "speak"]
    assert play.session.view.inserts == ["startup of s", "compact of s"]
    assert play.session.view.summary == "Summary: the parser was read."
