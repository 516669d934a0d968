"""Calling hooks inside a pass: what they yield is checked like any edit, what they break is only their own."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

from trimtab import rules
from trimtab.draft import Draft, Work
from trimtab.edits import Guide, Insert, Pin, Warn
from trimtab.errors import TrimtabError, Veto, plain
from trimtab.hookspecs import Source, Trigger
from trimtab.neighbours import NoRoom, Refused
from trimtab.pinning import pin
from trimtab.projection import Pinned, Projection
from trimtab.view import View

__all__ = ["BROKEN", "VETO", "bounded", "judge", "pins", "start"]

VETO = "a hook vetoed: "
"""How a warning of a veto begins."""

QUOTED = 60
"""Characters of a text that a warning repeats."""

ENDLESS = 10_000
"""Things that a plugin may yield in one call whatever the size of the conversation."""

BROKEN = (Exception, SystemExit)
"""What a plugin may raise at the cost of its own effect only; an interrupt by the user is not its own."""


def bounded(call: Iterable[Any], projection: Projection) -> Iterator[Any]:
    """What a plugin yields; raises `TrimtabError` where it does not end: at several things for each block there is."""
    most = ENDLESS
    for count, said in enumerate(call):
        if count >= most:
            most = ENDLESS + 4 * sum(len(message.blocks) for message in projection.path)
            if count >= most:
                raise TrimtabError(f"yields more than {most} things")
        yield said


def _called(work: Work, hook: str, **arguments: Any) -> Iterator[tuple[str, list[Any]]]:
    """What each plugin yields, in the profile's order; one that fails costs only its own effect."""
    for id, call in work.plan.hooks(hook, **arguments):
        name = named(id)
        if not work.works(name):
            continue
        yielded: list[Any] = []
        try:
            with work.report.timed("hook", f"{name}.{hook}"):
                yielded.extend(bounded(call, work.projection))
        except Veto as veto:
            try:
                for said in yielded:  # of a hook that refuses, only what it says to the user counts
                    if isinstance(said, Warn):
                        _warn(work, name, said)
                reason, stages = f"{name}: {plain(veto.reason)}", tuple(map(plain, veto.stages))
            except BROKEN as error:  # a veto of a plugin's own making
                work.fail(name, error)
                continue
            if hook == "post_compact":
                raise Veto(reason, stages) from None
            if hook == "pre_compact":
                work.vetoed = reason
                work.report.warnings.append(f"{VETO}{reason}")
            else:
                work.fail(name, veto)
            continue
        except BROKEN as error:
            work.fail(name, error)
            continue
        work.worked.add(name)
        yield id, yielded


def named(id: str) -> str:
    """The name of a hook; its id tells two entries of one profile apart."""
    return id.partition("#")[0]


def pins(work: Work, trigger: Trigger) -> None:
    """Ask what must stay, before the first proposal of a pass is judged; a Guide is kept for who summarises.

    The moving pins of a hook that fails stay as they are.
    """
    for id, yielded in _called(work, "pre_compact", view=View(work.before, work.context), trigger=trigger):
        name, moving = named(id), dict[tuple[str, str], Pinned]()
        draft = Draft(name)
        for said in yielded:
            try:
                if isinstance(said, Guide):
                    work.context.guides.append(plain(said.text))
                elif isinstance(said, Warn):
                    _warn(work, name, said)
                elif not isinstance(said, Pin):
                    raise Refused(f"pre_compact may not yield {type(said).__name__}")
                elif (edit := pin(work.view, said)) is None:
                    continue
                elif edit.moving:
                    moving[edit.key] = Pinned(edit.block, edit.text, edit.reason, moving=True)
                else:
                    work.apply(edit)
                    draft.edits.append(edit)
            except Refused as refusal:
                work.report.refuse(name, str(refusal))
            except BROKEN as error:  # what it yielded raised when it was looked at
                work.fail(name, error)
        work.add(draft)
        work.hold(id, moving)


def _warn(work: Work, name: str, said: Warn) -> None:
    """Put a hook's words into the report, once."""
    warning = f"{name}: {plain(said.text)}"
    if warning not in work.report.warnings:
        work.report.warnings.append(warning)


def start(work: Work, source: Source) -> None:
    """Inserts of session_start: once by source and text (R15)."""
    for id, yielded in _called(work, "session_start", source=source, view=work.view):
        _inserts(work, named(id), yielded, f"session_start:{source}")


def judge(work: Work) -> None:
    """post_compact sees what was decided; may insert, or raises `Veto`."""
    work.report.decisions = [draft.outcome() for draft in work.drafts]
    before, report = View(work.before, work.context), copy.deepcopy(work.report)
    for id, yielded in _called(work, "post_compact", before=before, after=work.view, report=report):
        _inserts(work, named(id), yielded, "post_compact")


def _inserts(work: Work, name: str, yielded: Iterable[Any], reason: str) -> None:
    draft = Draft(name)
    for said in yielded:
        try:
            if isinstance(said, Warn):
                _warn(work, name, said)
                continue
            if not isinstance(said, Insert):
                raise Refused(f"may not yield {type(said).__name__}")
            edit = rules.check(work.view, Insert(said.anchor, said.text, reason))
            if isinstance(edit, Insert):
                _room(work, edit)
            strips = work.strips(edit)  # what follows the provider's own summary is bound to that alone
        except Refused as refusal:
            work.report.refuse(name, str(refusal))
            if isinstance(refusal, NoRoom):
                _warn(work, name, Warn(f"not inserted, {refusal}: {plain(said.text)[:QUOTED]!r}"))
            continue
        except BROKEN as error:
            work.fail(name, error)
            continue
        for one in (strips, edit) if strips else (edit,):
            work.apply(one)
            draft.edits.append(one)
    work.add(draft)


def _room(work: Work, edit: Insert) -> None:
    """Once by source and text; behind a boundary of this pass only, and below its target (R7, R15)."""
    behind = edit.anchor == "after_boundary"
    for key, texts in work.projection.state.inserts.items():
        if (edit.text, edit.reason) in texts and (not behind or key == edit.key):
            raise Refused("already inserted")
    if behind:
        if not work.boundary:
            raise Refused("no boundary in this pass")
        view = work.view
        tokens = view.tokens + view.context.meter.factor * work.projection.conversation.count(edit.text)
        if tokens > (work.target or view.window.auto):
            raise NoRoom("no room behind the boundary")
