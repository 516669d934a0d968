"""`pays`: what all waiting stages would free together, against what must be written anew (R1)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from play import Play, decided, edits, raw, rounds, shown, talk, why
from stages import ClearOld, Do, FoldOld, KeepWords
from trimtab import Replace, View
from trimtab.when import HORIZON

PRICE = {"input": 4, "output": 20, "cache_read": 0.2, "cache_write": 5, "cache_write_1h": 8}
FREE_WRITES = {"input": 4, "output": 20, "cache_read": 0.4, "cache_write": 4, "cache_write_1h": 4}


class Late(ClearOld):
    """A second clearing stage, under its own name."""

    name = "late"


def opened(*stages: dict[str, Any], price: Any = PRICE, **more: Any) -> Play:
    """A session of stages at these prices."""
    return Play(ClearOld, Late, Do, FoldOld, KeepWords, stages=stages, provider={"price": price}, **more)


def clears(count: int) -> None:
    """`do` clears the results of the oldest ``count`` rounds."""
    Do.now = lambda view: [Replace(result, "[cleared]") for result in view.results[:count] if not result.replaced]


def figures(agent: Play) -> tuple[float, float]:
    """What the last request saved, and what it made the provider write again; its newest round was not sent before."""
    view: View = agent.session.view
    first = next(item.message for item in view.messages if item.message and item.wire is not None)
    written = view.tokens_after(first.depth) - view.tokens_after(len(view.projection.path) - 2)
    return sum(outcome["freed"] for outcome in {row["decision"]: row for row in edits(agent)}.values()), written


@pytest.mark.parametrize("price", [PRICE, FREE_WRITES], ids=["reads at 0.05", "reads at 0.1, no fee"])
@pytest.mark.parametrize("count", [1, 3, 6])
def test_H13_it_passes_exactly_where_it_pays(count: int, price: dict[str, float]) -> None:
    """Savings are read ``HORIZON`` times less; what lies behind the edit is written instead of read, once."""
    answers = set()
    for behind in range(12):
        messages = talk(count + behind)
        taken = []
        for when in ({"when": "pays"}, {"when": "always", "warm": "allow"}):
            agent = opened({"do": when}, price=price)
            Do.now = None
            agent.send(messages)
            clears(count)
            taken.append((decided(agent.send([*messages, *rounds(1, first=90)])), agent))
        saved, written = figures(taken[1][1])
        pays = saved * price["cache_read"] * HORIZON >= written * (price["cache_write"] - price["cache_read"])
        assert taken[0][0] == (["do"] if pays else []), behind
        assert not pays or raw_of(taken[0][1]) == raw_of(taken[1][1])
        answers.add(pays)
    assert answers == {True, False}


def raw_of(agent: Play) -> str:
    """What the session would send."""
    return raw(agent.session.prepare([item.wire or item.message.wire for item in agent.session.view.messages]))


def test_what_does_not_pay_leaves_no_trace() -> None:
    """Proposals that were weighed and found too dear change nothing, and are not stored."""
    agent = opened({"do": {"when": "pays"}})
    messages = talk(10)
    Do.now = None
    agent.send(messages)
    clears(1)
    request = agent.send([*messages, *rounds(1, first=90)])
    assert (decided(request), edits(agent)) == ([], [])
    assert why(request, "do") == {"does not pay": 1}
    assert request.messages == [*messages, *rounds(1, first=90)]


def test_the_sum_of_all_that_wait_is_weighed() -> None:
    """Neither of two stages pays by itself; together they do, for one break pays for both."""
    messages = [*talk(5), *rounds(1, first=90)]
    Do.now = lambda view: [Replace(result, "[cleared]") for result in view.results[2:4] if not result.replaced]
    for stages, passed in (({"clear-old"}, False), ({"do"}, False), ({"clear-old", "do"}, True)):
        agent = opened(*({name: {"when": "pays", **KEEP.get(name, {})}} for name in sorted(stages)))
        Do.now, now = None, Do.now
        agent.send(messages[:-2])
        agent.session.plan.weighed.clear()
        Do.now = now
        assert set(decided(agent.send(messages))) == (stages if passed else set()), stages


KEEP = {"clear-old": {"keep": 4}}


def test_it_is_weighed_again_after_growth() -> None:
    """After a no, nothing is proposed before the view grew by ``at_least``, or by what a yes lacks if that is more."""
    agent = opened({"do": {"when": "pays", "at_least": 1_000}})
    Do.now, Do.runs = (lambda view: []), 0
    runs = []
    for n in range(1, 9):
        agent.send(talk(n))
        runs.append(Do.runs)
    assert runs == [1, 1, 2, 2, 3, 3, 4, 4]
    agent = opened({"do": {"when": "pays"}})
    Do.now, runs = None, []
    agent.send(talk(10))
    clears(1)
    for n in range(11, 60):
        Do.runs = 0
        agent.send(talk(n))
        runs.append(Do.runs)
    looks = [n for n, ran in enumerate(runs) if ran]
    waits = [later - sooner for sooner, later in pairwise(looks)]
    assert waits == sorted(waits)  # one result saves ever less of what is behind it
    assert len(looks) < 10


def test_unknown_prices_never_pay() -> None:
    """Where reading costs nothing, or nobody knows what it costs, nothing is won by an edit."""
    clears(6)
    agent = opened({"do": {"when": "pays"}}, price={**PRICE, "cache_read": 0})
    messages = talk(7)
    agent.send(messages)
    assert decided(agent.send([*messages, *rounds(1, first=90)])) == []


def test_an_ask_behind_it_is_refused() -> None:
    """No model is asked for what may not be taken."""
    asked = []
    agent = opened({"fold-old": {"when": "pays", "ask": True}}, ask=asked.append)
    messages = talk(9)
    agent.send(messages)
    request = agent.send([*messages, *rounds(1, first=90)])
    assert asked == []
    assert (decided(request), why(request, "fold-old")) == ([], {"an Ask behind `pays`": 1, "does not pay": 1})


def test_pins_are_asked_before_it_is_weighed() -> None:
    """A pin hook speaks first, with the trigger of an edit of sent content; what it pins stays."""
    agent = opened({"do": {"when": "pays"}}, hooks=[{"keep-words": {"words": "c0: The quick"}}])
    clears(6)
    messages = talk(7)
    agent.send(messages)
    request = agent.send([*messages, *rounds(1, first=90)])
    assert "c0: The quick" in shown(request)
    assert why(request, "do").get("pinned") == 1


class Twin(KeepWords):
    """A hook of the same name as a stage."""

    name = "do"


def test_a_no_takes_back_proposals_and_nothing_else() -> None:
    """Pins of a hook that happens to be called like the stage stay."""
    overrides = {"stages": [{"do": {"when": "pays"}}], "hooks": [{"do": {"words": "c7: The quick"}}]}
    agent = Play(Do, Twin, provider={"price": PRICE}, **overrides)
    Do.now = None
    agent.send(talk(10))
    clears(1)
    request = agent.send([*talk(10), *rounds(1, first=90)])
    assert why(request, "do") == {"does not pay": 1}
    assert [pin.text for pin in request.report.pins] == ["c7: The quick"]


def test_boundaries_that_do_not_pay_open_no_breaker() -> None:
    """Summaries that were only weighed are none of three in a row."""
    agent = opened({"fold-old": {"when": "pays", "keep": 12, "text": "Summary. " * 100}})
    for n in range(7, 14):
        agent.session.plan.weighed.clear()
        assert agent.send(talk(n)).report.warnings == []
    assert edits(agent, "note") == []
