"""One conversation under hostile plugins: requests, answers, pauses, rewinds, restarts, all drawn from one seed."""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import Any

from hostile import HostileHook, HostileStage, hostile_answer, kind
from play import marked
from talk import Talk
from trimtab import ContextOverflow, Request, Session, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from witness import Witness, packed

__all__ = ["STEPS", "Walk"]

STEPS = 12
"""Requests of one conversation."""

WHENS: list[Any] = [
    {},
    {"when": "cold"},
    {"when": {"over": 0.001}, "target": 0.0005},
    {"when": "always", "warm": "allow"},
    {"when": ["cold", {"idle": "10m"}], "at_least": 30},
]
WINDOWS = [200_000, 200_000, 200_000, 6_000]
"""Tokens; the last is soon full."""


class Walk:
    """Call `go`. Two conversations share the session's id, as a main agent and its sub-agent may.

    With two ``processes`` the requests come from one or the other, and neither knows what the other decided before it
    decides something itself; then what is compared with the last request is not looked at.
    """

    def __init__(self, seed: int, processes: int = 1) -> None:
        self.rng = random.Random(seed)
        self.options = {"prefix_bound": self.rng.random() < 0.5, "window": self.rng.choice(WINDOWS)}
        self.stage = self.rng.choice(WHENS)
        self.marks = self.rng.random() < 0.3
        self.now = 1_000_000.0
        self.ledger, self.blobs = MemoryLedger("memory:"), MemoryBlobs("memory:")
        flaws = self.rng.choice([0.0, 0.0, 0.3])
        self.talks = [Talk(self.rng, name, flaws) for name in ("main", "sub")]
        self.alone = processes == 1
        self.witnesses = [Witness(bound=self.options["prefix_bound"], alone=self.alone) for _ in self.talks]
        self.passes = 0
        self.refused: Counter[str] = Counter()
        """Reasons for which edits of the stage were refused."""
        self.sessions = [self.hostile() for _ in range(processes)]

    def open(self, **profile: Any) -> Session:
        """A session on these stores, as a new process would open it."""
        HostileStage.rng = HostileHook.rng = self.rng
        overrides = {"counter": "estimate", "provider": self.options, **profile}
        loaded = load("minimal", overrides=overrides, plugins=[HostileStage, HostileHook], env={}, cwd="/")
        ask = hostile_answer(self.rng)
        return Session.open("s", loaded, ask=ask, ledger=self.ledger, blobs=self.blobs, clock=lambda: self.now)

    def hostile(self) -> Session:
        return self.open(stages=[{"hostile": self.stage}], hooks=["hostile-hook"])

    def go(self) -> Walk:
        """Walk all steps."""
        for _ in range(STEPS):
            self.session = self.rng.choice(self.sessions)
            which = int(self.rng.random() < 0.1)
            self.step(self.talks[which], self.witnesses[which])
            self.now += self.rng.choice([5, 5, 5, 400, 4_000])
        for one in (one for one in self.session.ledger.decisions if one.stage == HostileStage.name and not one.free):
            assert self.stage.get("when"), "sent bytes were edited that no `when` opened"
            assert one.freed >= self.stage.get("at_least", one.freed)
        return self

    def step(self, talk: Talk, witness: Witness) -> None:
        """One request, what may happen behind it, and the answer."""
        request = self.request(talk, witness)
        chance = self.rng.random()
        if request is None or chance < 0.1:
            talk.rewind()
            witness.branch()
        elif chance < 0.15:
            talk.rewrite()
            witness.branch()
        elif chance < 0.25 and self.alone:
            self.resume(talk, request)
        elif chance < 0.35:
            self.sessions[self.sessions.index(self.session)] = self.hostile()
        elif chance < 0.45 and self.session.ledger.decisions:
            self.session.restore(self.rng.randint(1, len(self.session.ledger.decisions)))
        elif chance < 0.7:
            self.session.observe(self.usage(request.report.tokens_after))
        talk.step()

    def request(self, talk: Talk, witness: Witness) -> Request | None:
        """Prepare and check one request; None where it does not fit."""
        handed = marked(talk.messages) if self.marks else list(talk.messages)
        prepare = self.session.compact if self.rng.random() < 0.1 else self.session.prepare
        self.passes += 1
        try:
            request = prepare(handed, system="be good")
        except ContextOverflow:
            return None
        sent = copy.deepcopy(request)
        witness(self.session, handed, request)
        self.refused.update(request.report.refused.get("hostile", {}))
        return sent

    def accepted(self) -> Counter[tuple[str, str]]:
        """What got past the kernel: (kind of edit, free or breaking) to how often."""
        decisions = self.session.ledger.decisions
        return Counter((kind(edit), "free" if one.free else "breaking") for one in decisions for edit in one.edits)

    def usage(self, tokens: float) -> dict[str, float]:
        """What a provider may report: about right, of the cache whatever it likes."""
        total = tokens * self.rng.uniform(0.9, 1.1)
        read = total * self.rng.choice([0.0, 0.5, 0.99])
        return {"input_tokens": 3, "cache_read_input_tokens": read, "cache_creation_input_tokens": total - read}

    def resume(self, talk: Talk, sent: Request) -> None:
        """A new process without plugins sends the same bytes, and takes our own output for what it stands for.

        Behind a fork only the first is promised: one rendering may stand for other messages on each branch.
        """
        if any(said for key, said in self.session.view.projection.state.notes.items() if key.endswith(":asked")):
            return  # it would carry out a restore that a hook vetoed until now
        for messages in (talk.messages, sent.messages)[: 1 if talk.forked else 2]:
            again = self.open(provider={**self.options, "window": 200_000}).prepare(messages, system="be good")
            assert list(map(packed, again.messages)) == list(map(packed, sent.messages))
            assert again.system == sent.system
