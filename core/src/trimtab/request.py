"""The request that goes out, and what is said where it cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trimtab.conversation import Location, Message
from trimtab.dialect import Dialect
from trimtab.errors import ContextOverflow, TrimtabError
from trimtab.hooks import VETO
from trimtab.projection import Item
from trimtab.report import Report
from trimtab.view import View

__all__ = ["Request", "full", "rendered", "witness"]


@dataclass(slots=True)
class Request:
    """What to send. Untouched messages are the very objects that were handed in."""

    messages: list[Any]
    system: Any
    tools: Any
    extra: dict[str, Any] = field(default_factory=dict)
    """Further arguments of the request, as the provider's client takes them."""
    report: Report = field(default_factory=Report)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What else the caller's request says, as he told it: for whoever asks something over the same prefix."""
    said: Sequence[Message] = field(default=(), repr=False, compare=False)
    """The messages as they were said; none where what was handed in goes out unread."""
    given: Any = field(default=None, compare=False, repr=False)
    """The kernel's: what it was prepared from."""


def rendered(
    view: View,
    location: Location,
    system: Any,
    tools: Any,
    features: Mapping[str, Any],
    parameters: Mapping[str, Any],
) -> Request:
    """The view as a request; ``features`` are those that the profile switches on, with what it says of them."""
    work, dialect = view.projection, view.projection.dialect
    if work.straight and location.straight:
        messages = list(location.handed)
        for index, item in work.wired.items():
            messages[index] = _shown(dialect, item, location)
    else:
        messages = [_shown(dialect, item, location) for item in work.items]
    inserts = [text for text, _ in work.state.inserts.get("system", ())]
    boundary = work.boundary
    asked = {name: settings for name, settings in work.state.params.items() if view.offers(name)}
    if boundary is not None and work.native(boundary):
        asked["compaction"] = True
    if view.offers("cache_edits"):
        asked["cache_edits"] = features["cache_edits"]
        messages = dialect.evicting(messages, work.deletions())
    elif "cache_edits" in features:  # it was refused; our own output may come back
        messages = [dialect.without_edits(message) for message in messages]
    extra = dialect.extra(asked) if asked else {}
    return Request(messages, dialect.system(system, inserts), tools, extra, parameters=parameters)


def _shown(dialect: Dialect, item: Item, location: Location) -> Any:
    """One message as it goes out: the object handed in, or a copy that the caller may change."""
    at = item.end - 1 if item.covers else -1
    handed = location.handed[at] if item.message is not None else None
    if item.wire is None and handed is not None:
        return handed
    wire = item.wire if item.message is None or item.wire is not None else item.message.wire
    assert wire is not None
    return dialect.marked(wire, location.rendered.get(at, handed))


def witness(dialect: Dialect, messages: Sequence[Any]) -> None:
    """Raise `TrimtabError` where the provider would surely refuse these messages."""
    for violation in dialect.validate([dialect.plain(message) for message in messages]):
        if violation.certain:
            raise TrimtabError(f"the request would be invalid: {violation.what}", where=violation.where)


def full(view: View, report: Report, what: str) -> ContextOverflow:
    """``what`` is too large, what fills it, and what to do."""
    factor = view.context.meter.factor
    biggest = sorted(view.messages, key=lambda item: -item.tokens)[:3]
    parts = [f"{item.role} message {item.id[:8]}: {factor * item.tokens:,.0f}" for item in biggest]
    parts.append(f"system, tools and what is not seen: {factor * report.weights[0]:,.0f}")
    if view.pins:
        pinned = sum(view.count(pin.text or view.projection.block(pin.block).text) for pin in view.pins)
        parts.append(f"{len(view.pins)} pins: {pinned:,.0f}")
    parts += dict.fromkeys(warning for warning in report.warnings if warning.startswith(VETO))
    parts += report.failures
    advice = "let stages shorten more (`when`, `target`)"
    if factor * report.weights[0] > report.tokens_after / 2:
        advice = "shorten the system text or offer fewer tools"
    error = ContextOverflow(f"{what} ({'; '.join(parts)}); {advice}, use a larger window, or start anew")
    error.report = report
    return error
