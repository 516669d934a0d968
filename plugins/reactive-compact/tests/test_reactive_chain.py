"""The chain: which step comes when, how much stays, and what each step leaves."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from trimtab import ContextOverflow, Hook, Pin, hookimpl
from trimtab.testing.walk import Walk
from trimtab_reactive_compact import ReactiveCompact
from trimtab_reactive_compact.truncated import counted

DIALECTS = pytest.mark.parametrize("dialect", ["anthropic", "openai"])
ROUNDS = [700] * 38
"""About 15,000 tokens in a window of 20,000."""
OVER, LIMIT = 21_000, 20_000
AGAIN = (20_200, 20_100, 20_050)
"""What the provider counts, refusal after refusal."""


def words(messages: list[Any]) -> str:
    """All that is shown."""
    return str(messages)


@DIALECTS
def test_each_refusal_of_a_request_is_answered_by_the_next_step(
    opened: Any, rounds: Any, summary: Any, dialect: str
) -> None:
    """A model, then rule, then nothing but where it stands; then `ContextOverflow`."""
    run = opened(dialect, ask=summary)
    run.prepare(rounds(dialect, ROUNDS))
    shown = [words(run.refused(over, LIMIT)) for over in AGAIN]
    assert run.steps == ["model", "mechanical", "truncate"]
    assert "The parser was read." in shown[0]
    assert "Written by rule" in shown[1]
    assert "<truncated>" in shown[2]
    assert "The parser was read." in shown[2], "a summary goes before the rounds behind it"
    assert len(run.asked) == 1
    with pytest.raises(ContextOverflow, match="the provider refused the request"):
        run.refused(OVER, LIMIT)


@DIALECTS
def test_H50_steps_are_remembered_over_restarts(opened: Any, rounds: Any, summary: Any, dialect: str) -> None:
    """A new process that sends the same request goes on where the old one was; the next request begins anew."""
    run = opened(dialect, ask=summary)
    messages = rounds(dialect, ROUNDS)
    run.prepare(messages)
    run.refused(OVER, LIMIT)
    run.open()
    run.prepare(messages)
    run.refused(AGAIN[1], LIMIT)
    assert run.steps == ["model", "mechanical"]
    assert len(run.asked) == 1
    run.observe(10_000)
    run.prepare(rounds(dialect, [*ROUNDS, *[700] * 6]))
    run.refused(OVER, LIMIT)
    assert run.steps == ["model"]
    assert "The parser was read." in run.asked[-1].prompt, "the earlier summary is part of the next one's input"


@DIALECTS
@settings(max_examples=20, deadline=None)
@given(
    sizes=st.lists(st.integers(100, 6_000), min_size=6, max_size=30),
    share=st.floats(0.5, 0.95),
    ask=st.booleans(),
)
def test_H51_as_many_of_the_newest_rounds_stay_as_fit(
    opened: Any, rounds: Any, summary: Any, dialect: str, sizes: list[int], share: float, ask: bool
) -> None:
    """What is folded ends where the rest fits the limit just learned: with one more round it would not."""
    run = opened(dialect, window=200_000, ask=summary if ask else None)
    messages = rounds(dialect, sizes)
    run.prepare(messages)
    tokens = int(run.request.report.tokens_after)
    assume(share * tokens > 1_000)  # a smaller limit is not believed for long
    shown = run.refused(tokens, int(share * tokens))
    after, target = run.request.report.tokens_after, run.session.window.auto
    assert after <= target
    if run.steps not in (["model"], ["mechanical"]):
        return  # one result is too large by itself, or a fold of little rounds is no shorter
    first = len(messages) - (len(shown) - 1)
    assert shown[1:] == messages[first:]
    factor, view = run.session.meter.factor, run.session.view
    more = factor * run.count(messages[first - 2 : first])
    assert after - factor * view.messages[0].tokens + more + run.room > target


@DIALECTS
def test_H43_less_stays_where_less_is_wanted(opened: Any, rounds: Any, dialect: str) -> None:
    """`keep` is honoured here too: so many messages stay, if they fit."""
    run = opened(dialect, keep={"messages": 4})
    messages = rounds(dialect, ROUNDS)
    run.prepare(messages)
    assert run.refused(OVER, LIMIT)[1:] == messages[-4:]
    more = opened(dialect, keep={"messages": 60, "max": "200k"})
    more.prepare(messages)
    assert 10 < len(more.refused(OVER, LIMIT)) < 60, "more than fits"


def test_nobody_is_asked_where_nobody_shall_be(opened: Any, rounds: Any, summary: Any) -> None:
    """`writer: mechanical` never asks; without a model `writer: model` writes by rule."""
    for run in (opened(ask=summary, writer="mechanical"), opened()):
        run.prepare(rounds("anthropic", ROUNDS))
        assert "Written by rule" in words(run.refused(OVER, LIMIT))
        assert run.steps == ["mechanical"]
        assert run.asked == []
        assert run.request.report.warnings == []


@DIALECTS
def test_H44_one_summary_stands_for_all_that_was_summarised_by_rule(opened: Any, rounds: Any, dialect: str) -> None:
    """Request after request: what a rule wrote is told anew in the next one, from the first word of the user on."""
    run = opened(dialect)
    for count in (38, 50, 62):
        run.prepare(rounds(dialect, [700] * count, first="Mend it with care."))
        if not run.steps:
            run.refused(OVER, LIMIT)
        folds = [item for item in run.session.view.messages if item.fold]
        assert len(folds) == 1
        assert "The user began with: Mend it with care." in folds[0].text
        run.observe(15_000)


class Rules(Hook):
    """Pins what the user said, and one result."""

    name = "rules"

    @hookimpl
    def pre_compact(self, view: Any, trigger: str) -> Any:
        """The question; the second round's third line."""
        for item in view.messages:
            for block in item.message.blocks if item.message else ():
                if "Never push" in block.text:
                    yield Pin(block, "a rule")
                if "line_1_2 of" in block.text:
                    yield Pin(block, "a line", text="line_1_2 of the output")


@DIALECTS
@pytest.mark.parametrize("writer", ["model", "mechanical"])
def test_H40_H41_pins_stand_behind_every_step(
    opened: Any, rounds: Any, summary: Any, dialect: str, writer: str
) -> None:
    """Summarised by whom ever, or truncated: what is pinned follows verbatim, once."""
    run = opened(dialect, ask=summary, hooks=(Rules,), writer=writer)
    run.prepare(rounds(dialect, ROUNDS, first="Mend it. Never push to main. " * 20))
    for over in AGAIN[writer == "mechanical" :]:
        shown = words(run.refused(over, LIMIT))
        assert shown.count("Mend it. Never push to main. " * 20) == 1
        assert shown.count("line_1_2 of the output") == 1
        assert "line_1_3" not in shown
    assert run.steps[-2:] == ["mechanical", "truncate"]


@DIALECTS
def test_what_pins_weigh_is_reckoned_with(opened: Any, rounds: Any, dialect: str) -> None:
    """They are carried, so folding the message that holds them frees nothing: one step is still enough."""
    run = opened(dialect, hooks=(Rules,))
    run.prepare(rounds(dialect, [700] * 32, first="Never push to main. " * 250))
    run.refused(OVER, LIMIT)
    assert run.steps == ["mechanical"]


@DIALECTS
def test_H42_what_was_taken_away_says_how_much_and_where(opened: Any, rounds: Any, tmp_path: Any, dialect: str) -> None:
    """The text of a truncation holds nothing of what it stands for but its size and the path; restoring undoes it."""
    run = opened(dialect, writer="mechanical", folder=tmp_path)
    messages = rounds(dialect, ROUNDS)
    run.prepare(messages)
    before = run.refused(OVER, LIMIT)
    shown = run.refused(AGAIN[1], LIMIT)
    text = next(item.text for item in run.session.view.messages if "<truncated>" in item.text)
    lines = text.splitlines()
    assert lines[1].startswith("Earlier work in this conversation was taken away here, for the request was too large: ")
    assert "line_" not in text
    stored = Path(lines[2].removeprefix("Full text: ")).read_text("utf-8")
    gone = [message for message in before if message not in shown]
    assert len(gone) > 2
    assert f"{len(gone) // 2} rounds, {len(stored):,} characters" in lines[1]
    for message in gone:
        (answer,) = [block.text for block in run.session.dialect.parse(message, "m")[1] if block.type != "tool_use"]
        assert answer in stored
    run.observe(5_000)
    (row,) = [one for one in run.session.explain() if "taken away" in one["why"]]
    run.session.restore(row["decision"])
    assert run.prepare(messages) == before


def test_what_came_back_is_not_hidden_again(opened: Any, rounds: Any) -> None:
    """What a user restored stays where it is; what is folded is folded around it."""
    run = opened(writer="mechanical", keep={"messages": 2})
    messages = rounds("anthropic", [2_000] * 6)
    run.prepare(messages)
    run.refused(20_001, LIMIT)
    run.observe(2_000)
    (row,) = [one for one in run.session.explain() if one["kind"] == "fold"]
    run.session.restore(row["decision"])
    assert run.prepare(messages) == messages
    more = rounds("anthropic", [2_000] * 12)
    run.prepare(more)
    shown = run.refused(20_001, LIMIT)
    assert shown[:11] == more[:11]
    assert len(shown) == 11 + 1 + 2
    assert run.request.report.refused == {}


def test_system_messages_stay_where_they_are(opened: Any, rounds: Any) -> None:
    """Chat formats may have them in mid-conversation: each side is folded by itself."""
    messages = rounds("openai", ROUNDS)
    messages.insert(7, {"role": "system", "content": "Be quick."})
    run = opened("openai", writer="mechanical", keep={"messages": 2})
    run.prepare(messages)
    shown = run.refused(OVER, LIMIT)
    assert [message["role"] for message in shown] == ["user", "system", "user", "assistant", "tool"]
    assert shown[1] is messages[7]


def test_no_summary_follows_a_system_message(opened: Any, rounds: Any) -> None:
    """Where a format wants an answer behind a system message, that answer's round stays."""
    messages = rounds("anthropic", ROUNDS)
    messages.insert(7, {"role": "system", "content": "Be quick."})
    run = opened(writer="mechanical", keep={"messages": 2})
    run.prepare(messages)
    shown = run.refused(OVER, LIMIT)
    assert [message["role"] for message in shown] == [
        "user",
        "system",
        "assistant",
        "user",
        "user",
        "assistant",
        "user",
    ]
    assert shown[2:4] == messages[8:10]


def test_rounds_are_counted_through_earlier_folds(opened: Any, rounds: Any) -> None:
    """What takes an earlier summary away says how many rounds that stood for."""
    run = opened(writer="mechanical")
    run.prepare(rounds("anthropic", ROUNDS))
    run.refused(OVER, LIMIT)
    items = run.session.view.messages
    inside = (len(items[0].covers) - 1) // 2
    assert counted(run.session.view, items[:1]) == f"{inside} rounds"
    assert counted(run.session.view, items[:3]) == f"{inside + 1} rounds"


@DIALECTS
def test_broken_conversations_are_cut_between_whole_rounds(dialect: str, summary: Any) -> None:
    """Lost, doubled and late results: no fold is refused for what it would tear apart, and all promises hold."""
    provider = {"window": 8_000}
    for seed in (10, 33, 74, 145):  # where repairs move results across the edges of rounds
        walk = Walk(
            random.Random(seed),
            ReactiveCompact,
            dialect=dialect,
            stages=["reactive-compact"],
            ask=summary,
            provider=provider,
            flaws=0.3,
        ).go(20)
        refused = set(walk.refusals.get("reactive-compact", ()))
        assert refused <= {"does not shrink", "repaired"}


def test_a_session_of_2_000_rounds_recovers_quickly(opened: Any, rounds: Any) -> None:
    """What is folded is looked at a few times, not once for each round."""
    run = opened(writer="mechanical", window=2_000_000)
    run.prepare(rounds("anthropic", [2_000] * 2_000))
    assert len(run.refused(2_400_000, 2_000_000)) < 3_000
