"""One pass: stages in order propose, pins and rules and `when` decide, hooks look at the result (DESIGN §3).

A pass is a generator that yields every `Ask` and is sent the answer, so that it never does I/O itself. It works on a
copy of the projection; whoever runs it commits the drafts, or drops them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from trimtab import rules
from trimtab.ask import Ask, checked
from trimtab.edits import Drop, Edit, Fold, Guide, Insert, Note, Pin, Repair, Restore, targets
from trimtab.errors import AskFailed, TrimtabError, Veto
from trimtab.hookspecs import Source, Trigger
from trimtab.projection import Projection
from trimtab.report import Outcome, Report
from trimtab.rules import Refused
from trimtab.stage import Stage
from trimtab.view import Context, View
from trimtab.when import Opening, opening

__all__ = ["Draft", "Hooks", "Pass", "Plan"]

ENDLESS = 10_000
"""Proposals of one stage in one pass after which it counts as failed: more than any conversation has blocks."""

FAILURES = 3
"""Failing passes, or boundaries within as many turns of each other, that open a breaker (R29)."""

ASKED = "restore:"
"""Notes of this key say that a decision is to be undone in the next pass."""

Hooks = Callable[..., Iterator[tuple[str, Iterable[Any]]]]
"""Calls one hook of all its plugins in order: (plugin's name, what it yields); iterating may raise."""


@dataclass(slots=True)
class Plan:
    """What a profile made ready: stages in order, hooks, and the switches the kernel reads."""

    stages: list[Stage]
    hooks: Hooks
    strict: bool = False
    prefix_bound: bool = False
    failures: Counter[str] = field(default_factory=Counter)
    """Failing passes in a row, by plugin."""


@dataclass(slots=True)
class Draft:
    """A decision before it is recorded."""

    stage: str
    edits: list[Edit] = field(default_factory=list)
    free: bool = True
    boundary: bool = False
    freed: float = 0.0
    rewritten: float = 0.0


class Pass:
    """One pass over ``projection``; after `run`, `work` is what will be sent and `drafts` what to record."""

    def __init__(
        self,
        plan: Plan,
        projection: Projection,
        context: Context,
        report: Report,
        *,
        idle: float,
        trigger: Trigger = "auto",
        banned: frozenset[str] | None = frozenset(),
    ) -> None:
        self.plan = plan
        self.before = projection
        self.work = projection
        """The projection that edits go to; `before` itself until the first one."""
        self.context = context
        self.report = report
        self.idle = idle
        self.trigger: Trigger = trigger
        self.banned = banned
        """Stages whose edits of sent content a hook vetoed; None: all."""
        self.drafts: list[Draft] = []
        self.guides: list[str] = []
        self.asked_pins: set[Trigger] = set()
        self.second = False
        self.mark: Projection | None = None
        self.shown: View | None = None
        """The view in the hands of the stage that looks now; it follows the edits that pass."""
        self.vetoed = ""
        self.target: float | None = None
        self.boundary = False

    @property
    def view(self) -> View:
        """The view as it is now."""
        return View(self.work, self.context)

    # ------------------------------------------------------------------ the order of a pass

    def run(self, source: Source | None) -> Generator[Ask, Any, None]:
        """Stages, second look, boundary inserts, and the hooks that look back; raises `Veto` from post_compact."""
        if source is not None:
            self._start(source)
        self._restore()
        waited: list[tuple[Stage, int]] = []
        for stage in self.plan.stages:
            held = self.context.held
            if (yield from self._look(stage)):
                waited.append((stage, held))
        for stage, held in waited:
            if self.context.held < held:
                self.second = True
                yield from self._look(stage, again=self.context.held)
        if self.boundary:
            self._start("compact")
        if self.drafts:
            self._judge_hooks()

    def _apply(self, edit: Edit) -> None:
        """Apply an edit to a copy of what others still need: the projection before the pass, or before this look."""
        if self.work is self.before or self.work is self.mark:
            self.work = self.work.copy()
            if self.shown is not None:
                self.shown.projection = self.work
        self.work.apply(edit)

    def repair(self, repairs: Iterable[Repair]) -> None:
        """Record the dialect's repairs; they are exempt from the rules."""
        repairs = [edit for edit in repairs if self.work.state.repairs.get(edit.message) != edit]
        if repairs:
            for edit in repairs:
                self._apply(edit)
            self.drafts.append(Draft("repair", list(repairs)))
            self.report.repairs = len(repairs)

    def _restore(self) -> None:
        """Carry out what `Session.restore` asked for, as an edit like any other; what is refused stays asked for."""
        for key, said in list(self.work.state.notes.items()):
            if key.startswith(ASKED) and said:
                draft = Draft("restore")
                seq = int(key.removeprefix(ASKED))
                if self._take("restore", Opening(everything=True), Restore((seq,), "asked for"), draft, []):
                    self.drafts.append(draft)
                    self._note(Note(key, None, self.work.path[0].id))

    def _look(self, stage: Stage, again: int | None = None) -> Generator[Ask, Any, bool]:
        """One look of one stage; True if it would look again behind a break that others make (R4)."""
        options = stage.options
        if self._open_breaker(stage.name) or (options.unless and self._works(options.unless)):
            return False
        waits = any(condition.word == "cold" for condition in options.when.words)
        manual = self.trigger in ("manual", "overflow")
        gate = Opening(behind=again) if again is not None else opening(options, self.view, self.idle, manual=manual)
        if options.when.words and gate.closed:
            return waits
        yield from self._propose(stage, gate)
        return waits and not gate.everything

    def _works(self, name: str) -> bool:
        return any(stage.name == name for stage in self.plan.stages) and not self._open_breaker(name)

    # ------------------------------------------------------------------ one stage

    def _propose(self, stage: Stage, gate: Opening) -> Generator[Ask, Any, None]:
        mark, held, boundary = self.work, self.context.held, self.boundary
        self.mark, self.shown = mark, self.view
        draft = Draft(stage.name)
        free: list[Edit] = []
        try:
            yield from self._drive(stage, gate, draft, free)
        except Exception as error:
            if self.plan.strict:
                raise
            self._back(mark, held, boundary)
            self.fail(stage.name, error)
            return
        self.plan.failures[stage.name] = 0
        if not draft.free and draft.freed < stage.options.at_least:
            self.report.refuse(stage.name, "fewer tokens than at_least")
            self._back(mark, held, boundary)
            draft = Draft(stage.name)
            for edit in free:
                self._take(stage.name, Opening(), edit, draft, [])
        if draft.edits:
            self.drafts.append(draft)
            if draft.boundary:
                self._watch(stage.name)

    def _back(self, mark: Projection, held: int, boundary: bool) -> None:
        """Undo one stage's look; pins that it caused to be asked for stay."""
        pins = [pin for key, pin in self.work.state.pins.items() if key not in mark.state.pins]
        self.work, self.context.held, self.boundary, self.shown = mark, held, boundary, None
        for pin in pins:
            self._apply(Pin(pin.block, pin.reason, pin.text))

    def _drive(self, stage: Stage, gate: Opening, draft: Draft, free: list[Edit]) -> Generator[Ask, Any, None]:
        """Run the generator: edits are judged one by one, an Ask goes out, `over` ends at its target (R5)."""
        assert self.shown is not None
        proposals = stage.propose(self.shown)
        if not isinstance(proposals, Generator):
            proposals = (edit for edit in proposals)
        answer: Any = None
        try:
            for _ in range(ENDLESS):
                try:
                    edit = proposals.throw(answer) if isinstance(answer, AskFailed) else proposals.send(answer)
                except StopIteration:
                    return
                if isinstance(edit, Ask):
                    answer = yield from self._ask(edit)
                    continue
                answer = None
                self._take(stage.name, gate, edit, draft, free)
                if gate.target is not None and self.view.tokens <= gate.target:
                    return
        finally:
            proposals.close()
        raise TrimtabError(f"more than {ENDLESS} proposals in one pass")

    def _ask(self, ask: Ask) -> Generator[Ask, Any, Any]:
        """The checked answer, or the `AskFailed` to throw into the stage."""
        room = sum(item.tokens for item in ask.covers) if not isinstance(ask.covers, str) else 0
        count = self.work.conversation.count
        try:
            return checked(ask, (yield ask), room, count)
        except AskFailed as error:
            return error

    def _take(self, stage: str, gate: Opening, edit: Any, draft: Draft, free: list[Edit]) -> bool:
        """Judge one proposal; apply it if it passes."""
        if not self.asked_pins or self.second:
            self._pins(self._trigger())
        view = self.view
        try:
            edit = rules.check(view, edit)
            place = rules.position(view, edit)
            if isinstance(edit, Insert) and self.boundary:
                place = None
            sent = place is not None and view.sent(place)
            if sent and place is not None:
                self._may_break(stage, gate, place)
            strips = self._strip(view, place, edit) if place is not None else None
        except Refused as refusal:
            self.report.refuse(stage, str(refusal))
            return False
        raw = self.work.raw
        for one in (strips, edit) if strips else (edit,):
            self._apply(one)
            draft.edits.append(one)
        draft.freed += view.context.meter.factor * (raw - self.work.raw)
        if sent and place is not None:
            draft.free = False
            draft.rewritten += self._rewritten(place)
            if self._is_boundary(edit):
                draft.boundary = self.boundary = True
                self.target = gate.target
        else:
            free.append(edit)
            if self._is_boundary(edit):
                draft.boundary = self.boundary = True
        return True

    def _may_break(self, stage: str, gate: Opening, place: int) -> None:
        if self.vetoed:
            raise Refused(f"vetoed: {self.vetoed}")
        if self.banned is None or stage in self.banned:
            raise Refused("vetoed after the pass")
        if not gate.allows(place):
            raise Refused("waits")

    def _rewritten(self, place: int) -> float:
        """Tokens that were cached behind ``place`` and no longer are; moves the frontier there."""
        if place >= self.context.held:
            return 0.0
        view = self.view
        tokens = view.tokens_after(place) - view.tokens_after(self.context.held)
        self.context.held = place
        return tokens

    def _is_boundary(self, edit: Edit) -> bool:
        return isinstance(edit, Fold) and bool(self.work.items) and self.work.items[0].fold is edit

    def _strip(self, view: View, place: int, edit: Edit) -> Drop | None:
        """The thinking that an edit at ``place`` takes with it on a prefix-bound model (R23)."""
        if not self.plan.prefix_bound:
            return None
        gone = set(targets(edit)) if isinstance(edit, (Drop, Fold)) else set()
        behind = [(at, id) for at, id in rules.thinking(view, place) if not {id, id.partition(".")[0]} & gone]
        bound = [id for depth, id in behind if depth >= rules.closed(view)]
        if bound:
            if view.tokens < view.window.block:
                raise Refused("waits: thinking of the open turn is bound to it")
            latest = max(depth for depth, _ in behind)
            behind = [(depth, id) for depth, id in behind if depth < latest]
            self.report.warnings.append("thinking inside the open turn was removed: the window was full")
        for depth, _ in behind:
            if all(block.type == "thinking" for block in self.work.path[depth].blocks):
                raise Refused("would leave an empty message")
        return Drop(tuple(id for _, id in behind), "bound to what was edited") if behind else None

    # ------------------------------------------------------------------ hooks

    def _trigger(self) -> Trigger:
        """Whether this pass can break sent content at all (then its own trigger) or only decides before first send."""
        if self.trigger != "auto":
            return self.trigger
        gates = (opening(stage.options, self.view, self.idle, manual=False) for stage in self.plan.stages)
        return "auto" if self.second or any(not gate.closed for gate in gates) else "first_send"

    def _pins(self, trigger: Trigger) -> None:
        """Ask the pin hooks, once a pass, before the first proposal is judged (R10)."""
        if trigger in self.asked_pins:
            return
        self.asked_pins.add(trigger)
        for name, yielded in self._guarded("pre_compact", view=View(self.before, self.context), trigger=trigger):
            draft = Draft(name)
            for said in yielded:
                if isinstance(said, Guide):
                    self.guides.append(said.text)
                elif isinstance(said, Pin):
                    self._pin(name, said, draft)
                else:
                    self.report.refuse(name, f"pre_compact may not yield {type(said).__name__}")
            if draft.edits:
                self.drafts.append(draft)

    def _pin(self, name: str, said: Pin, draft: Draft) -> None:
        try:
            edit = rules.pin(self.view, said)
        except Refused as refusal:
            self.report.refuse(name, str(refusal))
            return
        if (edit.block, edit.text) not in self.work.state.pins:
            self._apply(edit)
            draft.edits.append(edit)

    def _start(self, source: Source) -> None:
        """Inserts of session_start: once by source and text (R15); behind a boundary they must leave room (R7)."""
        reason = f"session_start:{source}"
        for name, yielded in self._guarded("session_start", source=source):
            self._inserts(name, yielded, reason)

    def _inserts(self, name: str, yielded: Iterable[Any], reason: str) -> None:
        draft = Draft(name)
        for said in yielded:
            try:
                if not isinstance(said, Insert):
                    raise Refused(f"may not yield {type(said).__name__}")
                edit = rules.check(self.view, Insert(said.anchor, said.text, reason))
                assert isinstance(edit, Insert)
                self._room(edit)
            except Refused as refusal:
                self.report.refuse(name, str(refusal))
                continue
            self._apply(edit)
            draft.edits.append(edit)
        if draft.edits:
            self.drafts.append(draft)

    def _room(self, edit: Insert) -> None:
        key = f"{edit.anchor}:{edit.at}" if edit.anchor == "after_boundary" else ""
        for other, texts in self.work.state.inserts.items():
            if (edit.text, edit.reason) in texts and (not key or other == key):
                raise Refused("already inserted")
        if edit.anchor == "after_boundary":
            if not self.boundary:
                raise Refused("no boundary in this pass")
            view = self.view
            tokens = view.tokens + view.context.meter.factor * self.work.conversation.count(edit.text)
            if tokens > (self.target or view.window.auto):
                raise Refused("no room behind the boundary")

    def _judge_hooks(self) -> None:
        """post_compact sees what was decided, may insert, or raises Veto."""
        self.report.decisions = [outcome(draft) for draft in self.drafts]
        before, after = View(self.before, self.context), self.view
        for name, yielded in self._guarded("post_compact", before=before, after=after, report=self.report):
            self._inserts(name, yielded, "post_compact")

    def _guarded(self, hook: str, **arguments: Any) -> Iterator[tuple[str, list[Any]]]:
        """What each plugin yields; one that fails costs only its own effect (promise 8)."""
        for name, call in self.plan.hooks(hook, **arguments):
            if self._open_breaker(name):
                continue
            try:
                yielded = list(_bounded(call))
            except Veto as veto:
                if hook != "pre_compact":
                    raise
                self.vetoed = f"{name}: {veto.reason}"
                continue
            except Exception as error:
                if self.plan.strict:
                    raise
                self.fail(name, error)
                continue
            self.plan.failures[name] = 0
            yield name, yielded

    # ------------------------------------------------------------------ breakers

    def fail(self, name: str, error: Exception) -> None:
        """Count a failing pass of a plugin; the third in a row opens its breaker for the session."""
        self.report.failures.append(f"{name}: {type(error).__name__}: {error}")
        self.plan.failures[name] += 1
        if self.plan.failures[name] >= FAILURES:
            self._break(name, f"{FAILURES} failing passes, last: {error}")

    def _watch(self, name: str) -> None:
        """Boundaries that follow each other too closely open the breaker of the stage that made this one."""
        turn = sum(start == index for index, start in enumerate(self.work.turns))
        last = [*(self.work.state.notes.get("boundaries") or ()), turn][-FAILURES:]
        self._note(Note("boundaries", last, self.work.path[-1].id))
        if len(last) == FAILURES and all(b - a <= FAILURES for a, b in pairwise(last)):
            self._break(name, f"{FAILURES} boundaries within {FAILURES} turns of each other")

    def _break(self, name: str, why: str) -> None:
        self.report.warnings.append(f"{name} is switched off for this session: {why}")
        self._note(Note(f"breaker:{name}", why, self.work.path[0].id))

    def _note(self, note: Note) -> None:
        self._apply(note)
        self.drafts.append(Draft("kernel", [note]))

    def _open_breaker(self, name: str) -> bool:
        return bool(self.work.state.notes.get(f"breaker:{name}")) and self.trigger != "manual"


def _bounded(call: Iterable[Any]) -> Iterator[Any]:
    for count, said in enumerate(call or ()):
        if count >= ENDLESS:
            raise TrimtabError(f"yields more than {ENDLESS} things")
        yield said


def outcome(draft: Draft) -> Outcome:
    """A draft as the report shows it."""
    reasons = [edit.reason for edit in draft.edits if not isinstance(edit, Note) and edit.reason]
    return Outcome(
        draft.stage,
        draft.free,
        len(draft.edits),
        draft.freed,
        draft.rewritten,
        draft.boundary,
        "; ".join(reasons[:3]),
    )
