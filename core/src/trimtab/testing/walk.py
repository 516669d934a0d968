"""One conversation with a session: requests, answers, pauses, rewinds, restarts, restores, compactions.

What happens is drawn from one `random.Random`, where 0 is always the simplest; `witness.Witness` looks at every
request.
"""

from __future__ import annotations

import copy
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trimtab.errors import ContextOverflow, TrimtabError
from trimtab.profile import load
from trimtab.report import Report
from trimtab.request import Request
from trimtab.session import Session
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.testing.talk import Talk
from trimtab.testing.wires import Call
from trimtab.testing.witness import Witness, packed

__all__ = ["STEPS", "Walk"]

STEPS = 12
"""Requests of one conversation."""
PAUSES = (5, 5, 5, 400, 4_000)
"""Seconds between two requests; the last two outlive a cache."""
START = 1_000_000.0


class Walk:
    """Call `go`. Two conversations share the session's id, as a main agent and its sub-agent may.

    ``plugins`` are stage and hook classes, ``stages`` and ``hooks`` entries of a profile, ``provider`` its keys.
    ``instead``: classes to make instead of those that the entries name.
    ``flaws``: the share of exchanges that break the provider's rules. ``marks``: the agent sets cache markers.
    ``stage_tools``: stages may offer tools, which the model calls now and then.
    With two ``processes`` the requests come from one or the other, and neither knows what the other decided before it
    decides something itself; then what is compared with the last request is not looked at.
    """

    def __init__(
        self,
        rng: random.Random,
        *plugins: Any,
        dialect: str = "anthropic",
        stages: Sequence[Any] = (),
        hooks: Sequence[Any] = (),
        provider: dict[str, Any] | None = None,
        ask: Any = None,
        instead: Mapping[type, type] | None = None,
        flaws: float = 0.0,
        marks: bool = False,
        processes: int = 1,
        start: float = START,
        stage_tools: bool = False,
    ) -> None:
        self.rng = rng
        self.plugins = plugins
        self.listed: dict[str, Any] = {"stages": list(stages), "hooks": list(hooks)}
        self.provider = {"kind": dialect, "window": 200_000, "prefix_bound": False, **(provider or {})}
        self.ask = ask
        self.instead = instead or {}
        self.marks = marks
        self.stage_tools = stage_tools
        self.now = start
        self.ledger, self.blobs = MemoryLedger("memory:"), MemoryBlobs("memory:")
        self.alone = processes == 1
        self.talks = [Talk(rng, name, flaws, dialect) for name in ("main", "sub")]
        self.witnesses = [Witness(bound=self.provider["prefix_bound"], alone=self.alone) for _ in self.talks]
        self.log: list[str] = []
        """What happened, for whoever reads a failure."""
        self.requests: list[Request] = []
        self.refusals: dict[str, Counter[str]] = {}
        """Plugin to reason to how often."""
        self.failures: list[str] = []
        self.sessions = [self.open() for _ in range(processes)]
        self.session = self.sessions[0]

    def open(self, **profile: Any) -> Session:
        """A session on these stores, as a new process would open it."""
        overrides = {"counter": "estimate", "provider": self.provider, **self.listed, **profile}
        loaded = load("minimal", overrides=overrides, plugins=self.plugins, env={}, cwd="/")
        items = {
            kind: tuple(replace(item, cls=self.instead.get(item.cls, item.cls)) for item in getattr(loaded, kind))
            for kind in ("hooks", "stages")
        }
        loaded = loaded.model_copy(update=items)
        return Session.open(
            "s",
            loaded,
            ask=self.ask,
            clock=lambda: self.now,
            background=None,
            stage_tools=self.stage_tools,
            ledger=self.ledger,
            blobs=self.blobs,
        )

    def odds(self, percent: int) -> bool:
        """True in that many of a hundred cases."""
        return self.rng.randrange(100) >= 100 - percent

    def go(self, steps: int = STEPS) -> Walk:
        """Walk all steps; raises `AssertionError` where a promise is broken."""
        for _ in range(steps):
            if len(self.sessions) > 1:
                self.session = self.sessions[self.rng.randrange(len(self.sessions))]
            which = int(self.odds(10))
            self.step(self.talks[which], self.witnesses[which])
            self.now += PAUSES[self.rng.randrange(len(PAUSES))]
        self.judge()
        return self

    def judge(self) -> None:
        """No stage edited sent content that its `when` keeps shut, or in a batch smaller than its `at_least`."""
        for stage in self.session.plan.stages:
            when, least = stage.options.when.words, stage.options.at_least
            for one in self.session.ledger.decisions:
                if one.stage == stage.name and not one.free and one.trigger != "overflow":
                    assert when, "sent bytes were edited that no `when` opened"
                    assert one.freed >= (least or one.freed)

    def step(self, talk: Talk, witness: Witness) -> None:
        """One request, what may happen behind it, and the answer."""
        request = self.request(talk, witness)
        chance = self.rng.randrange(100)
        if request is None:
            witness.answered.clear()  # at a full window the latest answer keeps its thinking, whatever it is bound to
        if request is None or chance >= 90:
            self.log.append("rewind")
            talk.rewind()
            witness.branch()
        elif chance >= 85:
            self.log.append("rewrite")
            talk.rewrite()
            witness.branch()
        elif chance >= 75:
            if self.alone:
                self.log.append("resume")
                self.resume(talk, request)
        elif chance >= 65:
            self.log.append("new process")
            self.sessions[self.sessions.index(self.session)] = self.open()
            self.session = self.sessions[-1]
        elif chance >= 55:
            if decisions := len(self.session.ledger.decisions):
                self.log.append("restore")
                self.session.restore(self.rng.randint(1, decisions))
        elif chance >= 30:
            self.observe(talk, request)
            if self.stage_tools:
                self.call(talk, request)
        talk.step()

    def request(self, talk: Talk, witness: Witness) -> Request | None:
        """Prepare and check one request; None where it does not fit. The copy returned is of what was sent."""
        handed = talk.wire.marked(talk.messages) if self.marks else list(talk.messages)
        manual = self.odds(10)
        self.log.append(f"{'compact' if manual else 'prepare'} {len(handed)} messages at {self.now:.0f}")
        prepare = self.session.compact if manual else self.session.prepare
        try:
            request = prepare(handed, system=talk.wire.system)
        except ContextOverflow:
            return None
        before = witness.mark()
        sent = self.sent(handed, request, witness)
        if self.odds(4):
            return self.recover(handed, sent, witness, before)
        return sent

    def sent(self, handed: Sequence[Any], request: Request, witness: Witness, earlier: Report | None = None) -> Request:
        """Look at a request; a copy of it, before whoever gets it does what he wants with it."""
        sent = copy.deepcopy(request)
        self.requests.append(sent)
        self.failures += request.report.failures
        for name, reasons in request.report.refused.items():
            self.refusals.setdefault(name, Counter()).update(reasons)
        witness(self.session, handed, request, earlier)
        return sent

    def recover(
        self, handed: Sequence[Any], sent: Request, witness: Witness, before: Callable[[], None]
    ) -> Request | None:
        """The provider refuses a request: too many tokens where it is large, else too many bytes, or a feature."""
        window = self.provider["window"]
        error = {"message": f"prompt is too long: {window + 500} tokens > {window} maximum"}
        if sent.report.tokens_after < window / 2:
            error = {"message": ("413 request too large", "400 cache_edits: unknown")[self.rng.randrange(2)]}
        self.log.append(f"refused: {error['message']}")
        try:
            request = self.session.recover(error)
        except ContextOverflow:
            return None
        except TrimtabError:
            return sent  # nothing that a smaller request would help: then it was another error
        before()  # what was refused was not sent
        return self.sent(handed, request, witness, sent.report)

    def call(self, talk: Talk, request: Request) -> None:
        """The model calls each tool of a stage with arguments that it made up."""
        tags = re.findall(r"\[id:([0-9a-f]{6})\]", str(request.messages)) or ["000000"]
        for tool in self.session.view.notes("kernel:stage:tools") or ():
            ids = [tags[self.rng.randrange(len(tags))] for _ in range(1 + self.rng.randrange(3))]
            assert self.session.call_tool(talk.wire.call(Call("t", tool["name"], {"ids": ids}))) is not None

    def observe(self, talk: Talk, request: Request) -> None:
        """Report a usage that is about right, and of the cache whatever a provider likes."""
        total = request.report.tokens_after * self.rng.randint(90, 110) / 100
        read = total * (0.99, 0.5, 0.0)[self.rng.randrange(3)]
        self.session.observe({"usage": talk.wire.usage(read, max(total - read - 3, 0.0), 3)})

    def resume(self, talk: Talk, sent: Request) -> None:
        """A new process without plugins sends the same bytes, and takes our own output for what it stands for.

        Behind a fork only the first is promised: one rendering may stand for other messages on each branch.
        """
        if any(said for key, said in self.session.view.projection.state.notes.items() if key.endswith(":asked")):
            return  # it would carry out a restore that a hook vetoed until now
        for messages in (talk.messages, sent.messages)[: 1 if talk.forked else 2]:
            fresh = self.open(provider={**self.provider, "window": 200_000}, stages=[], hooks=[])
            again = fresh.prepare(messages, system=talk.wire.system)
            dialect = fresh.dialect
            said = [packed(dialect, wire) for wire in again.messages]
            assert said == [packed(dialect, wire) for wire in sent.messages]
            assert again.system == sent.system
