"""Shipped profiles on recorded sessions in windows of any size: what must not happen, and what cannot be helped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from corpus import plain
from trimtab import Session
from trimtab.replay import Setup, Tally, replay
from trimtab.replay.driver import Driver
from trimtab.replay.report import row
from trimtab.request import Request as Prepared
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.transcripts import Recording, Request, read

__all__ = ["HELPLESS", "PROFILES", "WINDOWS", "Found", "looked", "sweep"]

ROOT = Path(__file__).resolve().parents[2]
PROFILES = sorted(path.stem for path in ROOT.glob("core/src/trimtab/configs/*.yaml"))
WINDOWS = (30_000, 100_000, 200_000)

WRONG = ("exceptions", "invalid_requests", "pins_lost", "rewrites_unexplained")

HELPLESS = ("no stage", "pins", "system and tools", "the latest answer")
"""Reasons for a full window that no profile can do anything about."""

HUGE = 10_000_000
"""Tokens of a window that holds every recorded request."""

UNSEEN = 0.5
"""Share of a window: where more than that is system text, tools and messages that a recording does not show,
its usage is left out, and only what it shows is counted."""


@dataclass(frozen=True, slots=True)
class Found:
    """One session under one profile in one window."""

    tally: Tally
    full: Counter[str]
    """Requests that could not be brought below the window, by what fills it."""
    boundaries: int

    def figures(self) -> Mapping[str, Any]:
        """The figures of the replay, and these."""
        figures = row([self.tally], self.tally.session, self.tally.profile)
        return {**figures, "boundaries": self.boundaries, "full": dict(self.full)}

    def wrong(self) -> dict[str, Any]:
        """What must not have happened."""
        figures = self.figures()
        found = {key: figures[key] for key in WRONG if figures[key]}
        found |= {f"full: {why}": count for why, count in self.full.items() if why not in HELPLESS}
        return {**found, "failures": self.tally.failures} if found else {}


FRAME = 200
"""Tokens of a fold's frame, with the way back and who said what, at the least."""


def looked(path: Path, window: int) -> Recording:
    """A recorded session; without its usage where that is mostly of what the recording does not show."""
    recording = read(path)
    if _unseen(path) > UNSEEN * window:
        recording.requests[:] = [replace(request, usage=None) for request in recording.requests]
    return recording


@cache
def _unseen(path: Path) -> float:
    """Tokens of system text, tools and earlier messages that the recorded usage tells of, at the most."""
    recording, most = read(path), 0.0
    branches = {request.branch: request for request in reversed(recording.requests) if request.usage}
    for request in branches.values():
        stores: Any = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        profile = Setup(window=HUGE).adapt(plain("minimal"), recording)
        session = Session.open("s", profile, background=None, **stores)
        session.prepare(request.messages, recording.system, recording.tools)
        session.observe({"usage": request.usage, "model": request.model})
        most = max(most, session.meter.hidden(session.view.on))
    return most


def sweep(recording: Recording, profile: str, window: int) -> Found:
    """Replay with pins drawn by the window; nobody is asked, so that rules write all summaries."""
    full: Counter[str] = Counter()
    boundaries = 0

    class Watched(Driver):
        def prepare(self, request: Request) -> Prepared:
            nonlocal boundaries
            prepared = super().prepare(request)
            boundaries += sum(outcome.boundary for outcome in prepared.report.decisions)
            if self.overflow:
                full[_why(self.session)] += 1
            return prepared

    with patch("trimtab.replay.run.Driver", Watched):
        tally = replay(recording, Setup(window=window, seed=window).adapt(plain(profile), recording), profile)
    return Found(tally, full, boundaries)


def _why(session: Session) -> str:
    """What fills most of the window of a refused request: of what cannot be helped, if that is enough, else of all."""
    view = session.view
    if not session.profile.stages:
        return "no stage"
    factor, rounds = min(view.context.meter.factor, view.tokens / view.raw), view.projection.rounds
    latest = next((at for at in reversed(rounds) if at >= 0), 0)
    last = [item for item in view.messages if item.end > latest and item.fold is None and item.role != "system"]
    said = factor * sum(item.tokens for item in last)
    head = view.tokens - factor * sum(item.tokens for item in view.messages if item.role != "system")
    count = view.projection.conversation.count
    pinned = factor * sum(count(pin.text or view.projection.block(pin.block).text) for pin in view.pins)
    fixed = {"system and tools": head, "pins": pinned, "the latest answer": said}
    if sum(fixed.values()) + FRAME >= view.window.block:
        return max(fixed, key=lambda name: fixed[name])
    largest = max(view.messages, key=lambda item: item.tokens)
    what = "fold" if largest.fold is not None else f"{largest.role} message"
    return f"{what} of {factor * largest.tokens / view.window.window:.0%} of the window"
