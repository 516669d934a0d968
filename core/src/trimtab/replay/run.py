"""Replays one recorded session through one profile, and tallies what the requests cost and show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from trimtab.conversation import Block, digest
from trimtab.profile import Profile
from trimtab.provider import family_factor
from trimtab.replay.blobs import ShownBlobs
from trimtab.replay.driver import Driver
from trimtab.replay.probe import lost
from trimtab.replay.reader import Reader, Reading
from trimtab.replay.report import StageTally, Tally
from trimtab.replay.retention import Retention
from trimtab.replay.rewrites import Rewrites
from trimtab.replay.setup import described, notes
from trimtab.replay.simulate import Bill
from trimtab.replay.sizes import Recorded, shown_sizes
from trimtab.replay.ways import OPENABLE, Ways
from trimtab.request import Request as Prepared
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

    ``step`` is called after each request. Originals stay in memory; the requests name them by the fixed paths of
    `ShownBlobs`.
    """
    run = _Replay(recording, profile, name)
    for i, request in enumerate(recording.requests):
        prepared = run.request(request)
        if sink is not None and prepared is not None:
            sink(i, prepared)
        step()
    return run.tally


class _Replay:
    """One session under one profile, request by request."""

    def __init__(self, recording: Recording, profile: Profile, name: str) -> None:
        self.recording = recording
        blobs = ShownBlobs()
        self.driver = Driver(recording, profile, blobs)
        self.session = self.driver.session
        provider = self.session.provider
        self.meter = Meter(provider.factor)
        """Sees the recorded requests only, so that "before" is the same under every profile."""
        self.tally = Tally(
            recording.session,
            name,
            provider.model,
            described(self.session, recording),
            notes(recording),
            provider.window,
            before=Bill(provider),
            after=Bill(provider),
            milliseconds=self.driver.milliseconds,
            stages={stage.name: StageTally() for stage in self.session.plan.stages},
        )
        self.reader = Reader(self.session.dialect, self.session.counter)
        self.retention = Retention(self.reader, Ways(self.reader, blobs, self._weigh), self._classify)
        self.rewrites = Rewrites(self.tally.after.cache)
        self.recorded = Recorded()
        self.fetched: set[int] = set()
        self.strictly_fetched: set[int] = set()
        self.lost: set[tuple[str, str]] = set()

    def request(self, request: Request) -> Prepared | None:
        """Replay one request; None where `prepare` failed, which is charged as recorded."""
        tally = self.tally
        prepared = self._prepare(request)
        said = self.reader(request.messages)
        sizes = self._sizes(request, said)
        head = digest(self.recording.system, self.recording.tools)
        tally.before.send(head, said, sizes, request.now)
        tally.over_before += sum(sizes) > tally.window
        if prepared is None:
            tally.after.send(head, said, sizes, request.now)
            return None
        shown = self.reader(prepared.messages)
        after = shown_sizes(said, sizes, shown, self.meter.factor)
        after[0] += self._added(prepared)
        self._judge(request, prepared, shown, after)
        if request.answer is not None:
            self._keep(said, shown, self.reader([request.answer, *request.rest]), sum(after))
        self.driver.observe(request, sum(sizes) - sum(after))
        return prepared

    def _prepare(self, request: Request) -> Prepared | None:
        """Prepare a request, and count what failed: what was raised, and what was only reported."""
        prepared: Prepared | None = None
        try:
            prepared = self.driver.prepare(request)
            failures = prepared.report.failures
        except Exception as error:
            failures = [f"{type(error).__name__}: {error}"]
        self.tally.exceptions += bool(failures)
        self.tally.tell(failures)
        return prepared

    def _sizes(self, request: Request, said: Sequence[Reading]) -> list[float]:
        """Tokens of each message as recorded."""
        usage = self.session.dialect.usage(request.usage)
        if usage:
            raw, tip = sum(reading.raw for reading in said), str(request.branch)
            self.meter.family = family_factor(request.model or "") or self.meter.family
            self.meter.observe(tip, raw, usage.total, lambda other: other == tip)
        total = usage.total if usage else None
        head = self.meter.factor * self._head(self.recording.system, self.recording.tools)
        return self.recorded.sizes(request.branch, said, head, total, self.meter.factor)

    def _judge(self, request: Request, prepared: Prepared, shown: Sequence[Reading], sizes: Sequence[float]) -> None:
        """Compare one prepared request with the one before, charge and check it."""
        tally, report = self.tally, prepared.report
        head = digest(prepared.system, prepared.tools)
        keys = [head, *(reading.key for reading in shown)]
        kind = self.rewrites.look(request.branch, keys, report, request.now)
        if kind is not None:
            tally.rewrites[kind] += 1
        tally.after.send(head, shown, sizes, request.now)
        tally.over_after += self.driver.overflow or sum(sizes) > tally.window
        certain = [found for found in self.session.dialect.validate(prepared.messages) if found.certain]
        tally.invalid_requests += bool(certain)
        tally.tell(f"{found.rule}: {found.what}" for found in certain)
        if report.pins:
            self.lost |= lost(report.pins, self.session.view, self.reader, shown)
        tally.pins_lost = len(self.lost)
        tally.add_stages(report)

    def _keep(
        self, said: Sequence[Reading], shown: Sequence[Reading], answer: Sequence[Reading], context: float
    ) -> None:
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
