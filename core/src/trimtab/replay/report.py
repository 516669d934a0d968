"""What a replay found: one tally per session and profile, and the rows of figures made from tallies."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from trimtab.replay.retention import Kept
from trimtab.replay.rewrites import Kind
from trimtab.replay.simulate import Bill
from trimtab.report import Report

__all__ = ["TOTAL", "StageTally", "Tally", "columns", "document", "row"]

TOTAL = "total"


@dataclass(slots=True)
class StageTally:
    """What one stage did in one session."""

    fired: int = 0
    """Decisions recorded."""
    tokens_freed: float = 0.0
    tokens_rewritten: float = 0.0
    """Tokens that the provider had to read anew because of it."""
    refused: int = 0
    """Edits that the kernel refused."""


@dataclass(slots=True)
class Tally:
    """One session under one profile. Costs in dollars, sizes in tokens."""

    session: str
    profile: str
    model: str
    """Whose prices and cache facts these are."""
    facts: str
    """What the figures rest on, in words: model, prices, window, counter."""
    notes: list[str]
    """What the reader met in the recording, and what it left out."""
    window: int
    before: Bill
    after: Bill
    exceptions: int = 0
    invalid_requests: int = 0
    pins_lost: int = 0
    rewrites: Counter[Kind] = field(default_factory=Counter)
    over_before: int = 0
    over_after: int = 0
    refetch: float = 0.0
    strict_refetch: float = 0.0
    kept: list[Kept] = field(default_factory=list)
    """Of the requests that have anchors."""
    milliseconds: list[float] = field(default_factory=list)
    stages: dict[str, StageTally] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    """Exceptions, violations and plugin failures in words, each once."""

    def tell(self, words: Iterable[str]) -> None:
        """Remember failures."""
        self.failures = list(dict.fromkeys([*self.failures, *words]))

    def add_stages(self, report: Report) -> None:
        """Count what the profile's stages did in one pass."""
        for outcome in report.decisions:
            if stage := self.stages.get(outcome.stage):
                stage.fired += 1
                stage.tokens_freed += outcome.freed
                stage.tokens_rewritten += outcome.rewritten
        for name, reasons in report.refused.items():
            if stage := self.stages.get(name):
                stage.refused += reasons.total()


def row(tallies: Sequence[Tally], session: str, profile: str) -> dict[str, Any]:
    """The figures of one tally, or of several together; the keys never change.

    ``model`` names all models of the tallies.
    """
    before, after = [tally.before for tally in tallies], [tally.after for tally in tallies]
    cost = sum(bill.cost for bill in after)
    kept = [kept for tally in tallies for kept in tally.kept]
    visible = sorted(one.visible / one.anchors for one in kept)
    times = sorted(time for tally in tallies for time in tally.milliseconds)
    return {
        "session": session,
        "profile": profile,
        "model": ", ".join(dict.fromkeys(tally.model for tally in tallies)),
        "requests": sum(bill.requests for bill in before),
        "exceptions": sum(tally.exceptions for tally in tallies),
        "invalid_requests": sum(tally.invalid_requests for tally in tallies),
        "pins_lost": sum(tally.pins_lost for tally in tallies),
        "rewrites_warm": sum(tally.rewrites["warm"] for tally in tallies),
        "rewrites_cold": sum(tally.rewrites["cold"] for tally in tallies),
        "rewrites_unexplained": sum(tally.rewrites["unexplained"] for tally in tallies),
        "peak_tokens_before": round(max((bill.peak for bill in before), default=0)),
        "peak_tokens_after": round(max((bill.peak for bill in after), default=0)),
        "over_window_before": sum(tally.over_before for tally in tallies),
        "over_window_after": sum(tally.over_after for tally in tallies),
        "input_cost_before": sum(bill.cost for bill in before),
        "input_cost_after": cost,
        "refetch_cost_after": cost + sum(tally.refetch for tally in tallies),
        "strict_refetch_cost_after": cost + sum(tally.strict_refetch for tally in tallies),
        "hit_rate_before": _hit_rate(before),
        "hit_rate_after": _hit_rate(after),
        "visible": _mean(visible),
        "visible_worst_decile": _mean(visible[: math.ceil(len(visible) / 10)]),
        "strictly_visible": _mean([one.strictly / one.anchors for one in kept]),
        "recoverable": _mean([one.recoverable / one.anchors for one in kept]),
        "ms_p50": _percentile(times, 0.50),
        "ms_p99": _percentile(times, 0.99),
        "stages": {name: asdict(stage) for name, stage in _stages(tallies).items()},
    }


def document(tallies: Sequence[Tally]) -> dict[str, Any]:
    """The JSON of ``trimtab replay --json``: a row per session, profile and model, and one over all of them.

    Several profiles or models also have a total each, under ``total.profiles``, by the names of `columns`.
    """
    total = row(tallies, TOTAL, ", ".join(dict.fromkeys(tally.profile for tally in tallies)))
    found = columns(tallies)
    if len(found) > 1:
        total["profiles"] = {name: row(group, TOTAL, group[0].profile) for name, group in found.items()}
    return {"sessions": [row([tally], tally.session, tally.profile) for tally in tallies], "total": total}


def columns(tallies: Sequence[Tally]) -> dict[str, list[Tally]]:
    """The tallies by profile; by ``profile, model`` where a session was replayed on several price cards."""
    models: dict[tuple[str, str], set[str]] = {}
    for tally in tallies:
        models.setdefault((tally.session, tally.profile), set()).add(tally.model)
    several = any(len(names) > 1 for names in models.values())
    found: dict[str, list[Tally]] = {}
    for tally in tallies:
        found.setdefault(f"{tally.profile}, {tally.model}" if several else tally.profile, []).append(tally)
    return found


def _hit_rate(bills: Sequence[Bill]) -> float:
    total = sum(bill.total for bill in bills)
    return sum(bill.read for bill in bills) / total if total else 0.0


def _mean(shares: Sequence[float]) -> float:
    """Return 1.0 where no request has anchors: then nothing was missing."""
    return sum(shares) / len(shares) if shares else 1.0


def _percentile(values: Sequence[float], share: float) -> float:
    """Nearest rank among sorted values."""
    return values[max(math.ceil(share * len(values)), 1) - 1] if values else 0.0


def _stages(tallies: Sequence[Tally]) -> dict[str, StageTally]:
    stages: dict[str, StageTally] = {}
    for name, stage in ((name, stage) for tally in tallies for name, stage in tally.stages.items()):
        total = stages.setdefault(name, StageTally())
        total.fired += stage.fired
        total.tokens_freed += stage.tokens_freed
        total.tokens_rewritten += stage.tokens_rewritten
        total.refused += stage.refused
    return stages
