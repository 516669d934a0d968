"""Pins hold on every path: through every stage, by hand, in recovery, again and again, after restarts and forks.

What must stay is known from what was said, not from what the kernel says is pinned.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from play import Play, says, text, user
from trimtab import AskFailed, Request
from trimtab.ask import Ask
from trimtab.summary import SECTIONS
from trimtab.testing.talk import Talk
from trimtab.testing.walk import Walk

LOW: dict[str, Any] = {"when": ["cold", {"over": 0.02}]}
STAGES: dict[str, list[Any]] = {
    "tool-result-budget": ["tool-result-budget"],
    "snip": [{"snip": {"mode": "redundant", "when": ["cold", {"over": 0.02}]}}],
    "snip by the model": [{"snip": {"mode": "model", **LOW}}],
    "micro-compact": [{"micro-compact": {"form": "cleared", "keep": 1, **LOW}}],
    "context-collapse": [{"context-collapse": {"mode": "spans", "writer": "mechanical", "age": 2, **LOW}}],
    "stale-reads": [{"context-collapse": {"mode": "stale-reads", **LOW}}],
    "session-memory": [{"session-memory": {"first": 100, "tokens": 50, "calls": 1, **LOW}}],
    "auto-compact": [{"auto-compact": {"keep": {"messages": 2}, **LOW}}],
    "reactive-compact": ["reactive-compact"],
}
STAGES["all"] = [stage for stages in STAGES.values() for stage in stages if stage != {"snip": {"mode": "model", **LOW}}]
HOOKS: list[Any] = [{"pins": {"contains": "#keep"}}, "constraints"]

LOSES = "\n".join(f"{heading}\nNone." for heading in SECTIONS)
"""A summary that keeps nothing."""

KEPT = re.compile(r"#keep rule \d+ of \w+|Never push to branch \d+ of \w+\.")


class Ruled(Talk):
    """A conversation in which the user lays down rules, now and then."""

    def user(self) -> list[Any]:
        """What a user says, one part of it now and then with a rule."""
        self.rule = getattr(self, "rule", 0) + 1
        said, mine = super().user(), self.rng.randrange(1_000_000)
        if self.odds(30):
            said.append(f"{self.text(3)}\n#keep rule {self.rule} of x{mine}\n{self.text(3)}")
        if self.odds(30):
            said.append(f"All good. Never push to branch {self.rule} of y{mine}. Thanks!")
        return said


class Path(Walk):
    """Looks at every request: all rules that were said on this path are there, verbatim."""

    def __init__(self, rng: random.Random, dialect: str, stages: Sequence[Any], **more: Any) -> None:
        provider = {"prefix_bound": bool(rng.randrange(2)), "window": 60_000}
        super().__init__(rng, dialect=dialect, stages=stages, hooks=HOOKS, provider=provider, **more)
        self.talks = [Ruled(rng, name, 0.0, dialect) for name in ("main", "sub")]

    def sent(self, handed: Sequence[Any], request: Request, *rest: Any) -> Request:
        """Check one request."""
        assert missing(handed, request) == set(), self.log[-5:]
        return super().sent(handed, request, *rest)


def missing(handed: Sequence[Any], request: Request) -> set[str]:
    """The rules that the user gave and the request does not hold."""
    said = {rule for message in handed if message.get("role") == "user" for rule in KEPT.findall(_words(message))}
    return {rule for rule in said if rule not in _words([*request.messages])}


def _words(wire: Any) -> str:
    return json.dumps(wire, ensure_ascii=False)


def forgets(rng: random.Random) -> Any:
    """A model that summarises badly, in each way in which an answer may be accepted, or not."""

    def answer(ask: Ask) -> str:
        if rng.randrange(4) == 0:
            raise AskFailed("no answer")
        return (LOSES, "It went well.", f"<summary>{LOSES}</summary>")[rng.randrange(3)]

    return answer


@pytest.mark.parametrize("dialect", ["anthropic", "openai", "responses"])
@pytest.mark.parametrize("stages", STAGES)
def test_pins_hold_through_every_stage(stages: str, dialect: str) -> None:
    """Whatever happens around: pauses, rewinds, restarts, undone decisions, compactions, refusals, bad summaries."""

    @settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(seed=st.integers(0, 2**32))
    def walks(seed: int) -> None:
        rng = random.Random(seed)
        Path(rng, dialect, STAGES[stages], ask=forgets(rng), stage_tools=bool(rng.randrange(2))).go(10)

    walks()


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["anthropic", "openai", "responses"])
@pytest.mark.parametrize("stages", STAGES)
def test_pins_hold_through_every_stage_at_length(stages: str, dialect: str) -> None:
    """The same with many seeds."""
    for seed in range(60):
        rng = random.Random(seed)
        Path(rng, dialect, STAGES[stages], ask=forgets(rng), stage_tools=bool(rng.randrange(2))).go()


def conversation(count: int, first: int = 0) -> Iterator[dict[str, Any]]:
    """Questions and answers; every fifth question holds a rule."""
    for n in range(first, first + count):
        rule = f" #keep rule {n} of x" if n % 5 == 0 else f" Never push to branch {n} of y." if n % 5 == 1 else ""
        yield user(text(f"Question {n}.{rule} " + "Look at the parser, line by line. " * 20))
        yield says(f"Answer {n}. " + "It reads one line after the other. " * 20)


def expected(count: int) -> list[str]:
    """The rules of the first questions, in order."""
    rules = (f"#keep rule {n} of x" if n % 5 == 0 else f"Never push to branch {n} of y." for n in range(count))
    return [rule for n, rule in enumerate(rules) if n % 5 < 2]


@pytest.mark.parametrize("stage", ["auto-compact", "session-memory", "reactive-compact", "context-collapse"])
@pytest.mark.parametrize("writer", ["mechanical", "a model that forgets"])
def test_fifty_times_in_a_row(stage: str, writer: str) -> None:
    """Compacted after every exchange, resumed each seventh time: every rule is there, once, in order."""
    options = {"auto-compact": {"keep": {"messages": 2}}, "context-collapse": {"age": 2}}.get(stage, {})
    stages = [stage] if stage == "reactive-compact" else [{stage: {**options, "when": "cold"}}]
    ask = (lambda ask: LOSES) if writer != "mechanical" else None
    play = Play(
        stages=stages, hooks=HOOKS, ask=ask, provider={"window": 12_000 if stage == "reactive-compact" else 60_000}
    )
    for n in range(1, 51):
        messages = [*conversation(n), user("Go on.")]
        play.now += 3_600
        request = play.session.prepare(messages) if stage == "reactive-compact" else play.session.compact(messages)
        assert request.report.failures == []
        assert missing(messages, request) == set()
        if n % 7 == 0:
            play.again()
    if stage in ("auto-compact", "reactive-compact"):
        summary, *carried = request.messages[0]["content"]
        assert KEPT.findall(_words([carried, *request.messages[1:]])) == expected(50)
        assert summary["text"].startswith("<summary>")


def test_a_fork_keeps_its_own() -> None:
    """Two branches behind one boundary: what was pinned before the fork is in both, what came after in its own."""
    play = Play(stages=[{"auto-compact": {"keep": {"messages": 2}, "when": "cold"}}], hooks=HOOKS)
    trunk = list(conversation(8))
    play.session.compact([*trunk, user("Go on.")])
    left = [*trunk, user("Go left. #keep rule 1 of left"), says("Left."), *conversation(4, 20), user("And?")]
    right = [
        *trunk,
        user("Go right. Never push to branch 1 of right."),
        says("Right."),
        *conversation(4, 30),
        user("And?"),
    ]
    for _ in range(2):
        for mine, own, other in ((left, "of left", "of right"), (right, "of right", "of left")):
            request = play.session.compact(mine)
            assert missing(mine, request) == set()
            assert own in _words(request.messages)
            assert other not in _words(request.messages)
        play.again()


@pytest.mark.parametrize("broken", ["", " half \ud83d"])
def test_a_broken_character_beside_a_rule(broken: str) -> None:
    """What had to be mended in a message neither hides its rule nor keeps the conversation from being summarised."""
    play = Play(stages=[{"auto-compact": {"keep": {"messages": 2}, "when": "cold"}}], hooks=HOOKS)
    messages = [user(f"Begin. Never push to branch 1 of y. Thanks!{broken}"), says("Yes."), *conversation(8, 2)]
    messages = [*messages, user("Go on.")]
    for _ in range(2):
        request = play.session.compact(messages)
        assert request.report.boundary is not None
        assert request.report.refused.get("constraints", {}) == {}
        assert "Never push to branch 1 of y." in _words(request.messages)
        messages = [*messages, says("So."), *conversation(4, 30 + len(messages)), user("Go on.")]
