"""Known faults of clearing old results, met by the stage and the kernel together."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest
from play import LONG, Play, decided, edits, raw, says, shown, user, why

FORMS = pytest.mark.parametrize("form", ["cleared", "digest"])
COLD = {"when": ["cold", {"idle": "60m"}]}
AGE = {"cleared": {"keep": 2}, "digest": {"age": 2, "cold_age": 2}}
PRICE = {"input": 4, "output": 20, "cache_read": 0.4, "cache_write": 5, "cache_write_1h": 8}


@pytest.fixture
def grow(talk: Any, lines: Any) -> Any:
    """One more round with a long result, each with names of its own."""

    def grow() -> Any:
        n = len(talk.messages)
        return talk.round(("Read", {"file_path": f"/{n}.py"}, lines(30, f"name{n}")))

    return grow


def prefix(before: Any, after: Any) -> bool:
    """Whether a request begins with the bytes of the one before."""
    return raw(after).startswith(raw(before)[:-1])


@FORMS
def test_H11_it_is_done_once(opened: Any, grow: Any, form: str) -> None:
    """What was cleared stays cleared by the ledger: the same history again makes no decision, and the same bytes."""
    agent = opened(form, **COLD, **AGE[form])
    for _ in range(6):
        agent.send(grow())
    messages = grow()
    first = agent.cold(messages)
    again = agent.send(messages)
    assert decided(first) == ["micro-compact"]
    assert (decided(again), raw(again)) == ([], raw(first))


@FORMS
def test_H12_a_warm_cache_is_left_alone(opened: Any, grow: Any, form: str) -> None:
    """While the prefix lives, and right after it was written anew, nothing is cleared."""
    agent = opened(form, **COLD, **AGE[form])
    last = agent.send(grow())
    for n in range(12):
        request = (agent.cold if n == 6 else agent.send)(grow())
        assert decided(request) == (["micro-compact"] if n == 6 else [])
        assert prefix(last, request) == (n != 6)
        last = request


@FORMS
def test_H13_what_costs_more_than_it_saves_is_not_done(opened: Any, grow: Any, form: str) -> None:
    """Behind `pays`, an old result before a long cached tail stays; once enough is old it goes, all at once."""
    agent = opened(form, more={"provider": {"price": PRICE}}, when="pays", keep=4, age=4, share=0.05)
    counts = []
    for _ in range(24):
        agent.send(grow())
        counts.append(len(edits(agent)))
    assert all(b - a == 0 or b - a >= 4 for a, b in pairwise(counts))


@FORMS
def test_H15_what_is_old_waits_and_goes_together(opened: Any, grow: Any, form: str) -> None:
    """Ten results grow old one by one; they go in one decision."""
    agent = opened(form, **COLD, **AGE[form])
    for _ in range(12):
        agent.send(grow())
    assert edits(agent) == []
    agent.cold(grow())
    assert len(edits(agent)) == len(agent.session.view.results) - {"cleared": 2, "digest": 3}[form]
    assert len({row["decision"] for row in edits(agent)}) == 1


@FORMS
def test_H16_rewrites_are_rare(opened: Any, grow: Any, form: str) -> None:
    """In sixty rounds with two pauses the prefix changes twice, at the pauses."""
    agent = opened(form, **COLD, **AGE[form])
    last, broken = agent.send(grow()), []
    for n in range(60):
        request = (agent.cold if n in (20, 45) else agent.send)(grow())
        if not prefix(last, request):
            broken.append(n)
        last = request
    assert broken == [20, 45]


@FORMS
def test_H18_what_went_out_short_never_comes_back(opened: Any, grow: Any, form: str) -> None:
    """A cleared result is sent cleared for ever: warm, cold, and by a new process with the stage switched off."""
    agent = opened(form, **COLD, **AGE[form])
    for _ in range(6):
        agent.send(grow())
    first = agent.cold(grow())
    assert decided(first) == ["micro-compact"]
    agent.again(stages=[])
    assert prefix(first, agent.send(grow()))


@FORMS
def test_H19_a_better_text_comes_too_late(opened: Any, talk: Any, grow: Any, form: str) -> None:
    """A digest in the prefix stays as it is when other options, or other names elsewhere, would give another."""
    agent = opened(form, **COLD, **AGE[form])
    for _ in range(6):
        agent.send(grow())
    first = agent.cold(grow())
    talk.messages += [says("name1_3 looks wrong"), user("go on")]
    agent.again(stages=[{"micro-compact": {"form": form, "share": 0.05, "most": 400, **COLD, **AGE[form]}}])
    assert prefix(first, agent.send(talk.messages))
    later = agent.cold(grow())
    placeholders = re.findall(r'"\[Old tool result [^"]*"', shown(first))
    assert len(placeholders) >= 4
    assert all(text in shown(later) for text in placeholders)


def test_H22_the_edge_moves_only_with_a_batch(opened: Any, grow: Any) -> None:
    """Keeping the newest N does not move by one each round: between two pauses no result changes."""
    agent = opened("cleared", keep=3, **COLD)
    marks = []
    for n in range(20):
        request = (agent.cold if n in (8, 15) else agent.send)(grow())
        marks.append(shown(request).count("content cleared"))
    assert marks == [0] * 8 + [6] * 7 + [13] * 5


@FORMS
def test_H42_what_went_is_on_record(opened: Any, grow: Any, talk: Any, form: str) -> None:
    """Each result that went is listed with its reason and its full text; the user can have it back."""
    agent = opened(form, **COLD, **AGE[form])
    for _ in range(6):
        agent.send(grow())
    agent.cold(grow())
    rows = edits(agent)
    assert len(rows) >= 4
    assert all(row["why"] == "Read: old" and row["way_back"] for row in rows)
    agent.session.restore(rows[0]["decision"])
    assert "Old tool result" not in shown(agent.send(talk.messages))
    agent.cold(grow())
    assert not any(result.replaced for result in agent.session.view.results[: len(rows)])


@FORMS
def test_H49_old_screenshots_go(opened: Any, form: str) -> None:
    """Dozens of pictures that the body of a request cannot hold: the old ones go when the cache has lapsed."""
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "AAAA" * 50_000},
    }
    messages, agent = [user(picture)], opened(form, **COLD, **AGE[form])
    for _ in range(20):
        agent.send(messages)
        messages += [says("I see."), user(picture)]
    big = len(json.dumps(agent.send(messages).messages))
    small = len(json.dumps(agent.cold(messages).messages))
    assert small < big / 5


@FORMS
def test_H64_a_full_text_read_back_is_shown(opened: Any, talk: Any, grow: Any, form: str) -> None:
    """What the model reads back it sees in full, for as long as any other result; then the way back is the same."""
    agent: Play = opened(form, **AGE[form])
    talk.round(("Bash", {"command": "x"}, LONG))
    for _ in range(4):
        agent.send(grow())
    path = agent.session.view.stored(agent.session.view.results[0].block)
    assert path in shown(agent.send(grow()))
    talk.round(("Read", {"file_path": path}, LONG))
    for n in range(6):
        last = agent.send(talk.messages if not n else grow()).messages
        content = next(m for m in last[::-1] if path in json.dumps(m) and m["role"] == "assistant")
        answer = last[last.index(content) + 1]["content"][0]["content"]
        assert (answer == LONG) == (n < {"cleared": 2, "digest": 3}[form])
    assert answer.endswith("To see it, call Read again." if form == "cleared" else path)


@FORMS
def test_H69_a_resumed_session_sends_the_same_bytes(opened: Any, grow: Any, form: str) -> None:
    """A new process renders what the first one cleared letter for letter, and clears none of it again."""
    agent = opened(form, **COLD, **AGE[form])
    for _ in range(6):
        agent.send(grow())
    messages = grow()
    first = agent.cold(messages)
    agent.again()
    resumed = agent.send(messages)
    assert (raw(resumed), decided(resumed)) == (raw(first), [])
    assert why(resumed, "micro-compact") == {}
