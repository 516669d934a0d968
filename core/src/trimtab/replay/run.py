"""Replays one recorded session through one profile: every request through `Session.prepare`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

from trimtab.conversation import Block, digest
from trimtab.errors import ContextOverflow
from trimtab.profile import Profile
from trimtab.replay.probe import lost
from trimtab.replay.reader import Reader, Reading
from trimtab.replay.report import StageTally, Tally
from trimtab.replay.retention import Retention
from trimtab.replay.rewrites import Rewrites
from trimtab.replay.setup import described, notes
from trimtab.replay.simulate import Bill
from trimtab.replay.sizes import Recorded, shown_sizes
from trimtab.replay.usage import reduced
from trimtab.replay.ways import OPENABLE, Ways
from trimtab.session import Request as Prepared
from trimtab.session import Session
from trimtab.storage.files import FileBlobs
from trimtab.storage.memory import MemoryLedger
from trimtab.tokens import Meter
from trimtab.toolclass import classify, path_of
from trimtab.transcripts import Recording, Request

__all__ = ["Sink", "replay"]

Sink = Callable[[int, Prepared], object]
"""Is given every prepared request with its number."""


def replay(
    recording: Recording,
    profile: Profile,
    name: str,
    *,
    sink: Sink | None = None,
    step: Callable[[], object] = lambda: None,
) -> Tally:
    """Replay ``recording`` under ``profile``, called ``name`` in the tally.

    ``step`` is called after each request. Originals go to a temporary folder that is gone afterwards;
    ``sink`` sees the requests while it is there.
    """
    with tempfile.TemporaryDirectory(prefix="trimtab-replay-") as folder:
        run = _Replay(recording, profile, name, folder)
        for i, request in enumerate(recording.requests):
            prepared = run.request(request)
            if sink is not None and prepared is not None:
                sink(i, prepared)
            step()
        return run.tally


class _Replay:
    """One session under one profile, request by request."""

    def __init__(self, recording: Recording, profile: Profile, name: str, folder: str) -> None:
        self.recording = recording
        self.now = 0.0
        blobs = FileBlobs(f"file://{folder}")
        ledger = MemoryLedger("memory:")
        session = Session.open(recording.session, profile, clock=lambda: self.now, ledger=ledger, blobs=blobs)
        self.session = session
        self.meter = Meter(session.provider.factor)
        """Sees the recorded requests only, so that "before" is the same under every profile."""
        before, after = Bill(session.provider), Bill(session.provider)
        self.tally = Tally(recording.session, name, described(session), session.provider.window, before, after)
        self.tally.stages = {stage.name: StageTally() for stage in session.plan.stages}
        self.reader = Reader(session.dialect, session.counter)
        self.retention = Retention(self.reader, Ways(self.reader, blobs, self._weigh), self._classify)
        self.rewrites = Rewrites(self.tally.after.cache)
        self.recorded = Recorded()
        self.lacking: dict[int, float] = {}
        """Branch to the tokens that its last prepared request lacked."""
        self.fetched: set[int] = set()
        self.strictly_fetched: set[int] = set()
        self.lost: set[tuple[str, str]] = set()

    def request(self, request: Request) -> Prepared | None:
        """Replay one request; None where none can be sent, which is charged as recorded."""
        self.now = request.now
        tally = self.tally
        prepared = self._prepare(request)
        said = self.reader(request.messages)
        sizes = self._sizes(request, said)
        head = digest(self.recording.system, self.recording.tools)
        tally.before.send(head, said, sizes, self.now)
        tally.over_before += sum(sizes) > tally.window
        if prepared is None:
            tally.after.send(head, said, sizes, self.now)
            return None
        shown = self.reader(prepared.messages)
        after = shown_sizes(said, sizes, shown, self.meter.factor)
        after[0] += self._added(prepared)
        self._judge(request, prepared, said, shown, after)
        self._observe(request, sum(sizes) - sum(after))
        return prepared

    def _prepare(self, request: Request) -> Prepared | None:
        """Call `prepare`, timed."""
        messages = request.messages
        start = time.perf_counter()
        try:
            prepared = self.session.prepare(messages, self.recording.system, self.recording.tools)
        except ContextOverflow:
            self.tally.over_after += 1
            return None
        except Exception as error:
            self._failed([f"{type(error).__name__}: {error}"])
            return None
        self.tally.milliseconds.append(1000 * (time.perf_counter() - start))
        if prepared.report.failures:
            self._failed(prepared.report.failures)
        return prepared

    def _failed(self, words: Sequence[str]) -> None:
        self.tally.exceptions += 1
        self.tally.tell(words)

    def _sizes(self, request: Request, said: Sequence[Reading]) -> list[float]:
        usage = self.session.dialect.usage(request.usage)
        if usage:
            raw, tip = sum(reading.raw for reading in said), str(request.branch)
            self.meter.observe(tip, raw, usage.total, lambda other: other == tip)
        total = usage.total if usage else None
        head = self.meter.factor * self._head(self.recording.system, self.recording.tools)
        return self.recorded.sizes(request.branch, said, head, total, self.meter.factor)

    def _judge(
        self,
        request: Request,
        prepared: Prepared,
        said: Sequence[Reading],
        shown: Sequence[Reading],
        sizes: Sequence[float],
    ) -> None:
        """Compare, charge and measure one prepared request."""
        tally, report = self.tally, prepared.report
        head = digest(prepared.system, prepared.tools)
        kind = self.rewrites.look(request.branch, [head, *(reading.key for reading in shown)], report, self.now)
        if kind is not None:
            tally.rewrites[kind] += 1
        tally.after.send(head, shown, sizes, self.now)
        tally.over_after += sum(sizes) > tally.window
        certain = [found for found in self.session.dialect.validate(prepared.messages) if found.certain]
        tally.invalid_requests += bool(certain)
        tally.tell(f"{found.rule}: {found.what}" for found in certain)
        self.lost |= lost(report.pins, self.session.view, self.reader, shown)
        tally.pins_lost = len(self.lost)
        tally.add_stages(report)
        if request.answer is not None:
            self._keep(said, shown, self.reader([request.answer])[0], sum(sizes))

    def _keep(self, said: Sequence[Reading], shown: Sequence[Reading], answer: Reading, context: float) -> None:
        """Measure retention, and charge what must be fetched again."""
        kept = self.retention.measure(said, shown, answer)
        if kept.anchors:
            self.tally.kept.append(kept)
        self.tally.refetch += self._fetch(kept.missing - self.fetched, context)
        self.tally.strict_refetch += self._fetch(kept.strictly_missing - self.strictly_fetched, context)
        self.fetched |= kept.missing
        self.strictly_fetched |= kept.strictly_missing

    def _fetch(self, sources: frozenset[int], context: float) -> float:
        tokens = (min(self._weigh(self.reader.texts[source]), OPENABLE) for source in sources)
        return sum(self.tally.after.fetch(size, context) for size in tokens)

    def _observe(self, request: Request, lacking: float) -> None:
        """Report the recorded usage less what the view lacks of the recorded request."""
        known = min(self.lacking.get(request.branch, 0.0), lacking)
        self.lacking[request.branch] = lacking
        if request.usage is not None:
            self.session.observe(reduced(request.usage, known, lacking - known))

    def _added(self, prepared: Prepared) -> float:
        """Tokens that trimtab added to the system text."""
        recorded = self._head(self.recording.system, self.recording.tools)
        return self.meter.factor * (self._head(prepared.system, prepared.tools) - recorded)

    def _head(self, system: Any, tools: Any) -> int:
        head: int = self.session.dialect.head(system, tools, self.session.counter)
        return head

    def _weigh(self, text: str) -> float:
        return self.meter.factor * float(self.session.counter(text))

    def _classify(self, block: Block) -> tuple[str, str | None]:
        return classify(block.name, block.input, self.session.profile.tools), path_of(block.input)
