"""A session driven by a recording: its clock, its messages, its usage."""

from __future__ import annotations

import time

from trimtab.errors import ContextOverflow
from trimtab.profile import Profile
from trimtab.replay.usage import reduced
from trimtab.report import Outcome, Report
from trimtab.request import Request as Prepared
from trimtab.session import Session
from trimtab.storage.memory import MemoryLedger
from trimtab.stores import BlobStore
from trimtab.transcripts import Recording, Request

__all__ = ["Driver"]


class Driver:
    """Calls `prepare` and `observe` as the recorded agent would have."""

    def __init__(self, recording: Recording, profile: Profile, blobs: BlobStore) -> None:
        self.recording = recording
        self.now = 0.0
        """Epoch seconds of the last request."""
        self.overflow = False
        """Whether the last request was refused as too large."""
        self.milliseconds: list[float] = []
        """What each `prepare` took that did not fail."""
        ledger = MemoryLedger("memory:")
        self.session = Session.open(
            recording.session, profile, clock=lambda: self.now, background=None, ledger=ledger, blobs=blobs
        )
        self._lacking: dict[int, float] = {}
        """Branch to the tokens that its last prepared request lacked."""

    def prepare(self, request: Request) -> Prepared:
        """Prepare a recorded request; one that overflows is given as it was refused.

        Raises whatever else `Session.prepare` raises.
        """
        self.now, self.overflow = request.now, False
        known, messages = len(self.session.ledger.decisions), request.messages
        start = time.perf_counter()
        try:
            prepared = self.session.prepare(messages, self.recording.system, self.recording.tools)
        except ContextOverflow as error:
            self.overflow, failures = True, error.report.failures
        self.milliseconds.append(1000 * (time.perf_counter() - start))
        return self._refused(known, failures) if self.overflow else prepared

    def _refused(self, known: int, failures: list[str]) -> Prepared:
        """What `ContextOverflow` kept from being sent: the view, and the decisions that this pass added."""
        view = self.session.view
        wires = [item.message.wire if item.wire is None and item.message else item.wire for item in view.messages]
        decisions = [
            Outcome(made.stage, made.free, len(made.edits), made.freed, made.rewritten, made.boundary, "", made.seq)
            for made in self.session.ledger.decisions[known:]
        ]
        report = Report(decisions=decisions, pins=view.pins, failures=failures)
        return Prepared(wires, self.recording.system, self.recording.tools, {}, report)

    def observe(self, request: Request, lacking: float) -> None:
        """Report the recorded usage less the ``lacking`` tokens that the prepared request had not."""
        known = min(self._lacking.get(request.branch, 0.0), lacking)
        self._lacking[request.branch] = lacking
        usage = self.session.dialect.usage({"usage": request.usage, "model": request.model})
        if usage is not None:
            self.session.observe(reduced(usage, known, lacking - known))
