"""A session: one agent's conversation, its ledger, and `prepare` / `observe` around every request."""

from __future__ import annotations

import asyncio
import copy
import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from trimtab.ask import Ask, Asker, adrive, drive
from trimtab.cache import Cache
from trimtab.commit import commit, record, stored_text
from trimtab.conversation import Conversation, Location, digest
from trimtab.dialect import Usage
from trimtab.draft import Draft, Plan
from trimtab.edits import KERNEL, Note
from trimtab.errors import ContextOverflow, PluginError, StorageError, TrimtabError, Unknown, Veto, told
from trimtab.hooks import BROKEN, VETO
from trimtab.hookspecs import Source, Trigger
from trimtab.ledger import Ledger
from trimtab.names import Names
from trimtab.parts import part
from trimtab.pipeline import ASKED, Pass
from trimtab.plugins import manager
from trimtab.profile import Profile, load
from trimtab.projection import Item, Projection
from trimtab.provider import Provider, family_factor, resolve
from trimtab.report import Outcome, Report
from trimtab.stores import BlobStore, LedgerStore
from trimtab.tokens import Meter
from trimtab.view import Context, View
from trimtab.window import Window

__all__ = ["Request", "Session"]

OFF = ("", "0", "false", "no", "off")
"""Values of TRIMTAB_OFF that leave trimtab on."""

SANE = 10
"""Windows; a usage above that many says nothing about a request."""

PAUSE = 0.002
"""Seconds between looks at a lock that a thread may hold; an event loop must not block on it."""

KEPT = 8
"""System texts and tool lists remembered: those of a main conversation and its sub-agents, with and without markers."""

_locks: WeakValueDictionary[str, Any] = WeakValueDictionary()
_inside: ContextVar[tuple[object, ...]] = ContextVar("trimtab_inside", default=())
"""The passes that this code is part of."""


class _Lock:
    """One pass at a time per session id in this process (R28).

    Code inside a pass (an asker, a hook, or a task or thread of theirs) that asks for it again is told so: it would
    wait for itself.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner: int | None = None
        self._pass = object()

    def _check(self) -> None:
        if self._pass in _inside.get() or self._owner == threading.get_ident():
            raise TrimtabError("a pass of this session is running: do not call it from an asker, a stage or a hook")

    def _enter(self) -> None:
        self._owner, self._pass = threading.get_ident(), object()
        self._token = _inside.set((*_inside.get(), self._pass))

    def __enter__(self) -> None:
        self._check()
        self._lock.acquire()
        self._enter()

    def __exit__(self, *_: object) -> None:
        _inside.reset(self._token)
        self._owner, self._pass = None, object()
        self._lock.release()

    async def __aenter__(self) -> None:
        if self._pass in _inside.get():
            self._check()
        while not self._lock.acquire(blocking=False):
            await asyncio.sleep(PAUSE)
        self._enter()

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()


@dataclass(slots=True)
class Request:
    """What to send. Untouched messages are the very objects that were handed in."""

    messages: list[Any]
    system: Any
    tools: Any
    extra: dict[str, Any] = field(default_factory=dict)
    """Further parameters and headers of the request."""
    report: Report = field(default_factory=Report)


class Session:
    """Opened by `Session.open`; safe to use from several threads, and with other processes on the same store."""

    def __init__(
        self, id: str, profile: Profile, ledger: Ledger, *, ask: Asker | None, clock: Callable[[], float]
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
        self.context = Context(
            self.window,
            self.meter,
            Names(),
            profile.tools,
            stored=lambda text: ledger.blobs.path(ledger.blobs.key(stored_text(text), ".txt")),
            owns=ledger.blobs.owns,
            unsent=profile.history == "unsent",
        )
        self._ask = ask
        self._manager = manager(profile.hooks)
        stages = [_made(item) for item in profile.stages]
        self.plan = Plan(stages, self._hooks, profile.strict, self.provider.prefix_bound, self.provider.price)
        self._heads: list[tuple[tuple[Any, Any], str, int]] = []
        self._started = False
        self._mended = 0
        """Messages of the path up to which repairs are recorded."""
        self._prepared = False
        """Whether the last call gave out a request of ours: only then usage says anything about it."""
        self._lock = _locks.setdefault(id, _Lock())

    @classmethod
    def open(
        cls,
        id: str,
        profile: str | Path | Profile | None = None,
        *,
        ask: Asker | None = None,
        clock: Callable[[], float] = time.time,
        plugins: Sequence[Any] = (),
        ledger: LedgerStore | None = None,
        blobs: BlobStore | None = None,
    ) -> Session:
        """A session by id; resumes where the ledger knows it.

        ``profile`` is a name, a path or a loaded profile; ``ask`` answers the questions of stages; ``clock`` gives
        epoch seconds; ``plugins`` are stage and hook classes or modules that the profile may name beside the
        installed ones; ``ledger`` and ``blobs`` replace the profile's stores. Raises `ProfileError`, `PluginError`,
        `StorageError`.
        """
        loaded = profile if isinstance(profile, Profile) else load(profile, plugins=plugins)
        store = ledger or _store("ledger", loaded.storage.ledger)
        return cls(
            id,
            loaded,
            Ledger(store, blobs or _store("blobs", loaded.storage.blobs), id),
            ask=ask,
            clock=clock,
        )

    # ------------------------------------------------------------------ requests

    def prepare(self, messages: Sequence[Any], system: Any = None, tools: Any = None) -> Request:
        """The request to send for these messages (the whole history, in the provider's format).

        Raises `ContextOverflow` where it cannot be brought below the window; any other trouble is reported and the
        last view plus the new messages is returned (``strict: true`` raises instead).
        """
        with self._lock:
            return drive(self._prepare(messages, system, tools, "auto"), self._ask)

    async def aprepare(self, messages: Sequence[Any], system: Any = None, tools: Any = None) -> Request:
        """`prepare` for event loops: ``ask`` may return an awaitable."""
        async with self._lock:
            return await adrive(self._prepare(messages, system, tools, "auto"), self._ask)

    def compact(self, messages: Sequence[Any], system: Any = None, tools: Any = None) -> Request:
        """`prepare` with every `when` open and all breakers shut again."""
        with self._lock:
            return drive(self._prepare(messages, system, tools, "manual"), self._ask)

    def observe(self, response: Any) -> None:
        """The provider's answer to the last prepared request, or its usage (a mapping, or `Usage`).

        Corrects the meter and, where the usage says what was read and written, the cache model.
        """
        with self._lock:
            try:
                usage = response if isinstance(response, Usage) else self.dialect.usage(response)
                known = usage is not None and 0 < usage.total <= SANE * self.provider.window
            except Exception:  # whatever a response is, the agent goes on with it
                known = False
            if not known or usage is None or self.projection is None or not self._prepared:
                return
            view = View(self.projection, self.context)
            self.meter.family = family_factor(usage.model) or self.meter.family
            self.meter.observe(self.projection.path[-1].id, view.raw, usage.total, view.on)
            if usage.split:
                self.cache.correct(usage.read + usage.written, usage.total)

    def restore(self, decision: int | Outcome) -> None:
        """Undo a decision (its number, or as a report shows it) with the next request, also one of another process.

        Removed thinking stays removed.

        Raises `Unknown` for a number that the ledger does not have.
        """
        seq = decision.seq if isinstance(decision, Outcome) else decision
        with self._lock:
            self.ledger.reload()
            if not 0 < seq <= len(self.ledger.decisions):
                raise Unknown(f"no decision {seq} in session {self.id!r} (decisions: {len(self.ledger.decisions)})")
            touched = sorted(self.ledger.decisions[seq - 1].touches())
            asked = Note(f"{KERNEL}{seq}:{ASKED}", True, touched[0] if touched else "")
            self.ledger.append([record(Draft("restore", [asked]), "manual", self.clock())])
            self.projection = None

    def explain(self) -> list[dict[str, Any]]:
        """Each recorded edit: decision, stage, kind, why, what it frees, and the way back."""
        return self.ledger.explain()

    @property
    def view(self) -> View:
        """The view of the last request; raises `Unknown` before the first."""
        if self.projection is None:
            raise Unknown(f"session {self.id!r} has prepared no request yet")
        return View(self.projection, self.context)

    # ------------------------------------------------------------------ one request

    def _prepare(
        self, messages: Sequence[Any], system: Any, tools: Any, trigger: Trigger
    ) -> Generator[Ask, Any, Request]:
        messages = list(messages)
        raw = Request(list(messages), system, tools)
        self._prepared = False
        if os.environ.get("TRIMTAB_OFF", "").lower() not in OFF or not messages:
            return raw
        self.context.now = self.clock()
        report = Report(trigger)
        try:
            if self.ledger.reload():
                self.projection = None  # another process decided something
        except StorageError as error:
            report.failures.append(f"the ledger could not be read anew: {told(error)}")
        try:
            location = self.conversation.locate(messages)
            base = self._project(location)
            head = self._head(system, tools)
        except Exception as error:
            if self.plan.strict:
                raise
            self.projection = None
            raw.report.failures.append(f"the messages could not be read, handed back as they are: {told(error)}")
            return raw
        keys, weights = self._keys(base, head)
        self._adopt(base, keys, weights)
        held = self.cache.held(keys, self.context.now)
        try:
            work = yield from self._pass(base, location, report, trigger, held)
        except ContextOverflow:
            raise
        except Exception as error:
            if self.plan.strict:
                raise
            report.failures.append(f"nothing was decided in this pass: {told(error)}")
            report.decisions, work = [], base
        self.projection = work
        try:
            request = self._request(work, location, system, tools, report, head)
        except Exception as error:
            if self.plan.strict:
                raise
            self.projection = None
            raw.report.failures.append(f"the view could not be rendered, handed back as it was said: {told(error)}")
            return raw
        self._check(request)
        self.cache.sent(report.keys, report.weights, report.tokens_after, self.context.now)
        self._prepared = True
        return request

    def _pass(
        self, base: Projection, location: Location, report: Report, trigger: Trigger, held: int
    ) -> Generator[Ask, Any, Projection]:
        source: Source | None = None if self._started else "resume" if self.ledger.decisions else "startup"
        idle = self.context.now - self.cache.requests[-1].time if self.cache.requests else 0.0
        first = self._first_unrepaired(base, location)
        repairs = self.dialect.repair(base.path, first)
        banned: frozenset[str] | None = frozenset()
        while True:
            self.context.held = base.items[held - 2].end if held > 1 else 0
            self.context.guides = []
            report.decisions, report.refused, report.held = [], {}, held
            report.tokens_before = View(base, self.context).tokens
            run = Pass(self.plan, base, self.context, report, idle=idle, trigger=trigger)
            run.work.banned = banned
            run.repair(repairs, base.path[first:])
            try:
                yield from run.run(source)
            except Veto as veto:
                if f"{VETO}{veto.reason}" not in report.warnings:
                    report.warnings.append(f"{VETO}{veto.reason}")
                if banned is not None:  # then nothing that a veto could refuse is left
                    banned = frozenset(veto.stages) if veto.stages and not banned else None
                    continue
            break
        work = run.work
        if work.drafts:
            base = commit(work, self.ledger, self.conversation, self.context.now, trigger)
        self._started = True  # not before: what session_start inserted is recorded now
        self._mended = len(base.path)
        return base

    def _first_unrepaired(self, base: Projection, location: Location) -> int:
        """Where the exchange begins that the first new message belongs to."""
        start = min(location.shared, self._mended) if self.projection is not None else 0
        while start and base.path[start - 1].role != "assistant":
            start -= 1
        while start and base.path[start - 1].role == "assistant":
            start -= 1
        return start

    def _project(self, location: Location) -> Projection:
        """The projection of the path: extended where only new messages came, else replayed from the ledger."""
        known, path = self.projection, location.path
        if known is not None and location.shared == len(known.path) and known.conversation is self.conversation:
            news = path[location.shared :]
            if not any(message.id in self.ledger.touched for message in news):
                known.extend(news)
                return known
        return Projection(self.conversation, path, self.ledger.rows())

    def _head(self, system: Any, tools: Any) -> str:
        """The key of this system text and tool list, whatever their cache markers; counts them once."""
        known = next((head for head in self._heads if head[0] == (system, tools)), None)
        if known is None:
            bare = self.dialect.bare(system), self.dialect.bare(tools)
            key = digest(*bare)
            sizes = [size for _, other, size in self._heads if other == key]
            known = copy.deepcopy((system, tools)), key, sizes[0] if sizes else self.dialect.head(*bare, self.counter)
            self._heads = [known, *self._heads[: KEPT - 1]]
        self.context.head = known[2]
        return known[1]

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
        sent = 1 + sum(bool(item.covers) and view.sent(item.end - 1) for item in base.items)
        self.cache.sent(keys[:sent], weights[:sent], self.cache.minimum, self.context.now)

    def _request(
        self, work: Projection, location: Location, system: Any, tools: Any, report: Report, head: str
    ) -> Request:
        if work.straight and location.straight:
            messages = list(location.handed)
            for index, item in work.wired.items():
                messages[index] = self._shown(item, location)
        else:
            messages = [self._shown(item, location) for item in work.items]
        report.keys, report.weights = self._keys(work, head)
        view = View(work, self.context)
        report.meter = {"factor": self.meter.factor, "hidden": self.meter.hidden(view.on)}
        report.tokens_after = view.tokens
        report.pins = view.pins
        inserts = [text for text, _ in work.state.inserts.get("system", ())]
        return Request(messages, self.dialect.system(system, inserts), tools, {}, report)

    def _shown(self, item: Item, location: Location) -> Any:
        """One message as it goes out: the object handed in, or a copy that the caller may change."""
        at = item.end - 1 if item.covers else -1
        handed = location.handed[at] if item.message is not None else None
        if item.wire is None and handed is not None:
            return handed
        wire = item.wire if item.message is None or item.wire is not None else item.message.wire
        return self.dialect.marked(wire, location.rendered.get(at, handed))

    def _check(self, request: Request) -> None:
        """Raise where the request fills the window (what fills it, what to do); where `strict`, if it is invalid."""
        report = request.report
        if self.plan.strict:
            found = self.dialect.validate([self.dialect.plain(message) for message in request.messages])
            for violation in (one for one in found if one.certain):
                raise TrimtabError(f"the request would be invalid: {violation.what}", where=violation.where)
        if report.tokens_after < self.window.block:
            return
        view = self.view
        factor = self.meter.factor
        biggest = sorted(view.messages, key=lambda item: -item.tokens)[:3]
        parts = [f"{item.role} message {item.id[:8]}: {factor * item.tokens:,.0f}" for item in biggest]
        parts.append(f"system, tools and what is not seen: {factor * report.weights[0]:,.0f}")
        if view.pins:
            conversation = self.conversation
            pinned = sum(conversation.count(pin.text or view.projection.block(pin.block).text) for pin in view.pins)
            parts.append(f"{len(view.pins)} pins: {factor * pinned:,.0f}")
        parts += dict.fromkeys(warning for warning in report.warnings if warning.startswith(VETO))
        raise ContextOverflow(
            f"about {report.tokens_after:,.0f} tokens, the limit is {self.window.block:,} of a window of "
            f"{self.window.window:,} ({'; '.join(parts)}); let stages shorten more (`when`, `target`), use a larger "
            "window, or start anew"
        )

    def _hooks(self, hook: str, **arguments: Any) -> Iterator[tuple[str, Iterable[Any]]]:
        """Each plugin's call of one hook, in the profile's order; nothing runs before it is iterated."""
        arguments["session"] = self
        for impl in reversed(getattr(self._manager.hook, hook).get_hookimpls()):
            values = [arguments[name] for name in impl.argnames]
            yield impl.plugin_name.partition("#")[0], _lazily(impl.function, values)


def _made(item: Any) -> Any:
    """A stage of the profile; what it did not take over from its class is set here."""
    try:
        stage = item.cls(item.options)
        stage.name, stage.options = item.name, item.options
    except BROKEN as error:
        raise PluginError(f"stage {item.name!r} cannot be made: {told(error)}", where=item.where) from error
    return stage


def _lazily(function: Callable[..., Any], values: list[Any]) -> Iterator[Any]:
    yield from function(*values) or ()


def _store(kind: str, url: str) -> Any:
    return part(kind, url.partition(":")[0])(url)
