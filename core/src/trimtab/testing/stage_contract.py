"""`StageContract`: the tests that every stage should pass, or say why it cannot."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from trimtab.edits import Drop, Fold, Replace, message_ids, targets
from trimtab.errors import ContextOverflow
from trimtab.stage import Stage
from trimtab.testing import material
from trimtab.testing.contract import DIALECTS, EXAMPLES, MISTAKES, Contract, check_name, check_options, run, walks
from trimtab.testing.probe import Probe, observed
from trimtab.testing.strategies import FLAWS
from trimtab.testing.walk import START, Walk
from trimtab.testing.witness import Witness, packed

__all__ = ["StageContract"]

WHENS: dict[str, dict[str, Any]] = {
    "none": {"when": []},
    "cold": {"when": "cold"},
    "idle": {"when": {"idle": "5m"}},
    "over": {"when": {"over": 0.01}},
    "always": {"when": "always", "warm": "allow"},
    "pays": {"when": "pays"},
}
PROMISES = max(1, 4 * EXAMPLES // 5)
"""Conversations for each `when`, which are many."""
WINDOWS = (200_000, 200_000, 6_000)
"""Tokens; the last is soon full."""
LATER = 40_000_000.0
"""Seconds: what a stage shows may not depend on the time of day."""

dialects = pytest.mark.parametrize("dialect", DIALECTS)
whens = pytest.mark.parametrize("when", WHENS)


class StageContract(Contract):
    """What every stage should do; subclass it as ``Test…`` and name the stage.

    ::

        class TestClearOld(StageContract):
            stage = ClearOld
            options = {"keep": 2}

    It runs in made-up conversations in every dialect. A test that the stage cannot pass is overridden by an expected
    failure with its reason; nothing else may be overridden. ``CONTRACT_EXAMPLES`` in the environment (4) says how many
    conversations each case tries.
    """

    about = ("stage", Stage)
    stage: ClassVar[type[Stage]]
    options: ClassVar[Mapping[str, Any]] = {}
    """Its keys as in a profile; `when`, `warm` and `unless` are the contract's."""
    seconds: ClassVar[float] = 2.0
    """What the stage may take for a conversation of 2,000 results."""

    # ------------------------------------------------------------------ the promises

    @dialects
    @whens
    def test_promises_hold(self, dialect: str, when: str) -> None:
        """Every request is valid, pinned, stable, frozen, shrunk and stored, whatever happens around it."""
        walks(lambda rng: self._walk(rng, dialect, WHENS[when]), lambda walk: None, examples=PROMISES)

    @dialects
    def test_pins_stay(self, dialect: str) -> None:
        """What the user said and half of the results are pinned: they stay, with the calls that they answer."""
        walk = Walk(random.Random(0), self.stage, material.Pinner, dialect=dialect, **self._listed("always", "pin-all"))
        messages, witness = material.rounds(dialect, 12), Witness(bound=False)
        for prepare in (walk.session.prepare, walk.session.compact):
            request = prepare(messages)
            witness(walk.session, messages, request)
        pins = walk.session.view.pins
        decided = [one for one in walk.session.ledger.decisions if one.stage == self.stage.name]
        assert len(pins) > 6 or not decided, "the pins were not asked for before the stage's edits"

    @dialects
    def test_free_edits_are_of_what_was_not_sent(self, dialect: str) -> None:
        """Without a `when` the stage changes only what follows the last answer."""

        def check(walk: Walk) -> None:
            mine = [one for one in walk.session.ledger.decisions if one.stage == self.stage.name]
            assert all(one.free or one.trigger == "overflow" for one in mine)

        walks(lambda rng: self._walk(rng, dialect, WHENS["none"]), check)

    @dialects
    def test_bad_answers_change_nothing(self, dialect: str) -> None:
        """What was to be summarised stays as it is where the model's answer cannot be used."""
        for bad in material.BAD_ANSWERS:
            probe, ask = Probe(), material.Asker(bad)
            walk = self._observed(probe, dialect, ask=ask)
            walk.session.compact(material.rounds(dialect, 12))
            covered = {id.partition(".")[0] for one in probe.asked for id in message_ids(one.covers)}
            everything = any(not one.covers for one in probe.asked)
            for one in (one for one in walk.session.ledger.decisions if one.stage == self.stage.name):
                for edit in (edit for edit in one.edits if isinstance(edit, Drop | Fold | Replace)):
                    hidden = covered.intersection(id.partition(".")[0] for id in targets(edit))
                    assert not hidden, f"{edit.kind} of what the answer {bad!r} was to stand for"
                    assert not (everything and isinstance(edit, Fold)), f"a fold in spite of the answer {bad!r}"

    # ------------------------------------------------------------------ its own conduct

    @dialects
    def test_never_fails(self, dialect: str) -> None:
        """It raises nothing, and proposes nothing that could never be accepted."""

        def check(walk: Walk) -> None:
            failures = [failure for failure in walk.failures if failure.startswith(f"{self.stage.name}: ")]
            assert [failure for failure in failures if "AskFailed" not in failure] == []
            refusals: Mapping[str, int] = walk.refusals.get(self.stage.name, {})
            assert [why for why in refusals if any(mistake in why for mistake in MISTAKES)] == []

        walks(lambda rng: self._walk(rng, dialect, self._any(rng)), check, examples=2 * EXAMPLES)

    @dialects
    def test_survives_small_conversations(self, dialect: str) -> None:
        """Nothing, one message, or only a system message: it finds nothing to do and does not fail."""
        for messages in material.small(dialect):
            walk = Walk(random.Random(0), self.stage, dialect=dialect, **self._listed("always"))
            for prepare in (walk.session.prepare, walk.session.compact):
                request = prepare(messages)
                assert request.messages == messages
                assert request.report.failures == []

    @dialects
    def test_same_view_same_edits(self, dialect: str) -> None:
        """No clock, counter, chance or memory in what it decides and shows: at another time it does the same."""

        def check(seed: int) -> None:
            first, second = (self._seeded(seed, dialect, start) for start in (START, START + LATER))
            for one, other in zip(first.requests, second.requests, strict=True):
                here, there = (
                    [packed(walk.session.dialect, wire) for wire in request.messages]
                    for walk, request in ((first, one), (second, other))
                )
                assert here == there, "the same conversation gave other messages"
                assert _decided(one) == _decided(other)

        run(check, material.seeds())

    @dialects
    def test_proposes_nothing_twice(self, dialect: str) -> None:
        """A second pass over an unchanged conversation decides nothing."""

        def check(walk: Walk) -> None:
            talk = walk.talks[0]
            for again in range(10):
                try:
                    request = walk.session.prepare(list(talk.messages), system=talk.wire.system)
                except ContextOverflow:
                    return
                mine = [one for one in request.report.decisions if one.stage == self.stage.name]
                assert not again % 2 or not mine, "a pass without news made a decision"
                if again % 2:
                    walk.now += 4_000.0 * walk.rng.randrange(2)
                    talk.step()

        walks(lambda rng: self._walk(rng, dialect, self._any(rng), calm=True), check, steps=0)

    def test_looks_at_nothing_but_the_view(self) -> None:
        """No I/O, no clock, no random numbers while it proposes: `view.now` is its clock, `Ask` its only I/O."""
        self._seeded(0, DIALECTS[0], START)  # what it imports late is imported now
        probe = Probe(guard=True)
        walks(lambda rng: self._walk(rng, DIALECTS[0], self._any(rng), probe), lambda walk: None, steps=5)
        assert sorted(set(probe.forbidden)) == []

    @dialects
    def test_leaves_the_view_alone(self, dialect: str) -> None:
        """Only the kernel changes what a view shows; the objects it hands out stay as they are."""
        probe = Probe(compare=True)
        walks(lambda rng: self._walk(rng, dialect, self._any(rng), probe), lambda walk: None, steps=5)
        assert sorted(set(probe.changed)) == []

    @dialects
    def test_shows_clean_text(self, dialect: str) -> None:
        """No half characters in its texts, although tools cut their output in the middle of one."""
        probe = Probe()
        walk = self._observed(probe, dialect)
        for messages in material.halves(dialect):
            walk.session.prepare(messages)
        walk.session.compact(messages)
        halves = [text for text in probe.texts if any("\ud800" <= letter <= "\udfff" for letter in text)]
        assert not halves, f"half a character (a lone surrogate) in a shown text: {halves[0][-80:]!r}"

    @pytest.mark.parametrize("dialect", DIALECTS[:1])  # a view is read alike in each
    def test_is_fast(self, dialect: str) -> None:
        """Its proposals for 2,000 results, none of them carried out, take it no longer than ``seconds``."""
        session = Walk(random.Random(0), dialect=dialect, provider={"window": 100_000_000}).session
        session.prepare(material.rounds(dialect, 2_000))
        stage, probe = self._made(), Probe()
        probe.run(stage.propose, session.view, most=self.seconds)
        assert probe.seconds < self.seconds, f"{probe.seconds:.1f} s or more for 2,000 results"

    # ------------------------------------------------------------------ its looks

    def test_name_is_that_of_an_entry_point(self) -> None:
        """Lower-case words with dashes, as profiles and distributions spell it."""
        check_name(self.stage.name)

    def test_options_are_documented(self) -> None:
        """Every option has a docstring, the model has one, and an editor gets a JSON Schema of it."""
        check_options(self.stage.Options, self.options)
        assert self.stage.Options.model_validate(dict(self.options))

    # ------------------------------------------------------------------

    def _made(self) -> Stage:
        """The stage as a session makes it."""
        own = {key: value for key, value in self.options.items() if key != "unless"}
        return self.stage(self.stage.Options.model_validate({**own, **WHENS["always"]}))

    def _instead(self, probe: Probe | None) -> dict[type, type]:
        return {self.stage: observed(self.stage, probe)} if probe else {}

    def _listed(self, when: str | Mapping[str, Any], *hooks: str, ask: Any = None) -> dict[str, Any]:
        own = {key: value for key, value in self.options.items() if key != "unless"}
        return {
            "stages": [{self.stage.name: {**own, **(WHENS[when] if isinstance(when, str) else when)}}],
            "hooks": list(hooks),
            "ask": ask or material.Asker(),
        }

    def _any(self, rng: random.Random) -> Mapping[str, Any]:
        return list(WHENS.values())[rng.randrange(len(WHENS))]

    def _walk(
        self,
        rng: random.Random,
        dialect: str,
        when: Mapping[str, Any],
        probe: Probe | None = None,
        *,
        calm: bool = False,
        start: float = START,
    ) -> Walk:
        """A walk with this stage; unless it is ``calm`` with pins at random, and a model that answers well or badly."""
        hook = material.pinner(rng)
        return Walk(
            rng,
            self.stage,
            hook,
            dialect=dialect,
            instead=self._instead(probe),
            **self._listed(when, *([] if calm else [hook.name]), ask=material.Asker() if calm else material.moody(rng)),
            provider={
                "prefix_bound": bool(rng.randrange(2)),
                "window": WINDOWS[rng.randrange(len(WINDOWS))],
                "cache_edits": bool(rng.randrange(2)),
                "context_management": bool(rng.randrange(2)),
            },
            stage_tools=bool(rng.randrange(2)),
            flaws=FLAWS * rng.randrange(2),
            marks=bool(rng.randrange(2)),
            start=start,
        )

    def _seeded(self, seed: int, dialect: str, start: float) -> Walk:
        rng = random.Random(seed)
        return self._walk(rng, dialect, self._any(rng), start=start).go(8)

    def _observed(self, probe: Probe, dialect: str, ask: Any = None) -> Walk:
        return Walk(
            random.Random(0),
            self.stage,
            dialect=dialect,
            instead=self._instead(probe),
            **self._listed("always", ask=ask),
        )


StageContract.contract = StageContract


def _decided(request: Any) -> list[tuple[str, int, float, bool]]:
    return [(one.stage, one.edits, one.freed, one.free) for one in request.report.decisions]
