"""Spans and metrics of passes and answers, as OpenTelemetry's SDK exports them."""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
from trimtab import Ask, ContextOverflow, Fold, Hook, Pin, Replace, Session, Stage, StageOptions, Warn, hookimpl, load
from trimtab.parts import part
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.telemetry import Telemetry, choose
from trimtab.telemetry.otel import CONTENT, OpenTelemetry
from trimtab.testing.talk import Talk

SECRET = "xyzzy"
ALWAYS = {"when": "always", "warm": "allow"}


class Shorten(Stage):
    """Quotes all that it can: in placeholders, in reasons, and in what it raises."""

    name: ClassVar[str] = "shorten"
    Options: ClassVar[type[StageOptions]] = StageOptions

    def propose(self, view: Any) -> Iterator[Any]:
        """Shorten long results, newest first."""
        for result in reversed(view.results):
            if len(result.text) > 400:
                yield Replace(result, f"{result.text[:50]}…", f"long: {result.text[:50]}")


class Summarise(Stage):
    """Asks for a summary of all but the latest round, and fails in words of the conversation where there is none."""

    name: ClassVar[str] = "summarise"
    Options: ClassVar[type[StageOptions]] = StageOptions

    def propose(self, view: Any) -> Iterator[Any]:
        """Fold what lies before the latest round."""
        rounds = view.rounds
        if len(rounds) < 3:
            raise ValueError(f"too little: {view.messages[0].message.wire}")
        run = [item for item in view.messages if item.end <= rounds[-1].messages[0].end - 1 and item.role != "system"]
        answer = yield Ask("Sum it up.", covers=run)
        yield Fold(run, answer)


class PinSecret(Hook):
    """Pins what should not be told, and warns of it."""

    name: ClassVar[str] = "pin-secret"

    @hookimpl
    def pre_compact(self, view: Any) -> Iterator[Any]:
        """A pin with the word, and a warning with it."""
        yield Pin(SECRET, f"it says {SECRET}")
        yield Warn(f"{SECRET} is pinned")


class Watched:
    """A session whose telemetry goes to memory."""

    def __init__(self, *stages: Any, ask: Any = None) -> None:
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        tracers = TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = tracers.get_tracer("the agent's own")
        telemetry = OpenTelemetry(tracers, MeterProvider([self.reader]))
        profile = load(
            "minimal",
            overrides={
                "counter": "estimate",
                "provider": {"model": "claude-opus-5-5", "prefix_bound": False},
                "stages": [{name: ALWAYS} for name in stages or ("shorten", "summarise")],
                "hooks": ["pin-secret"],
            },
            plugins=(Shorten, Summarise, PinSecret),
            env={},
            cwd="/",
        )
        stores: Any = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        self.session = Session.open("s-1", profile, clock=lambda: 0.0, ask=ask, **stores)
        self.session._telemetry = telemetry

    def spans(self, name: str = "") -> list[ReadableSpan]:
        """The finished spans of that name, or all."""
        return [span for span in self.exporter.get_finished_spans() if name in ("", span.name)]

    def points(self) -> dict[str, list[tuple[dict[str, Any], float]]]:
        """Each metric's points: attributes, and the sum."""
        data = json.loads(self.reader.get_metrics_data().to_json())
        metrics = data["resource_metrics"][0]["scope_metrics"][0]["metrics"]
        return {
            one["name"]: [
                (point["attributes"], point.get("value", point.get("sum"))) for point in one["data"]["data_points"]
            ]
            for one in metrics
        }

    def exported(self) -> str:
        """All that any exporter would get, as text."""
        data = self.reader.get_metrics_data()
        return "\n".join([*(span.to_json() for span in self.spans()), data.to_json() if data else ""])


def messages(rounds: int, text: str = "a line\n" * 200) -> list[Any]:
    """A conversation of that many rounds."""
    said: list[Any] = [{"role": "user", "content": f"Mend the {SECRET}."}]
    for n in range(rounds):
        use = {"type": "tool_use", "id": f"t{n}", "name": "Read", "input": {"file_path": f"/{SECRET}/{n}"}}
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"{SECRET} {text}"}
        said += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return said


@pytest.fixture
def watched() -> Watched:
    """A session that shortens, summarises and pins."""
    return Watched(ask=lambda ask: f"A summary of {SECRET}.")


def test_a_pass_is_a_span_with_its_parts_in_it(watched: Watched) -> None:
    """The pass lies in the caller's span, a stage and a hook in the pass, a question in its stage, in order of time."""
    with watched.tracer.start_as_current_span("the agent's own"):
        watched.session.prepare(messages(4))
    [outer], [whole] = watched.spans("the agent's own"), watched.spans("trimtab.prepare")
    assert whole.parent is not None
    assert (whole.parent.span_id, whole.kind) == (outer.context.span_id, SpanKind.INTERNAL)
    above = {"trimtab.stage shorten": whole, "trimtab.stage summarise": whole}
    for name, parent in above.items():
        [span] = watched.spans(name)
        assert span.parent.span_id == parent.context.span_id
        assert parent.start_time <= span.start_time <= span.end_time <= parent.end_time + 1_000_000
    [asked], [stage] = watched.spans("trimtab.ask summary"), watched.spans("trimtab.stage summarise")
    assert asked.parent.span_id == stage.context.span_id
    assert dict(asked.attributes) == {"trimtab.ask": "summary"}
    [hook] = watched.spans("trimtab.hook pin-secret.pre_compact")
    assert hook.parent.span_id == watched.spans("trimtab.stage shorten")[0].context.span_id
    assert abs(whole.start_time / 1e9 - time.time()) < 60


def test_what_a_pass_says(watched: Watched) -> None:
    """The figures of its report, the model, the conversation, and that it is compacted."""
    report = watched.session.prepare(messages(4)).report
    [span] = watched.spans("trimtab.prepare")
    assert report.boundary is not None
    assert dict(span.attributes) == {
        "gen_ai.conversation.compacted": True,
        "gen_ai.conversation.id": "s-1",
        "gen_ai.request.model": "claude-opus-5-5",
        "trimtab.boundary": "summarise",
        "trimtab.decision.count": len(report.decisions),
        "trimtab.decision.stages": tuple(one.stage for one in report.decisions),
        "trimtab.failure.count": 0,
        "trimtab.edit.refused.count": sum(map(sum, map(dict.values, report.refused.values()))),
        "trimtab.tokens.after": round(report.tokens_after),
        "trimtab.tokens.before": round(report.tokens_before),
        "trimtab.tokens.freed": round(sum(one.freed for one in report.decisions)),
        "trimtab.tokens.rewritten": round(sum(one.rewritten for one in report.decisions)),
        "trimtab.trigger": "auto",
        "trimtab.warning.count": len(report.warnings),
    }
    assert span.attributes["trimtab.tokens.freed"] > 100


def test_a_pass_that_ends_in_an_error_is_told(watched: Watched) -> None:
    """By the class of the error, in its span and in the time that it took."""
    with pytest.raises(ContextOverflow):
        watched.session.prepare([{"role": "user", "content": "word " * 2_000_000}])
    [span] = watched.spans("trimtab.prepare")
    assert span.attributes["error.type"] == "ContextOverflow"
    assert [attributes["error.type"] for attributes, _ in watched.points()["trimtab.pass.duration"]] == [
        "ContextOverflow"
    ]


def test_metrics(watched: Watched) -> None:
    """Time of passes and questions, freed tokens by stage, boundaries and failures."""
    watched.session.prepare(messages(1))
    report = watched.session.prepare(messages(4)).report
    points, model = watched.points(), {"gen_ai.request.model": "claude-opus-5-5"}
    [(attributes, seconds)] = points["trimtab.pass.duration"]
    assert attributes == {**model, "trimtab.trigger": "auto"}
    assert seconds == pytest.approx(sum(t.seconds for t in report.timings if t.kind == "pass"), abs=0.5)
    assert [attributes for attributes, _ in points["trimtab.ask.duration"]] == [{**model, "trimtab.ask": "summary"}]
    freed = {attributes["trimtab.stage"]: tokens for attributes, tokens in points["trimtab.tokens.freed"]}
    assert freed["summarise"] == round(next(one.freed for one in report.decisions if one.boundary))
    assert points["trimtab.boundaries"] == [({**model, "trimtab.trigger": "auto", "trimtab.stage": "summarise"}, 1)]
    assert points["trimtab.failures"] == [(model, 1)]


def test_an_answer(watched: Watched) -> None:
    """Usage in the words of the conventions, where all input counts as input, and as a metric by kind."""
    watched.session.prepare(messages(4))
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 2_000,
        "cache_creation_input_tokens": 300,
        "output_tokens": 40,
    }
    watched.session.observe({"usage": usage, "model": "claude-opus-5-5-20261101"})
    [span] = watched.spans("trimtab.observe")
    assert dict(span.attributes) == {
        "gen_ai.conversation.id": "s-1",
        "gen_ai.request.model": "claude-opus-5-5",
        "gen_ai.response.model": "claude-opus-5-5-20261101",
        "gen_ai.usage.cache_read.input_tokens": 2_000,
        "gen_ai.usage.cache_write.input_tokens": 300,
        "gen_ai.usage.input_tokens": 2_310,
        "gen_ai.usage.output_tokens": 40,
    }
    used = {attributes["trimtab.token.kind"]: tokens for attributes, tokens in watched.points()["trimtab.tokens.used"]}
    assert used == {"fresh": 10, "output": 40, "read": 2_000, "written": 300}


@pytest.mark.parametrize("value", ["", "NO_CONTENT", "EVENT_ONLY", "SPAN_ONLY", "true"])
def test_words_only_where_they_are_asked_for(value: str, watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reasons, failures and warnings are in the span where the conventions' variable asks for content in spans."""
    monkeypatch.setenv(CONTENT, value)
    report = watched.session.prepare(messages(1)).report
    assert report.decisions
    assert report.failures
    assert report.warnings
    [span] = watched.spans("trimtab.prepare")
    words = {key: told for key, told in span.attributes.items() if key.endswith(("reasons", "texts"))}
    asked = value in ("SPAN_ONLY", "true")
    assert (SECRET in watched.exported()) == asked
    assert words == (
        {}
        if not asked
        else {
            "trimtab.decision.reasons": tuple(one.reason for one in report.decisions),
            "trimtab.failure.texts": tuple(report.failures),
            "trimtab.warning.texts": tuple(report.warnings),
        }
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 12), st.booleans())
def test_nothing_of_what_was_said_is_told(seed: int, steps: int, answers: bool) -> None:
    """With a secret word in every text, call, result, pin, answer, failure and warning, none is exported."""

    def ask(question: Ask) -> str:
        if not answers:
            raise ValueError(SECRET)
        return f"A summary of {SECRET}."

    watched, talk = Watched(ask=ask), Talk(random.Random(seed), SECRET, flaws=0.2)
    for _ in range(steps):
        talk.step()
        said = json.loads(json.dumps(talk.messages), object_hook=_secretly)
        watched.session.prepare(said, system=f"Never say {SECRET}.", tools=[{"name": "Read", "description": SECRET}])
        watched.session.observe({"usage": {"input_tokens": 900, "output_tokens": 5}, "content": SECRET})
    assert len(watched.spans("trimtab.prepare")) == steps
    assert SECRET in str(watched.session.request)
    assert SECRET not in watched.exported()


def _secretly(wire: dict[str, Any]) -> dict[str, Any]:
    """A block with the word in its text or in its arguments."""
    if isinstance(wire.get("text"), str):
        wire["text"] = f"{SECRET} {wire['text']}"
    if wire.get("type") == "tool_use":
        wire["input"] = {**wire["input"], "secret": SECRET}
    if wire.get("type") == "tool_result" and isinstance(wire.get("content"), str):
        wire["content"] = f"{SECRET} {wire['content']}"
    return wire


def test_an_exporter_that_raises_does_not_stop_the_agent(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """The request is the same, whatever telemetry raises."""

    def fails(*given: Any, **named: Any) -> None:
        raise RuntimeError("no collector")

    expected = Watched(ask=lambda ask: f"A summary of {SECRET}.").session.prepare(messages(4)).messages
    monkeypatch.setattr(watched.session._telemetry.tracer, "start_span", fails)
    assert watched.session.prepare(messages(4)).messages == expected
    watched.session.observe({"usage": {"input_tokens": 1_000}})


@pytest.fixture
def fresh() -> Iterator[Callable[[], Telemetry]]:
    """`choose` as a new process calls it."""
    choose.cache_clear()
    yield choose
    choose.cache_clear()


def test_without_opentelemetry(fresh: Callable[[], Telemetry], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its API is not installed, nobody is told, and nothing fails."""
    monkeypatch.delitem(sys.modules, "trimtab.telemetry.otel")
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    assert type(fresh()) is Telemetry


def test_the_kernel_finds_it(fresh: Callable[[], Telemetry]) -> None:
    """It is a part, and one for all sessions."""
    assert part("telemetry", "auto") is choose
    assert isinstance(fresh(), OpenTelemetry)
    assert fresh() is fresh()


def test_it_costs_nothing_where_nobody_listens(watched: Watched) -> None:
    """Without a provider a pass and an answer cost less than 20 microseconds (here: the best of some)."""
    request, silent = watched.session.prepare(messages(4)), OpenTelemetry()
    best = 1.0
    for _ in range(20):
        begun = time.perf_counter()
        for _ in range(20):
            silent.passed(watched.session, request)
        best = min(best, (time.perf_counter() - begun) / 20)
    print(f"{best * 1e6:.1f} µs")
    assert best < 20e-6
