"""Properties of mode ``model``: whatever a model snips, every promise holds, in both formats."""

from __future__ import annotations

import random
from typing import Any

import pytest
from trimtab import ContextOverflow
from trimtab.testing import contract, material, strategies
from trimtab.testing.walk import Walk
from trimtab.testing.wires import Call
from trimtab.testing.witness import packed
from trimtab_snip import Snip

WHENS: list[dict[str, Any]] = [
    {"when": "always", "warm": "allow"},
    {"when": "cold"},
    {"when": {"over": 0.01}, "target": 0.005},
    {"when": "pays", "at_least": 200},
]


class SnipWalk(Walk):
    """A walk in which the model calls the tool now and then, with tags that there are and that there are not."""

    def request(self, talk: Any, witness: Any) -> Any:
        """A request, and perhaps a call of the tool."""
        sent = super().request(talk, witness)
        if sent is not None and self.odds(60):
            self.snip(talk)
        return sent

    def snip(self, talk: Any) -> None:
        """Some random tags; what is accepted is still in the view."""
        view = self.session.view
        known = [view.tag(item) for item in view if view.tag(item)] + ["000000", "[id:zzz"]
        ids = [known[self.rng.randrange(len(known))] for _ in range(self.rng.randint(1, 5))]
        block = talk.wire.call(Call("snip_1", "snip", {"ids": ids, "reason": "half \ud83d"}))
        before = [item.key for item in view]
        result = self.session.call_tool(block)
        assert [item.key for item in self.session.view] == before, "a call by itself changes nothing"
        text = result.get("content", result.get("output"))
        assert ("will leave the context" in text) != ("Nothing will go." in text)
        self.log.append(f"snip {ids}: {text.splitlines()[0]}")


def walk(rng: random.Random, dialect: str, when: dict[str, Any]) -> SnipWalk:
    """A walk with this `when`, eager reminders, and pins at random."""
    provider = {"prefix_bound": bool(rng.randrange(2)), "window": (200_000, 6_000)[rng.randrange(2)]}
    stages = [{"snip": {"mode": "model", "nudge": 300, **when}}]
    hook = material.pinner(rng)
    return SnipWalk(
        rng,
        Snip,
        hook,
        hooks=[hook.name],
        dialect=dialect,
        stages=stages,
        provider=provider,
        flaws=0.3 * rng.randrange(2),
        marks=True,
        stage_tools=True,
    )


@pytest.mark.parametrize("when", WHENS, ids=["always", "cold", "over", "pays"])
@pytest.mark.parametrize("dialect", ["anthropic", "openai", "responses"])
def test_promises_hold(dialect: str, when: dict[str, Any]) -> None:
    """Requests are valid, pins whole, bytes stable, and a new process without plugins sends the same."""
    made: list[SnipWalk] = []

    def make(rng: random.Random) -> SnipWalk:
        made.append(walk(rng, dialect, when))
        return made[-1]

    def check(walk: Walk) -> None:
        assert walk.failures == []

    contract.walks(make, check, examples=10)
    assert sum("will leave" in line for one in made for line in one.log) > 4, "it snips"


@pytest.mark.parametrize("dialect", ["anthropic", "openai", "responses"])
def test_handed_back(dialect: str) -> None:
    """``prepare(prepare(m).messages)`` changes nothing, in this process or another: tags and reminders are known."""

    def check(rng: random.Random) -> None:
        made = walk(rng, dialect, WHENS[0])
        talk = made.talks[0]
        for _ in range(6):
            if made.request(talk, made.witnesses[0]) is None:
                return
            talk.step()
        try:  # what waits to go goes now
            first = made.session.prepare(talk.messages, system=talk.wire.system)
        except ContextOverflow:
            return
        said = [packed(made.session.dialect, wire) for wire in first.messages]
        for session in (made.session, made.open()):
            again = session.prepare(first.messages, system=talk.wire.system)
            assert [packed(session.dialect, wire) for wire in again.messages] == said
            assert "snip" not in [one.stage for one in again.report.decisions]

    contract.run(check, strategies.numbers(), examples=20)
