"""The four hooks. ``from trimtab import hookimpl`` marks an implementation."""

# mypy: disable-error-code="empty-body"
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import pluggy

from trimtab.edits import Guide, Insert, Pin, Warn

if TYPE_CHECKING:
    from trimtab.report import Report
    from trimtab.session import Session
    from trimtab.stage import Stage
    from trimtab.view import View

__all__ = ["Source", "Trigger", "hookimpl", "hookspec", "post_compact", "pre_compact", "session_start", "stage"]
Trigger = Literal["auto", "first_send", "manual", "overflow"]
Source = Literal["compact", "resume", "startup"]
hookspec, hookimpl = pluggy.HookspecMarker("trimtab"), pluggy.HookimplMarker("trimtab")


@hookspec
def stage() -> type[Stage]:
    """Return the class of a stage; called once, when the plugin is loaded.

    A function of the module that the entry point (group ``trimtab``) names. Whether and in what order the stage
    runs is for the profile to say.
    """


@hookspec
def pre_compact(view: View, trigger: Trigger) -> Iterable[Pin | Guide | Warn]:
    """Say what must stay; called before the first edit that a stage proposes is judged.

    Once a pass; again where what looked like free edits only turns out to change sent content, or after a veto.

    :param view: what would be sent if nothing were shortened.
    :param trigger: ``first_send`` (only unsent content is proposed for), ``auto``, ``manual`` or ``overflow``.

    Yield ``Pin(block or text, reason)`` for what stays verbatim, ``Guide(text)`` for whoever summarises, ``Warn(text)``
    for the report.
    Raise ``Veto(reason)`` to refuse every edit of sent content in this pass.
    """


@hookspec
def post_compact(before: View, after: View, report: Report) -> Iterable[Insert | Warn]:
    """Look at what a pass decided, before it is recorded; called again when a veto made the pass run again.

    :param before: the view with the new messages, nothing shortened in this pass.
    :param after: the view that will be sent.
    :param report: the decisions, each with stage, reason and tokens.

    Yield ``Insert(anchor, text)`` or ``Warn(text)``. Raise ``Veto(reason, stages=…)`` to discard the edits of sent
    content by these stages (by all, if none is named); the pass runs once more without them.
    """


@hookspec
def session_start(session: Session, source: Source, view: View) -> Iterable[Insert | Warn]:
    """Put back what the model should know; the same text from the same source is inserted once.

    :param session: the session that starts.
    :param source: ``startup``, ``resume`` (first pass, before the stages) or ``compact`` (behind a boundary).
    :param view: what will be sent as the pass stands.

    Yield ``Insert(anchor, text)`` or ``Warn(text)``.
    """
