"""What OpenTelemetry is told: figures and names of plugins and models, but nothing of what was said unless asked.

Follows the GenAI semantic conventions v0.1.0 (semantic-conventions-genai); what they have no name for is ``trimtab.*``.
docs/telemetry.md lists all of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

from opentelemetry import metrics, trace

from trimtab.telemetry import Telemetry

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from trimtab.dialect import Usage
    from trimtab.engine import Engine
    from trimtab.report import Report, Timing
    from trimtab.request import Request

__all__ = ["CONTENT", "OpenTelemetry"]

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""The variable by which users of GenAI instrumentations ask for content."""

ON = ("span_and_event", "span_only", "true")
"""Its values that ask for content in spans, in any case: the words of today, and of before."""

SHORT = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0, 20.0, 60.0]
"""Seconds: bounds of the buckets for a pass: chosen; it takes milliseconds, but for the questions in it."""

LONG = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0]
"""Seconds: bounds of the buckets for a question to a model: chosen."""


class OpenTelemetry(Telemetry):
    """Spans and metrics for these providers, or for the application's; it keeps nothing, so sessions share it."""

    def __init__(self, tracers: TracerProvider | None = None, meters: MeterProvider | None = None) -> None:
        self.tracer = trace.get_tracer("trimtab", version("trimtab"), tracers)
        meter = metrics.get_meter("trimtab", version("trimtab"), meters)
        self.passes = meter.create_histogram(
            "trimtab.pass.duration", "s", "Time that a pass took.", explicit_bucket_boundaries_advisory=SHORT
        )
        self.asks = meter.create_histogram(
            "trimtab.ask.duration", "s", "Time that a question took.", explicit_bucket_boundaries_advisory=LONG
        )
        self.freed = meter.create_counter("trimtab.tokens.freed", "{token}", "Tokens that decisions freed.")
        self.boundaries = meter.create_counter("trimtab.boundaries", "{boundary}", "Boundaries made.")
        self.failures = meter.create_counter("trimtab.failures", "{failure}", "Failures that passes reported.")
        self.used = meter.create_counter("trimtab.tokens.used", "{token}", "Tokens that the provider reported.")

    def passed(self, session: Engine, request: Request) -> None:
        """A span with those of its parts in it, and the metrics."""
        self._spans(session, request.report)
        self._measure(session, request.report)

    def observed(self, session: Engine, usage: Usage) -> None:
        """A span without length that holds the usage, and the metrics."""
        self.tracer.start_span("trimtab.observe", attributes={**_shared(session), **_used(usage)}).end()
        kinds = {"fresh": usage.fresh, "output": usage.output, "read": usage.read, "written": usage.written}
        for kind, tokens in kinds.items():
            if tokens > 0:
                self.used.add(round(tokens), {**_model(session), "trimtab.token.kind": kind})

    def _spans(self, session: Engine, report: Report) -> None:
        whole = report.timings[-1]
        span = self.tracer.start_span("trimtab.prepare", attributes=_shared(session), start_time=_nanoseconds(whole))
        if span.is_recording():
            span.set_attributes(_told(session, report))
            above = [(whole, span)]
            for part in reversed(report.timings[:-1]):  # from the end, so that each comes before what lies in it
                while part.start < above[-1][0].start and len(above) > 1:
                    above.pop()
                child = self.tracer.start_span(
                    f"trimtab.{part.kind} {part.name}",
                    trace.set_span_in_context(above[-1][1]),
                    attributes={f"trimtab.{part.kind}": part.name},
                    start_time=_nanoseconds(part),
                )
                child.end(_nanoseconds(part, part.seconds))
                above.append((part, child))
        span.end(_nanoseconds(whole, whole.seconds))

    def _measure(self, session: Engine, report: Report) -> None:
        model, trigger = _model(session), {"trimtab.trigger": report.trigger}
        error = {"error.type": report.error} if report.error else {}
        self.passes.record(report.timings[-1].seconds, {**model, **trigger, **error})
        for one in report.timings:
            if one.kind == "ask":
                self.asks.record(one.seconds, {**model, "trimtab.ask": one.name})
        for decision in report.decisions:
            if decision.freed > 0:
                self.freed.add(round(decision.freed), {**model, "trimtab.stage": decision.stage})
        if report.boundary is not None:
            self.boundaries.add(1, {**model, **trigger, "trimtab.stage": report.boundary.type})
        if report.failures:
            self.failures.add(len(report.failures), model)


def _nanoseconds(part: Timing, later: float = 0.0) -> int:
    return round(part.start * 1e9) + round(later * 1e9)


def _model(session: Engine) -> dict[str, str]:
    return {"gen_ai.request.model": session.provider.model} if session.provider.model else {}


def _shared(session: Engine) -> dict[str, str]:
    return {**_model(session), "gen_ai.conversation.id": session.id}


def _told(session: Engine, report: Report) -> Mapping[str, bool | int | str | Sequence[str]]:
    """What a report says, in figures; in words only where they are asked for, for these may quote what was said."""
    said: dict[str, bool | int | str | Sequence[str]] = {
        "gen_ai.conversation.compacted": session.projection is not None and session.projection.boundary is not None,
        "trimtab.decision.count": len(report.decisions),
        "trimtab.decision.stages": [one.stage for one in report.decisions],
        "trimtab.failure.count": len(report.failures),
        "trimtab.edit.refused.count": sum(reasons.total() for reasons in report.refused.values()),
        "trimtab.tokens.after": round(report.tokens_after),
        "trimtab.tokens.before": round(report.tokens_before),
        "trimtab.tokens.freed": round(sum(one.freed for one in report.decisions)),
        "trimtab.tokens.rewritten": round(sum(one.rewritten for one in report.decisions)),
        "trimtab.trigger": report.trigger,
        "trimtab.warning.count": len(report.warnings),
    }
    if report.error:
        said["error.type"] = report.error
    if report.boundary is not None:
        said["trimtab.boundary"] = report.boundary.type
    if os.environ.get(CONTENT, "").lower() in ON:
        said["trimtab.decision.reasons"] = [one.reason for one in report.decisions]
        said["trimtab.failure.texts"] = report.failures
        said["trimtab.warning.texts"] = report.warnings
    return said


def _used(usage: Usage) -> dict[str, int | str]:
    """A usage in the words of the conventions: all that was read and written is input too."""
    said: dict[str, int | str] = {
        "gen_ai.usage.input_tokens": round(usage.total),
        "gen_ai.usage.output_tokens": round(usage.output),
    }
    if usage.split:
        said["gen_ai.usage.cache_read.input_tokens"] = round(usage.read)
        said["gen_ai.usage.cache_write.input_tokens"] = round(usage.written)
    if usage.model:
        said["gen_ai.response.model"] = usage.model
    return said
