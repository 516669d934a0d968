"""The incremental projection is the full replay, over random growth, edits, copies and branches."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hostile import HostileStage
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from play import Play
from trimtab import Ask, AskFailed, View
from trimtab.edits import Edit, from_row, to_row
from trimtab.neighbours import Refused
from trimtab.projection import Item, Projection
from trimtab.rules import check
from trimtab.testing.talk import Talk


def figures(projection: Projection) -> dict[str, Any]:
    """All that a projection says, as values that can be compared."""
    said = {
        name: value for name, value in vars(projection).items() if name not in ("conversation", "dialect", "version")
    }
    said["items"] = [values(item) for item in projection.items]
    said["wired"] = {at: values(item) for at, item in projection.wired.items()}
    said["path"] = [message.id for message in projection.path]
    said["results"] = [(message.id, n) for message, n in projection.results]
    said["state"] = copy.deepcopy({name: getattr(projection.state, name) for name in projection.state.__slots__})
    said.pop("rows")
    return said


def values(item: Item) -> tuple[Any, ...]:
    """An item's fields, its message by id."""
    fields = [getattr(item, name) for name in item.__slots__ if name not in ("message", "fold")]
    return (*copy.deepcopy(fields), item.message and item.message.id, item.fold and item.fold.run)


class Growth:
    """One conversation that grows and branches; every step is compared with a projection made from scratch."""

    def __init__(self, seed: int) -> None:
        self.rng = HostileStage.rng = random.Random(seed)
        self.session = Play().session
        self.conversation = self.session.conversation
        self.talk = Talk(self.rng, "x", self.rng.choice([0.0, 0.4]))
        self.rows: list[tuple[int, Edit]] = []
        self.kept: list[tuple[Projection, dict[str, Any]]] = []
        self.seq = 0
        self.projection = Projection(self.conversation, self.located(), [])

    def located(self) -> list[Any]:
        """The path of what the agent says now."""
        return self.conversation.locate(self.talk.messages).path

    def full(self) -> Projection:
        """The replay of all rows on this path."""
        return Projection(self.conversation, list(self.projection.path), self.projection.rows)

    def same(self) -> None:
        """Incremental and full say the same, and what was copied before is untouched."""
        assert figures(self.projection) == figures(self.full())
        for other, then in self.kept:
            assert figures(other) == then

    def grow(self) -> None:
        """New messages, with the dialect's repairs of them."""
        shared = len(self.projection.path)
        self.talk.step()
        if self.rng.random() < 0.2:  # a message that its repair leaves out, at the very end
            self.talk.messages.append({"role": "user", "content": " "})
        path = self.located()
        self.projection.extend(path[shared:])
        self.same()
        for repair in self.session.dialect.repair(path, shared):
            if self.projection.state.repairs.get(repair.message) != repair:
                self.projection.apply(repair)
                self.same()

    def edit(self) -> None:
        """A hostile stage's edits, as far as the rules let them pass, numbered and read back as the ledger does."""
        context = self.session.context
        view = View(self.projection, context)
        for proposed in self.proposals(view):
            try:
                edit = check(view, proposed)
            except (Refused, AttributeError, TypeError):
                continue
            self.projection.apply(edit)
            self.same()
        self.seq += 1
        self.projection.rows = [(n or self.seq, from_row(to_row(edit))) for n, edit in self.projection.rows]
        self.rows = list(self.projection.rows)

    @staticmethod
    def proposals(view: View) -> Iterator[Any]:
        """What the stage yields; nobody answers it."""
        stage = HostileStage().propose(view)
        answer: Any = None
        try:
            while True:
                edit = stage.throw(answer) if answer else stage.send(None)  # type: ignore[attr-defined]
                answer = AskFailed("nobody") if isinstance(edit, Ask) else None
                if answer is None:
                    yield edit
        except Exception:  # its end, or its own failure
            return

    def branch(self) -> None:
        """Back to an earlier point; what all edits say there is replayed, and the conversation goes on from it."""
        ends = [n for n in range(1, len(self.talk.messages)) if self.talk.messages[n - 1]["role"] == "user"]
        del self.talk.messages[self.rng.choice(ends or [1]) :]
        self.projection = Projection(self.conversation, self.located(), self.rows)
        self.same()

    def keep(self) -> None:
        """Go on with a copy; the first one must not change any more."""
        self.kept = [*self.kept[-2:], (self.projection, figures(self.projection))]
        self.projection = self.projection.copy()

    def walk(self, steps: int) -> None:
        """Some of all this."""
        for _ in range(steps):
            step = self.rng.choices([self.grow, self.edit, self.keep, self.branch], [5, 4, 2, 1])[0]
            step()
            self.same()


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(min_value=0, max_value=2**32), steps=st.integers(1, 25))
def test_the_incremental_projection_is_the_full_replay(seed: int, steps: int) -> None:
    """After every message, edit, repair, copy and branch: items, keys, weights, state and sizes are the replay's."""
    Growth(seed).walk(steps)


@pytest.mark.parametrize("seed", range(10))
def test_it_is_for_fixed_seeds(seed: int) -> None:
    """The same, for seeds that never change."""
    Growth(seed).walk(30)


def test_the_walk_meets_what_it_is_about() -> None:
    """In some walks every kind of edit is recorded, so that the tests above can fail."""
    kinds: set[str] = set()
    for seed in range(12):
        growth = Growth(seed)
        growth.walk(30)
        kinds |= {edit.kind for _, edit in growth.rows}
    assert kinds >= {"replace", "drop", "fold", "insert", "restore", "note", "repair"}
