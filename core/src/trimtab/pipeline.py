"""One pass: stages in the profile's order propose, pins and rules and `when` decide, hooks look at the result.

A pass is a generator that yields every `Ask` and is sent the answer, so that it never does I/O itself. It works on a
copy of the projection; whoever runs it records the drafts, or drops them all.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from trimtab import hooks
from trimtab.ask import Ask, checked
from trimtab.conversation import Message
from trimtab.dialect import Usage
from trimtab.draft import Draft, Plan, Work
from trimtab.edits import RESTORED, Drop, Edit, Repair, Replace, Restore, Tag, message_ids
from trimtab.errors import AskFailed, Overflow, TrimtabError
from trimtab.hookspecs import Source, Trigger
from trimtab.neighbours import Refused
from trimtab.projection import Projection
from trimtab.provider import price_of
from trimtab.report import Report
from trimtab.stage import Stage
from trimtab.thinking import check_emptied, thinking
from trimtab.view import Context, View
from trimtab.when import HORIZON, Opening, opening

__all__ = ["ASKED", "ASKS", "ATTEMPTS", "Pass", "answered"]

log = logging.getLogger("trimtab")

ASKED = "asked"
"""The kernel's note that a decision (its number in the place of a plugin's name) is to be undone in the next pass."""

ASKS = 100
"""Questions that a stage may ask in one pass, or after one answer: chosen."""

PATIENCE = 0.02
"""Of the effective window, what a view must have grown by before a stage that asked in vain may ask again: chosen."""

ENOUGH = 0.9
"""Of what the provider takes, the most that a recovery may leave: chosen, so that the answer has room."""

ROUNDS = 20
"""Recoveries of a request in one pass, each of which freed something: chosen."""

ATTEMPTS = "attempts"
"""The kernel's note of recoveries: the request (answers so far), and how many there were for it."""


class Pass:
    """One pass over a projection; after `run`, ``work`` holds what will be sent and what to record."""

    def __init__(
        self,
        plan: Plan,
        projection: Projection,
        context: Context,
        report: Report,
        trigger: Trigger,
        idle: float,
        overflow: Overflow | None,
        render: Callable[[Projection], Any],
        *,
        unbind: bool = False,
    ) -> None:
        self.plan = plan
        self.trigger: Trigger = trigger
        self.idle = idle
        self.report = report
        self.overflow = overflow
        """What was refused: then the pass only recovers."""
        self.unbind = unbind
        """Whether the provider refused thinking as bound to another conversation."""
        self.render = render
        """The request as a projection shows it."""
        context.trigger, context.advise, context.native = trigger, self._pins, {}
        self.manual = trigger == "manual"
        self.work = Work(plan, projection, context, report, manual=self.manual)
        self._pinned: set[Trigger] = set()
        self._asked: set[str] = set()
        """Stages that asked something in this pass: what they ask next is the same question in other words."""
        self._weighing = False

    def repair(self, repairs: Iterable[Repair], messages: Iterable[Message]) -> None:
        """Record the dialect's repairs of ``messages``, exempt from the rules; one no longer needed is taken back."""
        known = self.work.projection.state.repairs
        needed = {edit.message: edit for edit in repairs}
        for message in messages:
            if message.id in known and message.id not in needed:
                said = tuple(block.wire for block in message.blocks)
                needed[message.id] = Repair(message.id, said, "no longer needed")
        draft = Draft("repair", [edit for edit in needed.values() if known.get(edit.message) != edit])
        for edit in draft.edits:
            self.work.apply(edit)
        self.work.add(draft)
        self.report.repairs = len(draft.edits)

    def run(self, source: Source | None) -> Generator[Ask, Any, None]:
        """The order of a pass; raises `Veto` where a post_compact hook does."""
        if self.work.manual:
            self.work.rearm()
        if source is not None:
            hooks.start(self.work, source)
        self._tag()
        self._restore()
        self._evicted()
        if self.unbind:
            self._unbind()
        if self.overflow is None:
            yield from self._stages()
            view = self.work.view
            fixed = view.tokens - view.tokens_after(0)  # system, tools and what is not seen: no edit changes that
            if view.tokens >= view.window.block > fixed:
                yield from self._recover(Overflow(view.tokens, view.window.block, estimated=True))
        else:
            yield from self._recover(self.overflow)
        self._evicted()
        if self.work.boundary:
            hooks.start(self.work, "compact")
        self.work.bound()
        if self.work.drafts:
            hooks.judge(self.work)
        self.work.bound(record=True)
        self.work.passed()

    def _stages(self) -> Generator[Ask, Any, None]:
        waited: list[tuple[Stage, int]] = []
        for stage in self.plan.stages:
            held = self.work.context.held
            if (yield from self._look(stage)):
                waited.append((stage, held))
        weighed = yield from self._weigh()
        for stage, held in waited:
            if self.work.context.held < held and stage not in weighed:
                yield from self._look(stage, again=self.work.context.held)

    def _recover(self, overflow: Overflow) -> Generator[Ask, Any, None]:
        """Each stage's `recover` in the profile's order, until the view is small enough (R16).

        Once more where that freed something, and what is left would still be refused.
        """
        work, view = self.work, self.work.view
        request, before = work.note("recovery", ATTEMPTS) or (None, 0)
        first = before if request == view.answers else 0
        self.trigger = work.context.trigger = "overflow"
        able = [stage for stage in self.plan.stages if type(stage).recover is not Stage.recover]
        for attempt in range(first, first + ROUNDS):
            raw = work.projection.raw
            if not (yield from self._recovered(replace(overflow, attempt=attempt), able)):
                return
            work.write("recovery", ATTEMPTS, [view.answers, attempt + 1], work.projection.path[-1].id)
            if overflow.bytes or view.tokens < overflow.limit or work.projection.raw >= raw:
                return

    def _recovered(self, overflow: Overflow, able: list[Stage]) -> Generator[Ask, Any, bool]:
        """One round of that, after which those that failed or did nothing are no longer ``able``; whether any ran."""
        work, view, ran = self.work, self.work.view, False
        for stage in list(able):
            wanted = stage.options.target
            target = view.window.tokens(wanted) if wanted is not None else float(view.window.auto)
            target = min(target, ENOUGH * overflow.limit, view.tokens / 2 if overflow.bytes else target)
            if work.works(stage.name) and (overflow.bytes or view.tokens > target):
                one, ran = replace(overflow, target=target), True
                gate = Opening(everything=True, target=None if overflow.bytes else target)
                made = yield from self._propose(stage, gate, partial(stage.recover, view, one), recovers=True)
                if not made.edits:
                    able.remove(stage)
        return ran

    def _tag(self) -> None:
        """Tag messages from the first that was not sent, where a stage wants it and the model has its tool (R13)."""
        work, view = self.work, self.work.view
        if view.stage_tools and not work.projection.state.tags and any(map(self._tags, self.plan.stages)):
            path = work.projection.path
            unsent = (one for one in path if not view.sent(one.depth))
            # One that a request of another branch held has a child that is not on this path: it went out untagged.
            fresh = next((one for one in unsent if len(one.children) == (one is not path[-1])), None)
            if fresh is not None:
                draft = Draft("kernel", [Tag(fresh.id)])
                work.apply(draft.edits[0])
                work.add(draft)

    def _tags(self, stage: Stage) -> bool:
        try:
            return self.work.works(stage.name) and stage.tags()
        except hooks.BROKEN as error:
            self.work.fail(stage.name, error)
            return False

    def _evicted(self) -> None:
        """Show the placeholder of what was evicted where the cache no longer holds it, or is no longer edited (R14)."""
        work, draft = self.work, Draft("evict")
        for id, evict in list(work.projection.state.evicts.items()):
            depth = work.projection.conversation.nodes[id.partition(".")[0]].depth
            if depth >= work.context.held or not work.view.offers("cache_edits"):
                work.take(Opening(everything=True), Replace(id, evict.text, "no longer in the cache"), draft)
        work.add(draft)

    def _unbind(self) -> None:
        """Have the provider leave out what it refuses of thinking; else all of it goes, for it cannot tell which."""
        work, draft = self.work, Draft("kernel", free=False, breaks=1)
        edit: Edit | None = work.unbinding()
        if edit is None:
            ids = tuple(id for _, id in thinking(work.view, -1))
            try:
                check_emptied(work.view, ids)
            except Refused:
                return
            edit = Drop(ids, "the provider refused it") if ids else None
        if edit is not None:
            work.apply(edit)
            draft.edits.append(edit)
            work.add(draft)

    def _restore(self) -> None:
        """Carry out what `Session.restore` asked for, as an edit like any other; what is refused stays asked for."""
        for seq in {seq for seq, _ in self.work.projection.rows if seq and self.work.note(str(seq), ASKED)}:
            draft = Draft("restore")
            if self.work.take(Opening(everything=True), Restore((seq,), "asked for"), draft):
                self.work.add(draft)
                for key, done in ((ASKED, None), (RESTORED, True)):
                    self.work.write(str(seq), key, done, self.work.projection.path[0].id, draft)

    def _look(self, stage: Stage, again: int | None = None) -> Generator[Ask, Any, bool]:
        """One look of one stage; True if it would look again behind a break that others make (R4)."""
        options, work = stage.options, self.work
        if not self.plan.runs(stage, self.work.works):
            return False
        gate = Opening(behind=again)
        if again is None and type(stage).free is not Stage.free:
            yield from self._propose(stage, Opening(), partial(stage.free, work.view))
        if again is None:
            gate = opening(options, work.view, self.idle, manual=self.manual)
        waits = any(condition.word == "cold" for condition in options.when.words) and not gate.everything
        if gate.closed and options.when.words:
            return waits
        yield from self._propose(stage, gate)
        return waits

    def _weigh(self) -> Generator[Ask, Any, list[Stage]]:
        """The stages that went through because what all that wait for `pays` would free together pays (R1).

        What is saved is read that often less; what it costs is written anew instead of read.
        """
        work, price = self.work, self.plan.price
        stages = [
            stage
            for stage in self.plan.stages
            if any(condition.word == "pays" for condition in stage.options.when.words)
            and self.plan.runs(stage, self.work.works)
            and not opening(stage.options, work.view, self.idle, manual=self.manual).everything
        ]
        here = work.projection.path[0].id
        no, again = self.plan.weighed.get(here, (0.0, 0.0))
        if not stages or price.cache_read <= 0 or no <= work.view.tokens < again:
            return []
        held, raw, known = work.context.held, work.projection.raw, len(work.drafts)
        back = work.mark()
        self._weighing = True
        tried = []
        for stage in stages:
            tried.append((yield from self._propose(stage, Opening(everything=True))))
        self._weighing = False
        saved = work.context.meter.factor * (raw - work.projection.raw)
        written = work.view.tokens_after(work.context.held) - work.view.tokens_after(held)
        gain, loss = price.cache_read * HORIZON, price.cache_write - price.cache_read
        if saved > 0 and saved * gain >= written * loss:
            for draft in (one for one in tried if one.boundary):
                work.watch(draft)
            return stages
        work.drafts[known:] = [draft for draft in work.drafts[known:] if not any(draft is one for one in tried)]
        back()
        # Each token that is freed and not written again brings a yes nearer by both; about as many age as come.
        lacking = (written * loss - saved * gain) / (gain + loss)
        tokens, least = work.view.tokens, min(stage.options.at_least for stage in stages)
        self.plan.weighed[here] = tokens, tokens + max(lacking, least)
        for name in dict.fromkeys(stage.name for stage in stages):
            self.report.refuse(name, "does not pay")
        return []

    def _propose(
        self, stage: Stage, gate: Opening, call: Callable[[], Iterable[Any]] | None = None, *, recovers: bool = False
    ) -> Generator[Ask, Any, Draft]:
        """All or nothing of one stage: a failing one, or a batch that is too small, goes back to before.

        ``call`` is what to run instead of `propose`. One that ``recovers`` has no batch that is too small, and no
        boundary too many.
        """
        work, draft = self.work, Draft(stage.name, trigger="overflow" if recovers else "")
        free: list[Edit] = []
        back = work.mark()
        try:
            with self.report.timed("stage", stage.name):
                yield from self._drive(stage, call or (lambda: stage.propose(work.view)), gate, draft, free)
        except hooks.BROKEN as error:
            back()
            if not isinstance(error, AskFailed) or error.asked:
                work.fail(stage.name, error)
            return Draft(stage.name)
        work.worked.add(stage.name)
        if not recovers and not draft.free and 0 < stage.options.at_least > draft.freed:
            self.report.refuse(stage.name, "fewer tokens than at_least")
            back()
            draft = Draft(stage.name)
            for edit in free:
                work.take(Opening(), edit, draft)
        work.add(draft)
        if draft.boundary and not self._weighing and not recovers:
            work.watch(draft)
        return draft

    def _drive(
        self, stage: Stage, call: Callable[[], Iterable[Any]], gate: Opening, draft: Draft, free: list[Edit]
    ) -> Generator[Ask, Any, None]:
        """Run the generator: edits are judged one by one, an Ask goes out, `over` ends at its target (R5)."""
        proposals = call()
        if not isinstance(proposals, Generator):
            proposals = (edit for edit in proposals)
        answer: Any = None
        asked = 0
        try:
            for _ in hooks.bounded(iter(int, 1), self.work.projection):
                try:
                    edit = proposals.throw(answer) if isinstance(answer, AskFailed) else proposals.send(answer)
                except StopIteration:
                    return
                answer = None
                if isinstance(edit, Ask) and self._weighing:
                    self.report.refuse(stage.name, "an Ask behind `pays`")
                    return
                if isinstance(edit, Ask):
                    asked += 1
                    if asked > ASKS:
                        raise TrimtabError(f"asks more than {ASKS} questions")
                    answer = yield from self._ask(stage, edit, gate)
                    continue
                self._pins()
                breaks = draft.breaks
                if (taken := self.work.take(gate, edit, draft)) and draft.breaks == breaks:
                    free.append(taken)
                if gate.target is not None and self.work.view.tokens <= gate.target:
                    return
        finally:
            proposals.close()

    def settled(self) -> None:
        """The pass is recorded: of a stage that decided something, no question was in vain."""
        for name in {draft.stage for draft in self.work.drafts if draft.freed > 0}:
            self.plan.vain.pop((name, self.work.projection.path[0].id), None)

    def _ask(self, stage: Stage, ask: Ask, gate: Opening) -> Generator[Ask, Any, Any]:
        """The checked answer, or the `AskFailed` to throw into the stage.

        Nobody is asked for what would be refused anyway: it is vetoed, or it waits.
        """
        self._pins()
        work, view = self.work, self.work.view
        if work.refuses(stage.name) and (stage.options.when.words or self.trigger == "overflow"):
            return _unasked("a hook vetoed what the answer is for")
        if why := work.waits(gate, message_ids(ask.covers)):
            self.report.refuse(stage.name, why)
            return _unasked(f"what it is for {why}")
        key, grown = (stage.name, work.projection.path[0].id), PATIENCE * view.window.effective
        vain = self.plan.vain.get(key, -grown) if stage.name not in self._asked else -grown
        self._asked.add(stage.name)
        if gate.target is not None and self.overflow is None and vain <= view.tokens < vain + grown:
            return _unasked("it was in vain, and little came since")
        if view.asks and gate.target is not None:
            self.plan.vain[key] = view.tokens  # until it turns out not to be
        try:
            ask = replace(ask, request=self._request(ask))
            with self.report.timed("ask", ask.purpose):
                answer = yield from answered(ask, view)
            if ask.native and getattr(answer, "block", None) is not None:
                view.context.native[message_ids(ask.covers)] = answer.block  # type: ignore[attr-defined]
            return answer
        except AskFailed as error:
            if view.asks:
                self.report.warnings.append(f"{stage.name}: no answer: {error}")
                log.warning("stage %s got no answer: %s", stage.name, type(error.__cause__ or error).__name__)
            refusal = view.projection.dialect.refusal(error.__cause__) if ask.native and error.__cause__ else None
            if refusal is not None and refusal.kind == "feature":  # not in this process again
                view.context.features -= {"compaction"}
            return error

    def _request(self, ask: Ask) -> Any:
        """The request as it stands; where the provider shall summarise, up to the end of what it covers."""
        request, covered = self.render(self.work.projection), set(message_ids(ask.covers))
        if not ask.native:
            return request
        ends = (n for n, item in enumerate(self.work.projection.items, 1) if not covered.isdisjoint(item.covers))
        return replace(request, messages=request.messages[: max(ends, default=0)])

    def _pins(self) -> None:
        """Ask the pin hooks once, and anew if what looked like free edits only turns out to break (R10)."""
        trigger = self.trigger
        if trigger == "auto" and "auto" not in self._pinned:
            gates = (opening(stage.options, self.work.view, self.idle, manual=False) for stage in self.plan.stages)
            trigger = "auto" if self._weighing or any(not gate.closed for gate in gates) else "first_send"
        if trigger not in self._pinned and "auto" not in self._pinned:
            self._pinned.add(trigger)
            hooks.pins(self.work, trigger)


def _count(answer: Any, ask: Ask, view: View) -> None:
    """Add what a question took to what the session spent, where the asker tells it."""
    said = getattr(answer, "usage", None)
    usage = said if isinstance(said, Usage) or said is None else view.projection.dialect.usage(said)
    if usage is not None:
        view.context.savings.asked(usage, price_of(usage.model or ask.model))


def _unasked(why: str) -> AskFailed:
    failed = AskFailed(f"not asked: {why}")
    failed.asked = False
    return failed


def answered(ask: Ask, view: View) -> Generator[Ask, Any, str]:
    """Ask, and check the answer; raises `AskFailed`, which tells where the question was too long."""
    projection, context = view.projection, view.context
    covered = {id.partition(".")[0] for id in message_ids(ask.covers)}
    room = sum(item.tokens for item in projection.items if not covered.isdisjoint(item.covers))
    ask = replace(ask, model=ask.model or context.ask_model, timeout=ask.timeout or context.ask_timeout)
    try:
        answer = yield ask
        _count(answer, ask, view)
        return checked(ask, answer, room, projection.conversation.count)
    except AskFailed as error:
        _count(error, ask, view)
        refusal = projection.dialect.refusal(error.__cause__) if error.__cause__ is not None else None
        if refusal is not None and refusal.kind == "tokens":
            error.overflow = Overflow(refusal.tokens, refusal.limit)
        raise
