"""`trimtab explain`: what a session shows otherwise than it was said, from its storage alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trimtab.cli.provider import Named
from trimtab.cli.stored import opened, unknown
from trimtab.cli.text import counted, printable

if TYPE_CHECKING:
    from trimtab.ledger import Ledger
    from trimtab.report import Boundary
    from trimtab.stores import BlobStore

__all__ = ["explain"]

MOST = 10
"""Originals of one edit up to which all are listed; of more only the full text, where there is one."""

QUOTED = 60
"""Characters of a text that are repeated."""


def explain(
    session: Annotated[
        str | None, typer.Argument(metavar="[SESSION]", help="A session's id; without one, all are listed.")
    ] = None,
    profile: Named = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, notes and full texts too.")] = False,
) -> None:
    """List what is sent otherwise than it was said: stage, reason, and way back.

    Reads the storage that the profile names, nothing else: neither the
    conversation nor the stages need to be there. Without SESSION: the ids of
    all sessions, the one written last first, with the number of decisions.
    """
    if session is None:
        _list(profile, as_json)
        return
    ledger = _ledger(session, profile)
    if as_json:
        boundaries = [asdict(boundary) for boundary in ledger.boundaries()]
        said = {"session": session, "boundaries": boundaries, "edits": ledger.explain()}
        typer.echo(json.dumps(said, indent=2))
        return
    for line in _lines(ledger):
        typer.echo(printable(line))


def _ledger(session: str, profile: str | None) -> Ledger:
    from trimtab.ledger import Ledger

    store, blobs, storage = opened(profile)
    ledger = Ledger(store, blobs, session)
    if not ledger.decisions:
        raise unknown(session, store.sessions(), storage.ledger)
    return ledger


def _list(profile: str | None, as_json: bool) -> None:
    """Print the id of every session, and how many decisions its rows are."""
    from trimtab.cli.text import columns

    store, _, storage = opened(profile)
    found = [(session, len(store.load(session))) for session in store.sessions()]
    if as_json:
        typer.echo(json.dumps([{"session": session, "decisions": number} for session, number in found], indent=2))
        return
    for line in columns([(printable(session), counted(number, "decision")) for session, number in found]):
        typer.echo(line)
    if not found:
        typer.echo(f"{storage.ledger}: no session yet", err=True)


def _lines(ledger: Ledger) -> Iterator[str]:
    """One paragraph per decision, a line or more per edit; notes change nothing that is shown, so they are left out."""
    edits = [edit for edit in ledger.explain() if edit["kind"] != "note"]
    decisions = {edit["decision"] for edit in edits}
    yield f"session {ledger.session}: {counted(len(decisions), 'decision')}, {counted(len(edits), 'edit')}"
    boundaries = {boundary.decision: boundary for boundary in ledger.boundaries()}
    for number, group in groupby(edits, key=lambda edit: edit["decision"]):
        same = list(group)
        yield ""
        yield _decision(same[0])
        if number in boundaries:
            yield f"  {_boundary(boundaries[number])}"
        for edit in same:
            yield f"  {_what(edit, ledger.blobs)}: {edit['why']}{' (undone since)' * edit['undone']}"
            for pin in edit["pins"]:
                yield f"    carries {_quoted(pin['shown']) or 'block ' + pin['block']}: {pin['why']}"
            ways = edit["way_back"]
            whole = len(ways) > MOST and ways[0].endswith(".txt")
            shown = ways[:1] if whole else ways
            yield from (f"    original: {_checked(path, ledger.blobs)}" for path in shown)
            if whole:
                yield f"    and its {counted(len(ways) - 1, 'message')} one by one (--json lists them)"


def _decision(edit: Mapping[str, Any]) -> str:
    time = datetime.fromtimestamp(edit["time"]).astimezone().isoformat(" ", "seconds")
    parts = [f"decision {edit['decision']}: {edit['stage']}", time, f"{edit['trigger']} pass"]
    if edit["freed"]:
        parts.append(f"{edit['freed']:,.0f} tokens freed")
    if not edit["free"]:
        parts.append("changed what had been sent")
    return ", ".join(parts)


def _boundary(made: Boundary) -> str:
    kept, pins = counted(made.kept, "message"), counted(made.pins, "pin")
    return f"boundary: {made.tokens_before:,.0f} → {made.tokens_after:,.0f} tokens, {kept} kept, {pins} carried"


def _what(edit: Mapping[str, Any], blobs: BlobStore) -> str:
    """What an edit did, in words and figures."""
    text, ids = edit["shown"], edit["targets"]
    match edit["kind"]:
        case "replace":
            said = _said(edit, blobs)
            return f"{f'{said:,}' if said else 'other content'} → {len(text):,} characters"
        case "drop":
            return f"{counted(len(ids), 'thinking block' if '.' in ids[0] else 'message')} left out"
        case "fold":
            return f"{counted(len(ids), 'message')} → {len(text):,} characters"
        case "insert":
            return f"inserted {_quoted(text)}"
        case "pin":
            return f"stays verbatim, {_quoted(text) or 'block ' + ids[0]}"
        case "repair":
            return "message repaired"
    return "earlier decisions undone"


def _quoted(text: str) -> str:
    return f"{text[:QUOTED]!r}{'…' * (len(text) > QUOTED)}" if text else ""


def _said(edit: Mapping[str, Any], blobs: BlobStore) -> int:
    """Characters of the text that was replaced; 0 if it had none, or is gone."""
    from trimtab.errors import TrimtabError

    key = next((key for path in edit["way_back"] if (key := blobs.owns(path)) and key.endswith(".txt")), None)
    try:
        return len(blobs.get(key).decode()) if key else 0
    except TrimtabError:
        return 0


def _checked(path: str, blobs: BlobStore) -> str:
    """The path, and what is wrong with what lies there."""
    from trimtab.errors import TrimtabError

    try:
        blobs.get(blobs.owns(path) or "")
    except TrimtabError as error:
        return f"{path} ({error.what})"
    return path
