"""The working copy of a pass: edits that passed the rules, collected as drafts of decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from trimtab import rules
from trimtab.edits import BOUNDARY, KERNEL, REFUSED, Drop, Edit, Fold, Insert, Note, Param, Pin, hidden, targets
from trimtab.errors import told
from trimtab.neighbours import Refused
from trimtab.projection import Pinned, Projection
from trimtab.provider import Price
from trimtab.report import Boundary, Outcome, Report
from trimtab.stage import Stage
from trimtab.thinking import check_emptied, closed, thinking
from trimtab.view import Context, View
from trimtab.when import Opening

__all__ = ["Draft", "Hooks", "Plan", "Work"]

FAILURES = 3
"""Failing passes, or boundaries within as many requests of each other, that open a breaker (R29)."""

Hooks = Callable[..., Iterator[tuple[str, Iterable[Any]]]]
"""Calls one hook of all its plugins in order: (plugin's id, ``name#n``, what it yields); iterating may raise."""


@dataclass(slots=True)
class Plan:
    """What a profile made ready: stages in order, hooks, and the switches the kernel reads."""

    stages: list[Stage]
    hooks: Hooks
    strict: bool = False
    prefix_bound: bool = False
    price: Price = field(default_factory=Price)
    weighed: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By a conversation's first message: tokens at which `pays` last said no, and from which it may say yes."""
    failures: Counter[str] = field(default_factory=Counter)
    """Failing passes in a row, by plugin."""
    vain: dict[tuple[str, str], float] = field(default_factory=dict)
    """By stage and a conversation's first message: tokens of the view when a question of it came to nothing."""

    def runs(self, stage: Stage, works: Callable[[str], bool]) -> bool:
        """Whether a stage's breaker is shut, and no working stage stands in for it."""
        unless = stage.options.unless
        return works(stage.name) and not any(other.name == unless and works(unless) for other in self.stages)


@dataclass(slots=True)
class Draft:
    """A decision before it is recorded."""

    stage: str
    edits: list[Edit] = field(default_factory=list)
    free: bool = True
    breaks: int = 0
    """Edits of sent content among them."""
    boundary: bool = False
    freed: float = 0.0
    rewritten: float = 0.0
    trigger: str = ""
    """What it was made for, where that is not what the pass is for."""

    def outcome(self) -> Outcome:
        """The decision as a report shows it."""
        why = "; ".join(dict.fromkeys(reason for edit in self.edits if (reason := getattr(edit, "reason", ""))))
        ours = sum(isinstance(edit, Note) and edit.key.startswith(KERNEL) for edit in self.edits)
        count = len(self.edits) - (ours if self.stage != "kernel" else 0)
        return Outcome(self.stage, self.free, count, self.freed, self.rewritten, self.boundary, why)


class Work:
    """One pass's copy of the projection, and what is to be recorded if the pass succeeds."""

    def __init__(self, plan: Plan, projection: Projection, context: Context, report: Report, *, manual: bool) -> None:
        self.plan = plan
        self.before = projection
        self.projection = projection
        """What edits go to: `before` itself until the first one."""
        self.context = context
        self.report = report
        self.manual = manual
        self.drafts: list[Draft] = []
        self.vetoed = ""
        """Who refused all edits of sent content in this pass, and why."""
        self.banned: frozenset[str] | None = frozenset()
        """Stages whose edits of sent content were vetoed after an earlier run of this pass; None: all."""
        self.worked: set[str] = set()
        """Plugins that got through at least one of their calls."""
        context.compacted = False
        self.target: float | None = None
        """Tokens that a boundary of this pass must leave the view below."""
        self._moving: dict[str, Mapping[tuple[str, str], Pinned]] = {}
        """The moving pins that hooks said in this pass."""
        self._mark: Projection | None = None
        self._opened = False
        """Whether the edit that is judged takes thinking of the open turn with it."""
        self._view = View(projection, context)

    @property
    def boundary(self) -> bool:
        """Whether one was made in this pass."""
        return self.context.compacted

    @property
    def view(self) -> View:
        """The view, which follows the edits that pass."""
        return self._view

    def apply(self, edit: Edit) -> None:
        """Apply an edit to a copy of what others still need: the projection before the pass, or before this look."""
        if self.projection is self.before or self.projection is self._mark:
            self._show(self.projection.copy())
        self.projection.apply(edit)

    @property
    def pins(self) -> list[Draft]:
        """The fixed pins of this pass, as drafts of their own."""
        found = ((draft.stage, [edit for edit in draft.edits if isinstance(edit, Pin)]) for draft in self.drafts)
        return [Draft(stage, list(edits)) for stage, edits in found if edits]

    def again(self, pins: Iterable[Draft]) -> None:
        """Begin with the pins of a run that was vetoed: they stay also where their hook fails this time."""
        for draft in pins:
            for edit in draft.edits:
                self.apply(edit)
            self.add(draft)

    def hold(self, hook: str, pins: Mapping[tuple[str, str], Pinned]) -> None:
        """Put a hook's moving pins in the place of those that it said before."""
        known = self.projection.state.moving.get(hook, {})
        if pins or known:
            self._moving[hook] = pins
        if pins != known:
            if self.projection is self.before or self.projection is self._mark:
                self._show(self.projection.copy())
            self.projection.state.moving[hook] = dict(pins)

    def bound(self, *, record: bool = False) -> None:
        """Tell in the report which boundary this pass made, as things stand; with ``record`` also in the ledger."""
        draft = next((draft for draft in reversed(self.drafts) if draft.boundary), None)
        fold, report, view = self.projection.boundary, self.report, self.view
        if draft is None or fold is None:
            return
        stages = dict.fromkeys(one.stage for one in self.drafts if any(one.stage == s.name for s in self.plan.stages))
        report.boundary = Boundary(
            draft.stage,
            draft.trigger or report.trigger,
            round(report.tokens_before, 1),
            round(view.tokens, 1),
            sum(item.message is not None and not item.wire and item.role != "system" for item in view.projection.items),
            len(fold.pins),
            tuple(stages),
        )
        if record:
            note = Note(BOUNDARY, report.boundary.row(), fold.run[-1])
            self.apply(note)
            draft.edits.append(note)

    def _show(self, projection: Projection) -> None:
        self.projection = self._view.projection = projection

    def add(self, draft: Draft) -> None:
        """Keep a draft if it holds anything."""
        if draft.edits:
            self.drafts.append(draft)

    def mark(self) -> Callable[[], None]:
        """Remember this moment; the returned call goes back to it, keeping drafts that were added since."""
        projection, known = self.projection, len(self.drafts)
        held, boundary, target = self.context.held, self.boundary, self.target
        self._mark = projection

        def back() -> None:
            self.context.held, self.context.compacted, self.target = held, boundary, target
            self._show(projection)
            for draft in self.drafts[known:]:
                for edit in draft.edits:
                    self.apply(edit)
            for hook, pins in self._moving.items():
                self.hold(hook, pins)

        return back

    # ------------------------------------------------------------------ judging

    def take(self, gate: Opening, edit: Any, draft: Draft) -> Edit | None:
        """Judge one proposal; apply it and return it as recorded if it passes."""
        view = self.view
        try:
            checked = rules.check(view, edit)
            if not self.manual and self._restored(checked):
                raise Refused("was restored")
            place = rules.position(view, checked)
            if isinstance(checked, Insert) and self.boundary:
                place = None
            sent = place is not None and view.sent(place)
            if place is not None and sent:
                self._may_break(draft.stage, gate, place)
            self._opened = False
            strips = self.strips(checked)
        except Refused as refusal:
            self.report.refuse(draft.stage, str(refusal))
            return None
        if self._opened:
            self.report.warnings.append("thinking inside the open turn was removed: the window was full")
        raw = self.projection.raw
        for one in (strips, checked) if strips else (checked,):
            self.apply(one)
            draft.edits.append(one)
        draft.freed += view.context.meter.factor * (raw - self.projection.raw)
        if place is not None and sent:
            draft.free = False
            draft.breaks += 1
            draft.rewritten += self._rewritten(place)
        if isinstance(checked, Fold) and self.projection.boundary is checked:
            draft.boundary = self.context.compacted = True
            self.target = gate.target
        return checked

    def waits(self, gate: Opening, run: tuple[str, ...]) -> str:
        """Why a fold of a run would be refused now whatever its text; empty where it would not."""
        nodes = self.projection.conversation.nodes
        if not run or not all(id in nodes and self.view.on(id) for id in run):
            return ""
        fold = Fold(run, ".")
        try:
            place = rules.position(self.view, fold)
            if place is not None and self.view.sent(place):
                self._may_break("", gate, place)
            if place is not None:
                self._strip(self.view, place, fold)
        except Refused as refusal:
            return str(refusal)
        return ""

    def _may_break(self, stage: str, gate: Opening, place: int) -> None:
        if self.refuses(stage):
            raise Refused(f"vetoed by {self.vetoed}" if self.vetoed else "vetoed after the pass")
        if not gate.allows(place):
            owner = next((one for one in self.plan.stages if one.name == stage), None)
            raise Refused("waits" if owner is None or owner.options.when.words else "waits for ever: it has no `when`")

    def _restored(self, edit: Edit) -> bool:
        """Whether it would hide again what a user had brought back."""
        gone = hidden(edit)
        return bool(gone) and not self.view.restored.isdisjoint(id.partition(".")[0] for id in gone)

    def refuses(self, stage: str) -> bool:
        """Whether a hook vetoed what this stage would change of sent content."""
        return bool(self.vetoed) or self.banned is None or stage in self.banned

    def _rewritten(self, place: int) -> float:
        """Tokens that were cached behind ``place`` and no longer are; moves the frontier there."""
        if place >= self.context.held:
            return 0.0
        tokens = self.view.tokens_after(place) - self.view.tokens_after(self.context.held)
        self.context.held = place
        return tokens

    def unbinding(self) -> Param | None:
        """What has the provider leave out thinking that is bound to what changed, once it is needed; else None."""
        if not self.view.offers("drop_block") or "drop_block" in self.projection.state.params:
            return None
        return Param("drop_block", True, "thinking is bound to what was edited", self.projection.path[0].id)

    def strips(self, edit: Edit) -> Drop | Param | None:
        """What a checked edit takes with it (R23); raises `Refused` where it must wait for that."""
        place = rules.position(self.view, edit)
        return self._strip(self.view, place, edit) if place is not None else None

    def _strip(self, view: View, place: int, edit: Edit) -> Drop | Param | None:
        """What an edit at ``place`` takes with it on a prefix-bound model: the thinking behind it (R23).

        Nothing where the provider leaves that out by itself, or wrote the summary that takes the place.
        """
        if not self.plan.prefix_bound or self._follows(view, edit):
            return None
        if view.offers("drop_block"):
            return self.unbinding() if thinking(view, place) else None
        gone = set(targets(edit)) if isinstance(edit, (Drop, Fold)) else set()
        shown = {id for _, id in thinking(view, place)}
        behind = [
            (message.depth, block.id)  # also what a fold hides: a rewind or a restore would show it again
            for message in self.projection.path[place + 1 :]
            for block in message.blocks
            if block.type == "thinking" and block.id not in self.projection.state.faces
            if block.id not in gone and message.id not in gone
        ]
        if any(depth >= closed(view) and id in shown for depth, id in behind):
            if view.tokens < view.window.block and view.trigger != "overflow":
                raise Refused("waits: thinking of the open turn is bound to it")
            self._opened = True
        check_emptied(view, [id for _, id in behind])
        return Drop(tuple(id for _, id in behind), "bound to what was edited") if behind else None

    def _follows(self, view: View, edit: Edit) -> bool:
        """Whether what is behind a fold stays bound to it: the provider's own summary, and nothing in between."""
        if not isinstance(edit, Fold) or edit.block is None or edit.carried:
            return False
        path, last = view.projection.path, view.projection.conversation.nodes[edit.run[-1]]
        return last.depth + 1 < len(path) and path[last.depth + 1].role not in (last.role, "system")

    # ------------------------------------------------------------------ breakers

    def fail(self, name: str, error: BaseException) -> None:
        """Count a failing pass of a plugin; the third in a row opens its breaker. Raises where `strict` is set."""
        if self.plan.strict:
            raise error
        if not self._failed(name):
            self.plan.failures[name] += 1
        self.report.failures.append(f"{name}: {told(error)}")
        if self.plan.failures[name] >= FAILURES:
            self._break(name, f"{FAILURES} failing passes, last: {told(error)}")

    def _failed(self, name: str) -> bool:
        """Whether it failed in this pass, also in a run of it that was vetoed."""
        return any(failure.startswith(f"{name}: ") for failure in self.report.failures)

    def passed(self) -> None:
        """The pass is over: whoever took part in it and did not fail starts counting anew."""
        for name in self.worked:
            if not self._failed(name):
                self.plan.failures[name] = 0

    def rearm(self) -> None:
        """Shut all breakers again (R29), and try again what the provider refused."""
        self.plan.failures.clear()
        for key, said in list(self.projection.state.notes.items()):
            name, _, kind = key.removeprefix(KERNEL).rpartition(":")
            if said and key.startswith(KERNEL) and kind in ("boundaries", "breaker", REFUSED):
                self.write(name, kind, None, self.projection.path[0].id)

    def watch(self, draft: Draft) -> None:
        """Boundaries that follow each other too closely open the breaker of the stage that made the last."""
        name, fold = draft.stage, next(edit for edit in reversed(draft.edits) if isinstance(edit, Fold))
        last = [*(self.note(name, "boundaries") or ()), self.view.answers][-FAILURES:]
        self.write(name, "boundaries", last, fold.run[-1], draft)
        if len(last) == FAILURES and all(b - a <= FAILURES for a, b in pairwise(last)):
            self._break(name, f"{FAILURES} boundaries within {FAILURES} requests of each other")

    def _break(self, name: str, why: str) -> None:
        self.report.warnings.append(f"{name} is switched off for this session: {why}; compact() switches it on again")
        self.write(name, "breaker", why, self.projection.path[0].id)

    def works(self, name: str) -> bool:
        """Whether a plugin's breaker is shut; a manual pass runs it all the same."""
        return self.manual or not self.note(name, "breaker")

    def note(self, name: str, key: str) -> Any:
        """The kernel's own note about a plugin."""
        return self.projection.state.notes.get(f"{KERNEL}{name}:{key}")

    def write(self, name: str, key: str, data: Any, upto: str, draft: Draft | None = None) -> None:
        """Record a note of the kernel's own; as a part of ``draft`` where it holds only together with that."""
        note = Note(f"{KERNEL}{name}:{key}", data, upto)
        self.apply(note)
        if draft is None:
            self.drafts.append(Draft("kernel", [note]))
        else:
            draft.edits.append(note)
