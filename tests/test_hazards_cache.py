"""Hazards H11 to H25: what is sent stays what it is, until an edit of it costs nothing or is forced."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from play import Play, bare, decided, edits, marked, raw, result, rounds, says, shown, talk, text, user, why
from stages import Budget, ClearOld, Do, Remind
from trimtab import Insert, Replace, Request

COLD = {"clear-old": {"when": "cold"}}


def grow(play: Play, count: int, messages: list[Any] | None = None, **more: Any) -> list[Request]:
    """An agent works for ``count`` rounds, a request every few seconds."""
    messages = talk(1) if messages is None else messages
    requests = []
    for n in range(count):
        requests.append(play.send(list(messages), **more))
        messages += rounds(1, first=100 + len(messages) + n)
    return requests


def prefixes(requests: list[Request]) -> list[bool]:
    """For each request but the first, whether it begins with all of the one before."""
    pairs = itertools.pairwise(requests)
    return [bare(new.messages)[: len(old.messages)] == bare(old.messages) for old, new in pairs]


def test_H11_clears_do_not_fire_on_every_call() -> None:
    """A stage that clears all but the newest results whenever it is asked breaks the prefix seldom, in batches."""
    stages = [{"clear-old": {"when": {"over": 10_000}, "target": 5_000}}]
    requests = grow(Play(ClearOld, stages=stages), 40)
    kept = prefixes(requests)
    assert 2 <= kept.count(False) <= 6
    for request, same in zip(requests[1:], kept, strict=True):
        assert same == (not request.report.decisions)
    assert all(outcome.freed > 4_000 for request in requests for outcome in request.report.decisions)


def test_H12_clearing_waits_for_a_cold_cache() -> None:
    """While the prefix is live nothing is cleared; when it expired, all at once and nothing is read anew for it."""
    play = Play(ClearOld, stages=[COLD])
    messages = talk(5)
    warm = grow(play, 10, messages)
    assert all(prefixes(warm))
    assert not edits(play)
    broken = play.cold(messages)
    assert [(o.stage, o.rewritten, o.free) for o in broken.report.decisions] == [("clear-old", 0.0, False)]
    after = grow(play, 3, [*messages, *rounds(1, first=900)])
    assert all(prefixes([broken, *after]))
    assert not any(request.report.decisions for request in after)


def test_H13_both_numbers_are_reported() -> None:
    """A forced edit of a warm prefix says what it frees and what is read anew because of it."""
    play = Play(ClearOld, stages=[{"clear-old": {"when": {"over": 3_000}, "target": 100}}])
    messages = talk(8)
    before = play.send(talk(3))
    request = play.send(messages)
    (outcome,) = request.report.decisions
    assert before.report.decisions == []
    assert outcome.freed == pytest.approx(request.report.tokens_before - request.report.tokens_after)
    assert 0 < outcome.rewritten < before.report.tokens_after


def test_H14_what_is_inserted_each_turn_stays_where_it_was() -> None:
    """A line added on every turn stands at the very end, once a turn, and never moves."""
    requests = grow(Play(Remind, stages=["remind"]), 5)
    assert all(prefixes(requests))
    assert [shown(request).count("Remember the tests.") for request in requests] == [1, 2, 3, 4, 5]
    assert all("Remember the tests." in str(request.messages[-1]) for request in requests)


def test_H15_small_batches_wait() -> None:
    """`at_least` holds single deletions back; later they pass together."""
    play = Play(ClearOld, stages=[{"clear-old": {"when": "cold", "keep": 3, "at_least": 1_500}}])
    messages = talk(5)
    play.send(messages)
    small = play.cold(messages)
    assert decided(small) == []
    assert why(small, "clear-old") == {"fewer tokens than at_least": 1}
    messages = [*messages, *rounds(2, first=5)]
    play.send(messages)
    (outcome,) = play.cold(messages).report.decisions
    assert outcome.edits == 4
    assert outcome.freed > 1_500


def test_H17_a_pass_without_a_decision_touches_nothing() -> None:
    """With nothing to do the very objects come back, in their order, and no row is written."""
    play = Play(ClearOld, Budget, stages=[COLD, {"budget": {"most": 100_000}}])
    messages = talk(6)
    system, tools = [text("Be brief.")], [{"name": "Read", "input_schema": {"type": "object"}}]
    for _ in range(2):
        request = play.send(messages, system=system, tools=tools)
        assert all(new is old for new, old in zip(request.messages, messages, strict=True))
        assert request.system is system
        assert request.tools is tools
        assert request.extra == {}
    assert play.ledger.sessions() == []


def test_H18_what_was_sent_short_stays_short() -> None:
    """A result shortened before its first send is sent in exactly that form on every later turn."""
    requests = grow(Play(Budget, stages=["budget"]), 6)
    assert all(prefixes(requests))
    first = requests[0].messages[2]
    assert len(str(first)) < 600
    assert all(json.dumps(request.messages[2]) == json.dumps(first) for request in requests)


def test_H19_a_better_form_of_something_sent_waits() -> None:
    """A smaller text for what was already sent is refused while the cache holds it, and passes when it does not."""
    play = Play(Do, stages=[{"do": {"when": "cold"}}])
    Do.now = lambda view: [Replace(view.results[0], "better")]
    messages = talk(4)
    play.send(messages)
    request = play.send([*messages, *rounds(1, first=4)])
    assert decided(request) == []
    assert shown(request).startswith(shown(play.session.prepare(messages))[:-1])
    Do.runs = 0
    assert decided(play.cold(messages)) == ["do"]
    assert Do.runs == 1


def test_H21_moved_markers_are_no_change() -> None:
    """A client that moves its marker each turn is one conversation: cached, faces kept, markers as handed in."""
    play = Play(Budget, stages=["budget"])
    messages = talk(2)
    before: Request | None = None
    for turn in range(6):
        request = play.send(marked(messages))
        assert shown(request).count("cache_control") == 1
        assert "cache_control" in str(request.messages[-1])
        if before is not None:
            assert bare(request.messages)[: len(before.messages)] == bare(before.messages)
            assert request.report.held == 1 + len(before.messages)
        before = request
        messages = [*messages, *rounds(1, first=10 + turn)]
    assert len(edits(play, "replace")) == 6


def test_H22_keep_last_n_does_not_shift_every_round() -> None:
    """Keeping the newest two, judged anew on every request, moves its edge only when a batch is due."""
    play = Play(ClearOld, stages=[{"clear-old": {"when": "cold", "keep": 2}}])
    messages = talk(5)
    play.send(messages)
    play.cold(messages)
    edge = [row["targets"] for row in edits(play)]
    assert all(prefixes(grow(play, 8, messages)))
    assert [row["targets"] for row in edits(play)] == edge


def test_H23_nothing_goes_in_at_the_head() -> None:
    """Once a request was answered, text can be added at the end only: not to the system text, not in front."""
    play = Play(Do, stages=[{"do": {"when": {"over": 100}, "target": 10}}])
    Do.now = lambda view: [Insert("system", "a"), Insert("after_boundary", "b"), Insert("tail", "c")]
    request = play.send(talk(3), system="Be brief.")
    assert why(request, "do") == {"system text is fixed after the first request": 1, "no boundary": 1}
    assert request.system == "Be brief."
    assert request.messages[-1] == user("c")


def test_H24_tools_are_never_touched() -> None:
    """The list of tools goes out as it came in; when the agent changes it, the cache is known to be lost."""
    play = Play(ClearOld, stages=[COLD])
    tools = [{"name": "Read", "description": "reads", "input_schema": {"type": "object"}}]
    messages = talk(5)
    play.send(messages, tools=tools)
    assert play.send(messages, tools=tools).report.held == 1 + len(messages)
    more = [*tools, {"name": "Grep", "input_schema": {"type": "object"}}]
    request = play.send(messages, tools=more)
    assert request.tools is more
    assert request.report.held == 0
    assert [(o.stage, o.rewritten) for o in request.report.decisions] == [("clear-old", 0.0)]


def test_H25_the_provider_has_the_last_word() -> None:
    """What `usage` says about the cache replaces what we expected of it."""
    play = Play(ClearOld, stages=[COLD])
    messages = talk(5)
    size = play.send(messages).report.tokens_after
    play.session.observe({"input_tokens": 10, "cache_creation_input_tokens": size, "cache_read_input_tokens": 0})
    assert play.send(messages).report.held == 1 + len(messages)
    play.session.observe({"input_tokens": size, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0})
    request = play.send(messages)
    assert request.report.held == 0
    assert decided(request) == ["clear-old"]


def test_H25_usage_without_cache_fields_says_nothing_of_the_cache() -> None:
    """A bare size corrects the meter; what is held stays what was expected."""
    play = Play(ClearOld, stages=[COLD])
    messages = talk(5)
    size = play.send(messages).report.tokens_after
    play.session.observe({"input_tokens": size + 100})
    assert play.session.view.tokens == pytest.approx(size + 100)
    assert play.send(messages).report.held == 1 + len(messages)


@pytest.mark.parametrize("place", ["system", "tools"])
def test_H21_markers_in_system_and_tools_are_no_change(place: str) -> None:
    """A marker that appears in the system text or on a tool loses nothing either."""
    play = Play(ClearOld, stages=[COLD])
    said: dict[str, Any] = {
        "system": [text("Be brief.")],
        "tools": [{"name": "Read", "input_schema": {"type": "object"}}],
    }
    messages = talk(5)
    play.send(messages, **said)
    other = {**said, place: [{**said[place][0], "cache_control": {"type": "ephemeral", "ttl": "1h"}}]}
    for more in (other, said, other):
        request = play.send(messages, **more)
        assert request.report.held == 1 + len(messages)
        assert decided(request) == []
        assert getattr(request, place) is more[place]


def test_H18_the_agent_keeps_our_output() -> None:
    """An agent that keeps what we returned as its own history gets the same bytes, turn after turn."""
    play = Play(Budget, Remind, stages=["budget", "remind"])
    history: list[Any] = talk(2)
    before = None
    for turn in range(5):
        request = play.send(history)
        assert before is None or raw(request).startswith(before[:-1])
        before = raw(request)
        history = [*request.messages, says({"type": "tool_use", "id": f"k{turn}", "name": "Read", "input": {}})]
        history.append(user(result(f"k{turn}")))
    assert len(edits(play, "replace")) == 5
