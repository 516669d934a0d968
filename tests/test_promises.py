"""The promises (docs/design.md) hold whatever plugins do: a hostile stage and hook over made-up conversations."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import pytest
from hostile import HostileHook, HostileStage
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from talk import Talk

from trimtab import ContextOverflow, Session, load
from trimtab.dialects.anthropic import validate
from trimtab.projection import Projection
from trimtab.storage.memory import MemoryBlobs, MemoryLedger

WHENS: list[Any] = [
    {},
    {"when": "cold"},
    {"when": {"over": 0.001}, "target": 0.0005},
    {"when": "always", "warm": "allow"},
    {"when": ["cold", {"idle": "10m"}], "at_least": 30},
]
PASSES = int(os.environ.get("TRIMTAB_TEST_PASSES", "2000"))
STEPS = 12


class Run:
    """One conversation under hostile plugins; `check` looks at every request."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        HostileStage.rng = HostileHook.rng = self.rng
        self.bound = self.rng.random() < 0.5
        self.options = self.rng.choice(WHENS)
        self.now = 1_000_000.0
        self.ledger, self.blobs = MemoryLedger("memory:"), MemoryBlobs("memory:")
        self.session = self.open()
        self.talk = Talk(self.rng)
        self.last: list[Any] | None = None
        self.gone: set[str] = set()

    def open(self) -> Session:
        overrides = {
            "extends": "minimal",
            "counter": "estimate",
            "provider": {"prefix_bound": self.bound, "window": 200_000},
            "stages": [{"hostile": self.options}],
            "hooks": ["hostile-hook"],
        }
        profile = load("minimal", overrides=overrides, plugins=[HostileStage, HostileHook], env={}, cwd="/")
        return Session.open("s", profile, ledger=self.ledger, blobs=self.blobs, clock=lambda: self.now)

    def walk(self) -> None:
        for _ in range(STEPS):
            self.request(self.talk.messages)
            self.now += self.rng.choice([5, 5, 5, 400, 4_000])
            chance = self.rng.random()
            if chance < 0.1 and len(self.talk.messages) > 4:
                del self.talk.messages[self.rng.randrange(2, len(self.talk.messages)) :]
                while self.talk.messages[-1]["role"] == "assistant":
                    self.talk.messages.pop()
                self.last = None
            elif chance < 0.2:
                self.resume()
            self.talk.step()

    def request(self, messages: list[Any]) -> None:
        prepare = self.session.compact if self.rng.random() < 0.1 else self.session.prepare
        try:
            request = prepare(messages, system="be good")
        except ContextOverflow:
            return
        self.check(messages, request)
        self.last = request.messages

    def check(self, messages: list[Any], request: Any) -> None:
        report, projection = request.report, self.session.projection
        assert not [failure for failure in report.failures if "nothing was decided" in failure], report.failures
        assert [v for v in validate(request.messages) if v.certain] == []
        assert request.messages[-1]["role"] == "user"
        self.same_as_full_replay(projection, request)
        self.stable(request)
        self.pins(request)
        self.thinking(messages, request)
        for message in request.messages:
            if any(message == said for said in messages):
                assert any(message is said for said in messages)
        for decision in self.session.ledger.decisions:
            for edit in decision.edits:
                if edit.kind in ("replace", "drop", "fold", "repair"):
                    ids = edit.what if edit.kind == "drop" else edit.run if edit.kind == "fold" else ()
                    assert all(self.session.ledger.original(id.partition(".")[0]) for id in ids)

    def same_as_full_replay(self, projection: Any, request: Any) -> None:
        full = Projection(projection.conversation, projection.path, self.session.ledger.rows())
        assert [(i.key, i.tokens, i.start, i.end) for i in full.items] == [
            (i.key, i.tokens, i.start, i.end) for i in projection.items
        ]
        assert full.raw == projection.raw
        assert full.state.pins == projection.state.pins

    def stable(self, request: Any) -> None:
        if self.last is None:
            return
        broken = [outcome for outcome in request.report.decisions if not outcome.free]
        if not broken and not request.report.repairs:
            free_on_unsent = request.report.decisions
            size = len(self.last)
            same = request.messages[:size] == self.last
            assert same or free_on_unsent, "sent bytes changed without a decision"

    def pins(self, request: Any) -> None:
        shown = json.dumps(request.messages, ensure_ascii=False)
        for pinned in request.report.pins:
            block = self.session.projection.block(pinned.block)
            if block.type in ("image", "document") and not pinned.text:
                assert json.dumps(block.wire["source"]) in shown
            else:
                words = json.dumps(pinned.text or block.text, ensure_ascii=False)[1:-1]
                assert words in shown, pinned

    def thinking(self, messages: list[Any], request: Any) -> None:
        said = [b for m in messages if isinstance(m["content"], list) for b in m["content"] if "thinking" in b["type"]]
        kept = [
            b
            for m in request.messages
            if isinstance(m["content"], list)
            for b in m["content"]
            if "thinking" in b["type"]
        ]
        assert [b for b in said if b in kept] == kept
        last = next((m for m in reversed(messages) if m["role"] == "assistant"), None)
        if last is not None:
            assert any(m is last or m == last for m in request.messages)
        key = [json.dumps(b) for b in kept]
        assert not self.gone & set(key) or self.last is None
        if any("thinking" in b for b in map(str, said)):
            self.gone |= {
                edit_id
                for edit_id in (
                    json.dumps(self.session.projection.block(id).wire)
                    for id, f in self.session.projection.state.faces.items()
                    if f.text is None
                )
            }

    def resume(self) -> None:
        """A new process: the same stores, the same messages, hooks silent, the same bytes; and our own output back."""
        if self.last is None:
            return
        HostileStage.rng = HostileHook.rng = random.Random(0)
        quiet = load(
            "minimal",
            overrides={"provider": {"prefix_bound": self.bound}, "counter": "estimate"},
            env={},
            cwd="/",
        )
        for messages in (self.talk.messages, self.last):
            again = Session.open("s", quiet, ledger=self.ledger, blobs=self.blobs, clock=lambda: self.now)
            assert json.dumps(again.prepare(messages, system="be good").messages) == json.dumps(self.last)
        HostileStage.rng = HostileHook.rng = self.rng


@settings(
    max_examples=max(1, PASSES // STEPS),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
@given(seed=st.integers(min_value=0, max_value=2**32))
def test_promises_hold_under_hostile_plugins(seed: int) -> None:
    """No stage and no hook can make a request invalid, lose a pin, touch thinking or change sent bytes unseen."""
    Run(seed).walk()


@pytest.mark.parametrize("seed", range(20))
def test_promises_hold_for_fixed_seeds(seed: int) -> None:
    """The same, for seeds that never change."""
    Run(seed).walk()
