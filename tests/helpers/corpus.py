"""What tests and benchmarks measure on recorded sessions through the public `Session`; shows no contents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from trimtab import ContextOverflow, Profile, Session, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.transcripts import Recording, Request

__all__ = ["OLD", "Errors", "meter_errors", "oversized", "percentile", "plain"]

OLD = 10
"""Requests: the age of the usage whose error is measured beside fresh usage."""

GROWTH = 10_000
"""Tokens that a branch must have grown for the error of its growth to say anything."""


def plain(name: str, **overrides: Any) -> Profile:
    """A shipped profile, with nothing of this machine in it."""
    return load(name, overrides=overrides, env={}, cwd="/")


def percentile(values: Iterable[float], share: float) -> float:
    """Nearest rank; 0 without values."""
    ranked = sorted(values)
    return ranked[max(math.ceil(share * len(ranked)), 1) - 1] if ranked else 0.0


class _Agent:
    """A session that gets a recording's requests, and its usage where the measurement wants it to."""

    def __init__(self, recording: Recording, profile: Profile) -> None:
        self.recording = recording
        self.now = 0.0
        stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        self.session = Session.open(recording.session, profile, clock=lambda: self.now, **stores)

    def prepare(self, request: Request) -> float:
        """Tokens that the meter says the request has."""
        self.now = request.now
        with suppress(ContextOverflow):  # its size is asked for, whatever it is
            self.session.prepare(request.messages, self.recording.system, self.recording.tools)
        return self.session.view.tokens

    def observe(self, request: Request) -> None:
        """Report the recorded usage."""
        self.session.observe({"usage": request.usage, "model": request.model})


def oversized(recording: Recording, default: Profile) -> int:
    """How many results of a recording, as said, are over the limit that the profile's budget sets for their tool."""
    options = default.stages[0].options
    agent = _Agent(recording, plain("minimal", counter="estimate"))
    found = set()
    for request in recording.requests:
        agent.prepare(request)
        found |= {
            result.id
            for result in agent.session.view.results
            if not result.media and len(result.text) > options.limit(result.tool, result.tool_class)
        }
    return len(found)


# ------------------------------------------------------------------ the meter


@dataclass(slots=True)
class Errors:
    """Relative errors of the meter's word on requests, as the provider measured them: positive is too much."""

    fresh: list[float] = field(default_factory=list)
    """With the usage of the request before, on rising steps."""
    old: list[float] = field(default_factory=list)
    """With the usage of ten requests ago, all steps since then rising."""
    none: list[float] = field(default_factory=list)
    """Without any usage. System text and tools are not recorded, so it is nearly always too little."""
    growth: list[float] = field(default_factory=list)
    """Without any usage, of what a request has more than its branch's first, if every step between rose."""


def meter_errors(recording: Recording, counter: str, phases: Sequence[int] = range(OLD)) -> Errors:
    """Errors of the meter on one recording under the profile ``minimal``.

    Fresh: a session that is told every usage. None, growth: one that is told nothing, its profile naming the model.
    Old: ten sessions side by side (or those of ``phases``), each told the usage of every tenth request only, so that
    there its last one is ten requests old; what each says just before it is told is what counts.
    """
    minimal, errors = plain("minimal", counter=counter), Errors()
    model = next((request.model for request in recording.requests if request.model), "")
    told, silent = (
        _Agent(recording, minimal),
        _Agent(recording, plain("minimal", counter=counter, provider={"model": model})),
    )
    forgetful = {phase: _Agent(recording, minimal) for phase in phases}
    sizes = [_measured(told.session, request) for request in recording.requests]
    first: dict[int, tuple[int, float]] = {}
    for at, (request, size) in enumerate(zip(recording.requests, sizes, strict=True)):
        agents = [(told, errors.fresh, 1)]
        agents += [(agent, errors.old, OLD) for phase, agent in forgetful.items() if at % OLD == phase]
        for agent in (agent for phase, agent in forgetful.items() if at % OLD != phase):
            agent.prepare(request)
        for agent, found, age in agents:
            said = agent.prepare(request)
            if _rising(recording, sizes, at, age):
                found.append(said / size - 1)
            agent.observe(request)
        said = silent.prepare(request)
        if size:
            errors.none.append(said / size - 1)
            start, began = first.setdefault(request.branch, (at, said))
            grown = size - sizes[start]
            if grown >= GROWTH and _rising(recording, sizes, at, at - start):
                errors.growth.append((said - began) / grown - 1)
    return errors


def _measured(session: Session, request: Request) -> float:
    usage = session.dialect.usage(request.usage)
    return float(usage.total) if usage else 0.0


def _rising(recording: Recording, sizes: Sequence[float], at: int, steps: int) -> bool:
    """Whether the last requests are measured, of one branch, and each larger than the one before."""
    requests = recording.requests
    return at >= steps and all(
        0 < sizes[n] < sizes[n + 1] and requests[n].branch == requests[at].branch for n in range(at - steps, at)
    )
