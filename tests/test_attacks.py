"""What plugins, providers and callers did to break a promise, and no longer can."""

from __future__ import annotations

import json
from typing import Any

import pytest
from play import Play, call, result, says, shown, talk, user
from stages import Budget, ClearOld, FoldOld, Greet
from trimtab import Fold, Hook, Insert, Note, Replace, Stage, StageOptions, Veto, View, hookimpl
from trimtab.errors import PluginError, StorageError


class Remind(Stage):
    """Says something at the end of every request."""

    name = "remind-always"

    def propose(self, view: View) -> Any:
        yield Insert("tail", f"Remember {view.answers}.")


def test_an_insert_waits_for_the_rest_of_a_batch() -> None:
    """Between the results of one batch nothing is inserted, not even while only some are there."""
    play = Play(Remind, stages=["remind-always"])
    messages = [user("go"), says(call("a"), call("b")), user(result("a"))]
    play.send(messages)
    request = play.send([*messages, user(result("b"))])
    assert "Remember 1." in shown(request)
    play.send([*messages, user(result("b")), says("done"), user("on")])


def test_an_insert_waits_for_a_server_tool() -> None:
    """While the provider's own tool has not answered, a user message may hold nothing but results."""
    play = Play(Remind, stages=["remind-always"])
    server = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    request = play.send([user("go"), says(server, call("a")), user(result("a"))])
    assert "Remember" not in shown(request)


class Shout(Hook):
    """Inserts more than fits."""

    name = "shout"

    @hookimpl
    def session_start(self, session: Any, source: str) -> Any:
        yield Insert("tail", "loud words " * 300_000)


def test_an_insert_that_does_not_fit_is_refused() -> None:
    """A hook cannot fill the window for good."""
    request = Play(Shout, hooks=["shout"]).send([user("go")])
    assert request.report.refused["shout"] == {"no room": 1}


class Popping(Stage):
    """Takes what it looks at apart."""

    name = "popping"

    def propose(self, view: View) -> Any:
        list(view.messages).pop()
        assert not hasattr(view.messages, "pop")
        yield from ()


def test_the_views_list_is_not_the_kernels() -> None:
    """Who changes the list of messages changes nothing."""
    assert Play(Popping, stages=["popping"]).send([user("go")]).messages == [user("go")]


class RudeError(Exception):
    """Cannot be told."""

    def __str__(self) -> str:
        raise self


class Failing(Stage):
    """Fails in a way of the test's choice."""

    name = "failing"
    error: BaseException = Exception()

    def propose(self, view: View) -> Any:
        raise self.error
        yield


@pytest.mark.parametrize("error", [RudeError(), SystemExit(3)], ids=["untellable", "exit"])
def test_no_error_of_a_plugin_gets_out(error: BaseException) -> None:
    """Neither an error that cannot be formatted nor a call to exit ends the agent."""
    Failing.error = error
    request = Play(Failing, stages=["failing"]).session.prepare([user("go")])
    assert request.messages == [user("go")]
    assert len(request.report.failures) == 1


class Forger(Hook):
    """Spoils the report that it is shown."""

    name = "forger"

    @hookimpl
    def post_compact(self, before: Any, after: Any, report: Any) -> Any:
        report.failures = report.decisions = None
        raise ValueError("spoilt")


def test_a_hook_cannot_spoil_the_report() -> None:
    """post_compact sees a copy."""
    play = Play(Remind, Forger, stages=["remind-always"], hooks=["forger"])
    report = play.session.prepare([user("go")]).report
    assert [outcome.stage for outcome in report.decisions] == ["remind-always"]
    assert report.failures == ["forger: ValueError: spoilt"]


class Sly(str):
    """Says that it contains everything."""

    def __contains__(self, other: object) -> bool:
        return True

    def strip(self, *_: Any) -> str:  # type: ignore[override]
        return "full"


class Slyly(Stage):
    """Replaces with texts that lie about themselves."""

    name = "slyly"

    def propose(self, view: View) -> Any:
        for item in view.messages:
            for block in item.message.blocks if item.message else ():
                yield Replace(block, Sly(" "))


def test_a_text_cannot_lie_about_itself() -> None:
    """Texts are judged as plain strings."""
    request = Play(Slyly, stages=["slyly"]).send([user("some words that stay")])
    assert request.messages == [user("some words that stay")]
    assert request.report.refused["slyly"] == {"empty text": 1}


class Unmade(Stage):
    """Cannot be made."""

    name = "unmade"
    Options = StageOptions

    def __init__(self, options: Any = None) -> None:
        raise ValueError("no")

    def propose(self, view: View) -> Any:
        yield from ()


def test_a_stage_that_cannot_be_made_is_named() -> None:
    """The session does not open, and says which stage is why."""
    with pytest.raises(PluginError, match="stage 'unmade' cannot be made: ValueError: no"):
        Play(Unmade, stages=["unmade"])


@pytest.mark.parametrize("tokens", [1e18, float("nan"), float("inf"), -5, "many", 10**400])
def test_nonsense_usage_is_ignored(tokens: Any) -> None:
    """What cannot be a request's size changes nothing and raises nothing."""
    play = Play()
    play.send([user("go")])
    play.session.observe({"input_tokens": tokens, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0})
    assert play.send([user("go")]).report.tokens_after < 100


def test_repairs_of_a_failed_pass_are_made_later() -> None:
    """Once the store works again, what is broken further up is mended too."""
    play = Play()
    messages = [user("go"), says(call("a")), user("never mind"), says("fine"), user("on")]
    put = play.blobs.put

    def fails(*_: Any) -> str:
        raise OSError("disk full")

    play.blobs.put = fails  # type: ignore[method-assign]
    assert play.session.prepare(messages).report.failures
    play.blobs.put = put  # type: ignore[method-assign]
    play.send([*messages, says("yes"), user("and")])


class Deep(Stage):
    """Hands over data that is nested beyond what copies and packs it."""

    name = "deep"

    def propose(self, view: View) -> Any:
        deep = json.loads("[" * 500 + "]" * 500)
        yield Note("mine", deep)
        yield Replace(view.messages[1].message.blocks[0], json.dumps({"file_path": deep}))


def test_data_that_is_nested_too_deeply_is_refused() -> None:
    """Otherwise it would be recorded, and break every later request, also without the plugin."""
    play = Play(Deep, stages=[{"deep": {"when": "cold"}}])
    long = {**call("w"), "input": {"file_path": "x" * 9_000}}
    messages = [user("go"), says(long), user(result("w")), says("so"), user("on")]
    play.send(messages)
    assert play.cold(messages).messages == messages
    assert sum(play.session.compact(messages).report.refused["deep"].values()) == 2


class Words(str):
    """A text that answers as it likes."""

    def __str__(self) -> str:
        return self

    def __bool__(self) -> bool:
        raise SystemExit(3)

    def __hash__(self) -> int:
        raise RuntimeError("hash")

    def encode(self, *_: Any) -> bytes:
        return b"something else"


class Foreign(Stage):
    """Hands over texts of a class of its own wherever a text may stand."""

    name = "foreign"

    def propose(self, view: View) -> Any:
        if view.now > 1_000_100:
            yield Fold(view.messages[1:3], Words("summary"), Words("why"), full=Words("all of it"))
        yield Note(Words("key"), {"a": 1})
        yield Insert("tail", Words("Go on."), Words("why"))


def test_texts_of_a_class_of_their_own() -> None:
    """They are taken as the letters they hold: nothing they answer is asked for."""
    play = Play(Foreign, stages=[{"foreign": {"when": "cold"}}])
    messages = talk(4)
    play.send(messages)
    request = play.cold(messages)
    assert "summary" in shown(request)
    assert {row["kind"] for row in play.session.explain()} == {"fold", "note", "insert"}
    (full,) = [data for data, _ in play.blobs._data.values() if b"all of it" in data]
    assert full == b"all of it"


class OddVeto(Veto):
    """A veto whose reason cannot be asked for."""

    def __init__(self) -> None:
        super().__init__("no")
        self.stages = 5  # type: ignore[assignment]


class Vetoes(Hook):
    """Vetoes whatever happened."""

    name = "vetoes"

    @hookimpl
    def post_compact(self, before: View, after: View, report: Any) -> Any:
        raise OddVeto
        yield


def test_a_veto_that_makes_no_sense_is_a_failure_of_its_hook() -> None:
    """The stage's free edit stays, and the report names the hook."""
    play = Play(Budget, Vetoes, stages=["budget"], hooks=["vetoes"])
    request = play.session.prepare(talk(1))
    assert [outcome.stage for outcome in request.report.decisions] == ["budget"]
    assert [failure.partition(":")[0] for failure in request.report.failures] == ["vetoes"]


@pytest.mark.parametrize(
    "damage",
    [
        {"originals": 5},
        {"aliases": {"a": 5}},
        {"edits": [{"kind": "fold", "run": [], "text": "x"}]},
        {"edits": [{"kind": "drop", "what": 5}]},
        {"edits": [{"kind": "replace", "block": None, "text": "x"}]},
        {"edits": [{"kind": "restore", "decisions": 5, "at": "x"}]},
        {"edits": [{"kind": "note", "key": "k", "data": 1, "upto": 7}]},
    ],
    ids=str,
)
def test_a_damaged_row_costs_the_pass_not_the_agent(damage: dict[str, Any]) -> None:
    """It is reported, the request goes out, and a new process is told which decision is damaged."""
    play = Play(Budget, stages=["budget"])
    play.send(talk(1))
    (row,) = play.ledger.load("s")
    play.ledger.append("s", 1, [json.dumps({**json.loads(row), **damage})])
    request = play.session.prepare(talk(2))
    assert len(request.messages) == len(talk(2))
    assert any("decision 2 is damaged" in failure for failure in request.report.failures)
    with pytest.raises(StorageError, match="decision 2 is damaged"):
        play.again()


class Second(Stage):
    """Makes a second boundary, and fails."""

    name = "second"

    def propose(self, view: View) -> Any:
        yield Fold(view.messages[:3], "Once more.")
        raise RuntimeError("no")


def test_a_failing_stage_leaves_the_limit_of_inserts() -> None:
    """What went back to before it leaves the target of the first boundary where it was."""
    stages = [{"fold-old": {"when": {"over": 2_000}, "target": 1_500, "keep": 4}}, {"second": {"when": "cold"}}]
    greet = {"greet": {"anchor": "nowhere", "text": "word " * 1_000}}
    play = Play(FoldOld, Second, Greet, stages=stages, hooks=[greet])
    play.session.prepare(talk(1))
    play.now += 3_600
    request = play.session.prepare(talk(5))
    assert "no room behind the boundary" in str(request.report.refused)


def test_what_was_brought_back_no_stage_hides_again() -> None:
    """Neither the stage that hid it nor another one with another kind of edit; a manual pass may."""
    stages = ["budget", {"clear-old": {"when": "cold"}}, {"fold-old": {"when": "cold"}}]
    play = Play(Budget, ClearOld, FoldOld, stages=stages)
    messages = [*talk(1), says("so"), user("on")]
    play.send(talk(1))
    play.session.restore(1)
    for _ in range(3):
        assert play.cold(messages).messages == messages
    assert play.session.compact(messages).messages != messages
