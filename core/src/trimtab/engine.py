"""What a session does before each request: one transaction from messages to a request."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from trimtab import rules
from trimtab.ask import Ask, Asker
from trimtab.background import Background, Submit
from trimtab.cache import Cache
from trimtab.commit import commit, stored_text
from trimtab.conversation import Conversation, Location, Message, digest
from trimtab.draft import Draft, Plan, Work
from trimtab.edits import KERNEL, Note
from trimtab.errors import (
    ContextOverflow,
    Overflow,
    PluginError,
    StorageError,
    ToolError,
    TrimtabError,
    Unknown,
    Veto,
    told,
)
from trimtab.heads import Heads
from trimtab.hooks import BROKEN, VETO
from trimtab.hookspecs import Source, Trigger
from trimtab.ledger import TRIES, Ledger
from trimtab.lock import lock_of
from trimtab.names import Names
from trimtab.neighbours import Refused
from trimtab.offers import NOTE, TOOLS, offered, returned, tools_of
from trimtab.parts import part
from trimtab.pipeline import Pass
from trimtab.plugins import manager
from trimtab.profile import Profile
from trimtab.projection import Pinned, Projection
from trimtab.provider import Provider, resolve, window_of
from trimtab.recovery import LIMIT
from trimtab.report import Report
from trimtab.request import Request, full, rendered, witness
from trimtab.savings import Savings
from trimtab.stage import Stage
from trimtab.tokens import Meter
from trimtab.values import SMALLEST
from trimtab.view import Context, View
from trimtab.window import Window

__all__ = ["Engine", "Input", "switched_off"]

log = logging.getLogger("trimtab")

OFF = ("", "0", "false", "no", "off")
"""Values of TRIMTAB_OFF that leave trimtab on."""


@dataclass(frozen=True, slots=True)
class Input:
    """What a request is prepared from, and why."""

    messages: Sequence[Any]
    system: Any
    tools: Any
    parameters: Mapping[str, Any] = field(default_factory=dict)
    trigger: Trigger = "auto"
    overflow: Overflow | None = None
    unbind: bool = False
    """Whether the provider refused thinking as bound to another conversation."""
    notes: tuple[tuple[str, str, Any], ...] = ()
    """Notes of the kernel's own to record with it: of what, key, data."""

    def again(self, trigger: Trigger = "auto", **more: Any) -> Input:
        """The same messages once more, for another reason."""
        return Input(self.messages, self.system, self.tools, self.parameters, trigger, **more)


def switched_off() -> bool:
    """Whether the environment says that nothing is to be prepared (TRIMTAB_OFF)."""
    return os.environ.get("TRIMTAB_OFF", "").lower() not in OFF


class Engine:
    """The state of one session and its steps, as generators that yield each `Ask`; `Session` drives them."""

    def __init__(
        self,
        id: str,
        profile: Profile,
        ledger: Ledger,
        *,
        ask: Asker | None,
        clock: Callable[[], float],
        background: Submit | None,
        stage_tools: bool,
    ) -> None:
        self.id = id
        self.profile = profile
        self.ledger = ledger
        self.clock = clock
        self.provider: Provider = resolve(profile.provider)
        self.dialect = part("dialect", profile.provider.kind)()
        self.window = Window.of(self.provider.window, profile.thresholds)
        self.meter = Meter(self.provider.factor)
        self.cache = Cache(self.provider.ttl, self.provider.minimum)
        self.counter = part("counter", profile.counter)()
        self.conversation = Conversation(self.dialect, self.counter)
        self.conversation.recall, self.conversation.aliases = ledger.original, ledger.aliases
        self.projection: Projection | None = None
        asked = profile.ask.model or str(getattr(ask, "model", None) or "")
        self.context = Context(
            self.window,
            self.meter,
            Names(),
            profile.tools,
            stored=lambda text: ledger.blobs.path(ledger.blobs.key(stored_text(text), ".txt")),
            owns=ledger.blobs.owns,
            original=ledger.stored,
            unsent=profile.history == "unsent",
            asks=ask is not None,
            ask_window=self._ask_window(asked),
            asks_same=asked in ("", profile.provider.model),
            ask_model=asked,
            ask_timeout=profile.ask.timeout,
            savings=Savings(Cache(self.provider.ttl, self.provider.minimum), self.provider.price),
            features=self.dialect.features & self.provider.features.keys(),
            stage_tools=stage_tools,
        )
        self._ask = ask
        self.background = Background(self, background, ask)
        self._telemetry = part("telemetry", "auto")()
        self._manager = manager(profile.hooks)
        stages = [_made(item) for item in profile.stages]
        self.plan = Plan(stages, self._hooks, profile.strict, self.provider.prefix_bound, self.provider.price)
        self._head = Heads(self.dialect, self.counter)
        self._moving: dict[str, dict[tuple[str, str], Pinned]] = {}
        """The moving pins of each hook, on all paths: a projection that is made anew knows of none."""
        self._started: set[str] = set()
        """The conversations, by their first message, that session_start was called for."""
        self._features = self.context.features
        self._raw = True
        """Whether the last call gave out what was handed in, unread."""
        self._theirs: set[str] = set()
        """Names of stages' tools that the caller has tools of his own under."""
        self._prepared = False
        """Whether the last call gave out a request of ours: only then usage says anything about it."""
        self._last: Input | None = None
        self.request: Request | None = None
        """The last one that was given out."""
        self.lock = lock_of(id)

    @property
    def view(self) -> View:
        """The view of the last request; raises `Unknown` before the first."""
        if self.projection is None:
            raise Unknown(f"session {self.id!r} has prepared no request yet")
        return View(self.projection, self.context)

    # ------------------------------------------------------------------ one request

    def _compact(
        self, messages: Sequence[Any] | None, system: Any, tools: Any, instructions: str, keep: Any
    ) -> Generator[Ask, Any, Request]:
        call = self._last if messages is None else Input(list(messages), system, tools)
        if call is None:
            raise Unknown(f"session {self.id!r} has prepared no request yet: hand over messages")
        self.context.instructions, self.context.keep = (instructions or "").strip(), keep
        self.context.features = self._features
        try:
            return (yield from self._prepare(call.again("manual")))
        finally:
            self.context.instructions, self.context.keep = "", None

    @property
    def _limit(self) -> str:
        """The key of the note of the most that this model was seen to take."""
        return f"{LIMIT}:{self.provider.model}"

    def _narrow(self, limit: float) -> None:
        """From now on no request may be larger than what the provider takes (H51)."""
        if SMALLEST <= limit < self.window.window:
            self._sized(limit)

    def _sized(self, window: float) -> None:
        self.context.window = self.window = Window.of(int(window), self.profile.thresholds)

    def _ask_window(self, model: str) -> Window:
        """The window of the model that answers questions."""
        size = self.profile.ask.window or window_of(model) or self.provider.window
        return Window.of(size, self.profile.thresholds)

    def runs(self, stage: Stage) -> bool:
        """Whether a stage's breaker is shut, and no working stage stands in for it."""
        return self.plan.runs(stage, lambda name: not self.view.notes(f"{KERNEL}{name}:breaker"))

    def note(self, stage: str, notes: Sequence[Any], trigger: str, since: View | None = None) -> list[str]:
        """Record notes between two passes; what was refused, and why.

        Refused is one whose like has changed ``since`` the view that it was made of.
        """
        if not notes or self.projection is None:
            return []
        if self.ledger.reload():
            self._replay()
        work, draft = Work(self.plan, self.projection, self.context, Report(trigger), manual=False), Draft(stage)
        now, trouble = dict(self.projection.state.notes), []
        for note in notes:
            if not isinstance(note, Note):
                raise TrimtabError(f"may not yield {type(note).__name__}")
            try:
                if since is not None and now.get(note.key) != since.notes(note.key):
                    raise Refused("changed meanwhile")
                edit = rules.check(work.view, note)
            except Refused as refusal:
                trouble.append(f"{stage}: a note was refused: {refusal}")
                continue
            work.apply(edit)
            draft.edits.append(edit)
        work.add(draft)
        if work.drafts:
            self.projection = commit(work, self.ledger, self.conversation, self.clock(), trigger)
        return trouble

    def _replay(self) -> None:
        """The ledger has other rows: the projection of the last request as they say."""
        if self.projection is not None:
            self.projection = self._projected(self.projection.path)

    def _called(self, block: Any) -> Any:
        call, view = self.dialect.call(block), self.view
        if call is not None and call.name in self._theirs:
            return None
        known = tools_of(view.notes(NOTE) or ()) if self.context.stage_tools else {}
        owner = known.get(call.name) if call is not None else None
        if call is None or owner is None:
            return None
        stage = next((stage for stage in self.plan.stages if stage.name == owner[0]), None)
        try:
            if stage is None:
                raise ToolError(f"the tool {call.name} is no longer there")
            text, notes = returned(stage.call_tool(view, call.name, call.input), view)
            self.background.trouble += self.note(stage.name, notes, "tool")
        except BROKEN as error:
            if self.plan.strict and not isinstance(error, ToolError):
                raise
            text = str(error) if isinstance(error, ToolError) else f"The tool failed: {told(error)}"
            return self.dialect.result(call.id, text, True)
        return self.dialect.result(call.id, text, False)

    def _prepare(self, given: Input) -> Generator[Ask, Any, Request]:
        report = Report(given.trigger, cleared=self.context.cleared)
        try:
            with report.timed("pass", given.trigger):
                request = yield from self._made(given, report)
        except Exception as error:
            report.error = type(error).__name__
            self._tell(Request([], None, None, report=report))
            raise
        request.given = given
        self._tell(request)
        return request

    def _tell(self, request: Request) -> None:
        """Log the pass, and tell whoever watches; of a failure by name and kind, for its words may quote."""
        report = request.report
        freed = sum(one.freed for one in report.decisions)
        said = (self.id, report.trigger, report.tokens_after, len(report.decisions), freed)
        log.debug("session %s: %s pass, %.0f tokens, %d decisions free %.0f", *said)
        if one := report.boundary:
            sizes = one.tokens_before, one.tokens_after
            log.info("session %s: %s summarised, %.0f tokens to %.0f", self.id, one.type, *sizes)
        for failure in report.failures:
            log.warning("session %s: %s", self.id, ": ".join(failure.split(": ")[:2]))
        with suppress(Exception):  # whoever watches does not stop the agent
            self._telemetry.passed(self, request)

    def _made(self, given: Input, report: Report) -> Generator[Ask, Any, Request]:
        self._prepared, self._raw, self._last = False, True, given
        raw = Request(list(given.messages), given.system, given.tools, report=report)
        if switched_off() or not raw.messages:
            return raw
        report.warnings = self.background.told()
        self.context.now = self.clock()
        self._reload(report)
        try:
            location = self.conversation.locate(given.messages)
            base = self._project(location)
            self._narrow(base.state.notes.get(f"{KERNEL}window:{self._limit}") or self.window.window)
            tools, new = self._offered(base, given.tools, report)
            head, self.context.head = self._head(given.system, tools)
        except Exception as error:
            return self._unread(raw, "the messages could not be read, handed back as they are", error)
        self._raw = False

        def render(projection: Projection) -> Request:
            view = View(projection, self.context)
            return rendered(view, location, given.system, tools, self.provider.features, given.parameters)

        try:
            given = replace(given, notes=(*given.notes, *new))
            for _ in range(TRIES):
                known = len(self.ledger.decisions)
                base = yield from self._pass(base, report, given, head, render)
                alone = len(self.ledger.decisions) - known == len(report.decisions)
                if alone or View(base, self.context).tokens < self._most(given.overflow):
                    break  # else another process was first, and what it decided is not enough here
            self.projection = base
        except ContextOverflow:
            raise
        except Exception as error:
            if self.plan.strict:
                raise
            report.failures.append(f"nothing was decided in this pass: {told(error)}")
            report.decisions, report.boundary, self.projection = [], None, base
        try:
            request = render(self.projection)
            self._figures(self.projection, report, head)
        except Exception as error:
            return self._unread(raw, "the view could not be rendered, handed back as it was said", error)
        request.report = report
        self._check(request, given.overflow)
        self.cache.sent(report.keys, report.weights, report.tokens_after, self.context.now)
        request.said = list(self.projection.path)
        self._prepared, self.request = True, request
        return request

    def _reload(self, report: Report) -> None:
        try:
            if self.ledger.reload():
                self.projection = None  # another process decided something
        except StorageError as error:
            report.failures.append(f"the ledger could not be read anew: {told(error)}")

    def _unread(self, raw: Request, what: str, error: Exception) -> Request:
        """What was handed in, where nothing can be made of it; raises where `strict` is set."""
        if self.plan.strict:
            raise error
        self.projection, self._raw = None, True
        raw.report.failures.append(f"{what}: {told(error)}")
        return raw

    def _check(self, request: Request, overflow: Overflow | None) -> None:
        """Raise `ContextOverflow` where it is too large still; where `strict`, `TrimtabError` if it is invalid."""
        report, window = request.report, self.window
        if self.plan.strict:
            witness(self.dialect, request.messages)
        weighs = f"about {report.tokens_after:,.0f} tokens"
        if overflow is not None and not self._smaller(report):
            what = f"the provider refused the request as too large in {'bytes' if overflow.bytes else 'tokens'}"
            raise full(self.view, report, f"{what}, and no stage of the profile makes it smaller: {weighs}")
        limit, why = self._most(overflow), ""
        if overflow is not None and not overflow.bytes:
            why = "the provider refused the request; what is left of it: "
        if report.tokens_after >= limit:
            what = f"{why}{weighs}, the limit is {limit:,.0f} of a window of {window.window:,}"
            raise full(self.view, report, what)

    def _most(self, overflow: Overflow | None) -> float:
        """Tokens that a request must stay below: by the provider's own word, else by our count."""
        return overflow.limit if overflow is not None and not overflow.bytes else float(self.window.block)

    def _smaller(self, report: Report) -> bool:
        """Whether a request differs from the last one that was given out, and says less."""
        last = self.request.report if self.request is not None else Report()
        return list(report.keys) != list(last.keys) and sum(report.weights[1:]) < sum(last.weights[1:])

    def _figures(self, work: Projection, report: Report, head: str) -> None:
        """What the report says of the request."""
        view = View(work, self.context)
        report.keys, report.weights = self._keys(work, head)
        report.held = self.cache.held(report.keys, self.context.now)
        report.meter = {"factor": self.meter.factor, "hidden": self.meter.hidden(view.on)}
        report.tokens_after = view.tokens
        report.pins = view.pins

    def _offered(self, base: Projection, tools: Any, report: Report) -> tuple[Any, tuple[tuple[str, str, Any], ...]]:
        """The tools with those of stages, and what is to be noted of these.

        They are those that the session began with, for a change would cost all that is cached.
        """
        view, new = View(base, self.context), tuple[tuple[str, str, Any], ...]()
        self.context.tool_names = self.dialect.tool_names(tools)
        if not self.context.stage_tools:
            return tools, new
        rows = view.notes(NOTE)
        if rows is None:
            rows = offered(view, self.plan.stages, self.context.tool_names, report, strict=self.plan.strict)
            new = (("stage", TOOLS, rows),)
        added = [tool for _, tool in tools_of(rows).values()]
        said = self.dialect.bare(tools) or ()
        ours = {tool.name: self.dialect.tools(None, [tool])[0] for tool in added}
        self._theirs = {name for name, wire in ours.items() if name in self.context.tool_names and wire not in said}
        self.context.tool_names = (*self.context.tool_names, *(tool.name for tool in added))
        return self.dialect.tools(tools, added) if added else tools, new

    def _pass(
        self,
        base: Projection,
        report: Report,
        given: Input,
        head: str,
        render: Callable[[Projection], Request],
    ) -> Generator[Ask, Any, Projection]:
        keys, weights = self._keys(base, head)
        self._adopt(base, keys, weights)
        held = self.cache.held(keys, self.context.now)
        first = next((message.id for message in base.path if message.role != "system"), base.path[0].id)
        source: Source | None = None
        if first not in self._started:
            known = any(message.id in self.ledger.touched for message in base.path)
            source = "resume" if known else "startup"
        idle = self.context.now - self.cache.requests[-1].time if self.cache.requests else 0.0
        mended = self._first_unrepaired(base)
        repairs = self.dialect.repair(base.path, mended)
        banned: frozenset[str] | None = frozenset()
        pinned: list[Draft] = []
        while True:
            self.context.held = base.items[held - 2].end if held > 1 else 0
            self.context.guides = []
            report.decisions, report.refused, report.boundary, report.held = [], {}, None, held
            report.tokens_before = View(base, self.context).tokens
            run = Pass(
                self.plan, base, self.context, report, given.trigger, idle, given.overflow, render, unbind=given.unbind
            )
            run.work.banned = banned
            for name, key, data in given.notes:
                run.work.write(name, key, data, "")
            run.work.again(pinned)
            run.repair(repairs, base.path[mended:])
            try:
                yield from run.run(source)
            except Veto as veto:
                if f"{VETO}{veto.reason}" not in report.warnings:
                    report.warnings.append(f"{VETO}{veto.reason}")
                pinned, moving = run.work.pins, run.work.projection.state.moving
                if banned is not None:  # then nothing that a veto could refuse is left
                    base = base.copy()
                    base.state.moving = dict(moving)
                    banned = frozenset(veto.stages) if veto.stages and not banned else None
                    continue
            finally:
                self.context.advise = lambda: None
            break
        work = run.work
        base = work.projection  # with its moving pins, which are no drafts
        if work.drafts:
            base = commit(work, self.ledger, self.conversation, self.context.now, given.trigger)
        self._hold(base)
        run.settled()
        self._started.add(first)  # not before: what session_start inserted is recorded now
        base.mended = len(base.path)
        return base

    @staticmethod
    def _first_unrepaired(base: Projection) -> int:
        """Where the exchange begins that the first new message belongs to."""
        start = base.mended
        while start and base.path[start - 1].role != "assistant":
            start -= 1
        while start and base.path[start - 1].role == "assistant":
            start -= 1
        return start

    def _project(self, location: Location) -> Projection:
        """The projection of the path: extended where only new messages came, else replayed from the ledger."""
        known, path = self.projection, location.path
        if known is not None and known.path == path[: len(known.path)]:
            news = path[len(known.path) :]
            if not any(message.id in self.ledger.touched for message in news):
                known.extend(news)
                return known
        return self._projected(path)

    def _projected(self, path: list[Message]) -> Projection:
        """A path as the ledger's rows say, with the moving pins on it."""
        made = Projection(self.conversation, path, self.ledger.rows())
        for hook, pins in self._moving.items():
            if held := {key: pin for key, pin in pins.items() if self.conversation.on(path, (pin.block,))}:
                made.state.moving[hook] = held
        return made

    def _hold(self, projection: Projection) -> None:
        """Remember the moving pins on a path, in the place of those that were known there."""
        path, on = projection.path, self.conversation.on
        for hook in self._moving.keys() | projection.state.moving.keys():
            elsewhere = {key: pin for key, pin in self._moving.get(hook, {}).items() if not on(path, (pin.block,))}
            self._moving[hook] = {**elsewhere, **projection.state.moving.get(hook, {})}

    def _keys(self, projection: Projection, head: str) -> tuple[list[str], list[float]]:
        """The request as the cache model sees it: keys and uncalibrated tokens, system and tools first."""
        inserts = projection.state.inserts.get("system", ())
        unseen = self.meter.hidden(View(projection, self.context).on) / self.meter.factor
        key = f"{head}:{digest(inserts)}" if inserts else head
        return [key, *projection.keys], [max(0.0, unseen) + self.context.head, *projection.weights]

    def _adopt(self, base: Projection, keys: list[str], weights: list[float]) -> None:
        """A conversation that others sent before us, or before a restart, is taken to be in the cache still (R8)."""
        if self.cache.requests or not View(base, self.context).answers:
            return
        view = View(base, self.context)
        said = (n for n, item in enumerate(base.items, 2) if item.covers and view.sent(item.end - 1))
        sent = max(said, default=1)  # with what was inserted among them
        self.cache.sent(keys[:sent], weights[:sent], self.cache.minimum, self.context.now)

    def _hooks(self, hook: str, **arguments: Any) -> Iterator[tuple[str, Iterable[Any]]]:
        """Each plugin's call of one hook, in the profile's order; nothing runs before it is iterated."""
        arguments["session"] = self
        for impl in reversed(getattr(self._manager.hook, hook).get_hookimpls()):
            values = [arguments[name] for name in impl.argnames]
            yield impl.plugin_name, _lazily(impl.function, values)


def _made(item: Any) -> Any:
    """A stage of the profile; what it did not take over from its class is set here."""
    try:
        stage = item.cls(item.options)
        stage.name, stage.options = item.name, item.options
        stage.folder, stage.project = item.folder, item.project
    except BROKEN as error:
        raise PluginError(f"stage {item.name!r} cannot be made: {told(error)}", where=item.where) from error
    return stage


def _lazily(function: Callable[..., Any], values: list[Any]) -> Iterator[Any]:
    yield from function(*values) or ()
