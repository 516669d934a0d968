"""What plugins, providers and callers did to break a promise, and no longer can."""

from __future__ import annotations

from typing import Any

import pytest
from play import Play, call, result, says, shown, user
from trimtab import Hook, Insert, Replace, Stage, StageOptions, View, hookimpl
from trimtab.errors import PluginError


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
