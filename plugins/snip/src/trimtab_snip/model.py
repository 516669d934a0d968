"""Mode ``model``: the model names by their tags what may go; now and then it is reminded that it can."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trimtab import Drop, Insert, Note, ToolError
from trimtab.texts import clean, first

from trimtab_snip.options import SnipOptions
from trimtab_snip.reach import Reach, Stays
from trimtab_snip.words import accepted, refused, reminder, tags_of, when

if TYPE_CHECKING:
    from trimtab.view import View

__all__ = ["asked_for", "call", "remind"]

WANTED = "snip:wanted"
"""Note: the first message of each round or turn that the model wants to go, and why."""

REMINDED = "snip:reminded"
"""Note: the position on the path from which growth counts, and the boundary that was there then."""

REASON = 200
"""Characters of the model's reason that are kept."""

LARGEST = 5
"""Rounds that are named as worth to go."""

SHARE = 0.5
"""Of the effective window: below it nobody is reminded.

Of 44 recorded sessions 30 outgrow a quarter of a window of 200k tokens and 14 the half, but only six come near its end.
Reminders from the start are read in vain in two of three cases, from the half on in one of three, and then seven are
still to come before the window is full.
"""


def asked_for(view: View) -> Iterator[Drop]:
    """Drop what the model asked for, newest first: where a target ends the pass, least has been written anew."""
    asked: Mapping[str, str] = view.notes(WANTED) or {}
    if not asked:
        return
    reach = Reach(view)
    for message in reversed(reach.path):
        if message.id in asked and message.id in reach.shown:
            try:
                yield Drop(reach.whole(message), f"the model asked for it: {asked[message.id]}".removesuffix(": "))
            except Stays:
                continue


def remind(view: View, every: float) -> Iterator[Insert | Note]:
    """Say how big the context is and what could go, where it grew by ``every`` tokens."""
    last = view.notes(REMINDED) or {"position": 0, "boundary": ""}
    mark = _mark(view)
    if mark.data["boundary"] != last["boundary"]:
        yield mark
    elif view.tokens >= SHARE * view.window.effective and view.tokens_after(last["position"]) >= every:
        largest = Reach(view).largest(LARGEST, view.notes(WANTED) or {})
        if largest:
            before = view.tokens
            yield Insert("tail", reminder(view, largest), "reminder")
            if view.tokens > before:  # it was not refused
                yield mark


def _mark(view: View) -> Note:
    """Growth counts from here on."""
    path, boundary = view.projection.path, view.projection.boundary
    return Note(REMINDED, {"position": len(path), "boundary": boundary.run[-1] if boundary else ""})


def call(view: View, given: Mapping[str, Any], options: SnipOptions) -> Generator[Note, Any, str]:
    """Note what of the given tags may go; raises `ToolError` where nothing new may."""
    tags = tags_of(given.get("ids"))
    if not tags:
        raise ToolError('ids must be a list of tags, such as {"ids": ["1a2b3c"]}; they stand at the end of messages')
    reach = Reach(view)
    asked = {id: why for id, why in (view.notes(WANTED) or {}).items() if id in reach.shown}
    said = given.get("reason")
    why = first(clean(said).strip(), REASON) if isinstance(said, str) else ""
    new: dict[str, str] = {}
    going: set[str] = set()
    stays: dict[str, str] = {}
    for tag in tags:
        try:
            ids = reach.unit(reach.tagged(tag))
            if ids[0] in asked:
                raise Stays(f"it was asked for already and goes {when(view, options)}")
        except Stays as stay:
            stays[tag] = str(stay)
            continue
        new[ids[0]] = why
        going |= set(ids)
    asked |= new
    rest = refused(stays, view, reach.largest(LARGEST, asked)) if stays else ""
    if not new:
        raise ToolError(f"Nothing will go.\n{rest}")
    yield Note(WANTED, asked)
    yield _mark(view)
    told = accepted(len(tags) - len(stays), len(tags), reach.tokens(going), when(view, options))
    return f"{told}\n{rest}".rstrip()
