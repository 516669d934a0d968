"""`trimtab sessions list|show|export|delete`: what is stored of each session."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trimtab.cli.output import STD, write_json
from trimtab.cli.provider import Named
from trimtab.cli.text import columns, counted, printable

if TYPE_CHECKING:
    from trimtab.ledger import Ledger
    from trimtab.storage.gc import Holding
    from trimtab.stores import BlobStore, LedgerStore

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="List, show, export or delete what is stored of sessions. An id is given whole: one may begin like another.",
)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="A session's id.")]


@app.command("list")
def list_(profile: Named = None, as_json: AsJson = False) -> None:
    """List the sessions, the one written last first: when, decisions, tokens freed, bytes of originals.

    An original that several sessions share counts with each of them. The
    figures of decisions that a newer trimtab wrote, or damaged ones, are
    unknown.
    """
    from trimtab.cli.stored import bar, opened
    from trimtab.storage.gc import holdings

    store, blobs, storage = opened(profile)
    sizes = _sizes(blobs)
    with bar() as progress:
        rows = [_row(one, store, sizes) for one in holdings(store, progress)]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    if not rows:
        typer.echo(f"{storage.ledger}: no session yet", err=True)
        return
    cells = [
        (
            printable(row["session"]),
            _when(row["last_used"]),
            f"{row['decisions']:,}",
            "?" if row["tokens_freed"] is None else f"{row['tokens_freed']:,.0f}",
            f"{row['original_bytes']:,}",
        )
        for row in rows
    ]
    for line in columns([("SESSION", "LAST USED", "DECISIONS", "TOKENS FREED", "ORIGINALS (BYTES)"), *cells]):
        typer.echo(line)


@app.command()
def show(session: Id, profile: Named = None, as_json: AsJson = False) -> None:
    """Say what the ledger knows of one session; `trimtab explain` lists its edits."""
    from trimtab.cli.stored import opened
    from trimtab.ledger import Ledger
    from trimtab.storage.gc import holdings

    store, blobs, storage = opened(profile)
    _known([session], store, storage.ledger)
    (one,) = (one for one in holdings(store) if one.session == session)
    said = _shown(Ledger(store, blobs, session), one, _sizes(blobs))
    if as_json:
        typer.echo(json.dumps(said, indent=2))
        return
    last = f"last used {_when(said['last_used'])}"
    typer.echo(f"session {printable(session)}: {counted(said['decisions'], 'decision')}, {last}")
    stages = [
        (printable(name), f"{stage['decisions']:,}", f"{stage['edits']:,}", f"{stage['tokens_freed']:,.0f}")
        for name, stage in said["stages"].items()
    ]
    for line in columns([("STAGE", "DECISIONS", "EDITS", "TOKENS FREED"), *stages]):
        typer.echo(f"  {line}")
    typer.echo(f"boundaries: {said['boundaries']:,}, pins: {said['pins']:,}, notes: {said['notes']:,}")
    for name, why in said["breakers"].items():
        typer.echo(f"breaker open: {printable(name)}: {printable(why)}")
    stored = f"{counted(said['originals'], 'original')} of {counted(said['original_bytes'], 'byte')}"
    typer.echo(f"stored: decisions of {counted(said['bytes'], 'byte')}, {stored}")


@app.command()
def export(
    session: Id,
    profile: Named = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is stdout.")
    ] = None,
) -> None:
    """Write all that is stored of one session as one JSON document.

    {"session", "decisions": the ledger's rows in order, "originals": {key:
    a text, or {"parent": its id, "message": as it was said}}}. A decision's
    "originals" tells which key belongs to which message or block.

    It does not hold the conversation: messages that no edit hid are with the
    agent only. An original that is lost or damaged is null, is said on stderr,
    and makes the exit code 1.
    """
    from trimtab.cli.stored import opened
    from trimtab.errors import TrimtabError
    from trimtab.ledger import Ledger

    store, blobs, storage = opened(profile)
    _known([session], store, storage.ledger)
    decisions = Ledger(store, blobs, session).decisions
    keys = dict.fromkeys(key for decision in decisions for key in decision.originals.values())
    originals: dict[str, Any] = {}
    lost = 0
    for key in keys:
        try:
            text = blobs.get(key).decode()
            originals[key] = json.loads(text) if key.endswith(".json") else text
        except TrimtabError as error:
            originals[key], lost = None, lost + 1
            typer.echo(str(error), err=True)
    rows = [json.loads(decision.to_json()) for decision in decisions]
    write_json({"session": session, "decisions": rows, "originals": originals}, output, STD)
    if lost:
        raise typer.Exit(1)


@app.command()
def delete(
    sessions: Annotated[list[str], typer.Argument(metavar="ID...", help="Sessions' ids.")],
    profile: Named = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove sessions with their decisions and the originals that no other session points to.

    A conversation that goes on afterwards is sent in full again; a session
    that is open meanwhile decides nothing more. Originals stored in the last
    five minutes stay, because another session may be about to point to them;
    `trimtab gc` removes them a day later.
    """
    from trimtab.cli.gc import complain, summary
    from trimtab.cli.stored import bar, opened
    from trimtab.errors import TrimtabError
    from trimtab.storage.gc import forget

    store, blobs, storage = opened(profile)
    _known(sessions, store, storage.ledger)
    if not yes:
        if not _terminal():
            raise TrimtabError("nobody can be asked whether to delete (stdin is no terminal); say --yes")
        names = ", ".join(printable(session) for session in sessions)
        typer.confirm(f"Delete {names} for ever?", abort=True, err=True)
    try:
        with bar() as progress:
            swept = forget(store, blobs, sessions, progress=progress)
    finally:
        store.close()
    missed = sorted({*sessions} - {*swept.gone})
    if as_json:
        said = {"removed": swept.as_dict()["removed"], "gone": swept.gone, "young": swept.young, "failed": swept.failed}
        typer.echo(json.dumps(said, indent=2))
    else:
        typer.echo(summary(swept)[0])
    if swept.young:
        typer.echo(f"{counted(swept.young, 'original')} stored in the last five minutes stay for now", err=True)
    for session in missed:
        typer.echo(f"{printable(session)}: used just now, so it was kept; close it and try again", err=True)
    complain(swept)
    if missed:
        raise typer.Exit(1)


def _terminal() -> bool:
    return sys.stdin.isatty()


def _known(sessions: Sequence[str], store: LedgerStore, where: str) -> None:
    """Raise `Unknown` for the first session that is not stored."""
    from trimtab.cli.stored import unknown

    stored = store.sessions()
    for session in sessions:
        if session not in stored:
            raise unknown(session, stored, where)


def _sizes(blobs: BlobStore) -> Counter[str]:
    """Bytes by the hash in the keys."""
    sizes: Counter[str] = Counter()
    for entry in blobs.entries():
        sizes[entry.key.partition(".")[0]] += entry.size
    return sizes


def _row(one: Holding, store: LedgerStore, sizes: Counter[str]) -> dict[str, Any]:
    """One session of the list."""
    from trimtab.errors import StorageError
    from trimtab.ledger import Decision

    try:
        decisions = [Decision.from_json(row, n) for n, row in enumerate(store.load(one.session), 1)]
        freed = sum(decision.freed for decision in decisions)
    except StorageError:
        freed = None
    return {
        "session": one.session,
        "last_used": _epoch(one),
        "decisions": one.rows,
        "tokens_freed": freed,
        "original_bytes": sum(sizes[pointer] for pointer in one.pointers),
    }


def _shown(ledger: Ledger, one: Holding, sizes: Counter[str]) -> dict[str, Any]:
    """What the ledger knows of one session."""
    from trimtab.edits import KERNEL, Note, Pin

    stages: dict[str, dict[str, float]] = {}
    for decision in ledger.decisions:
        stage = stages.setdefault(decision.stage, {"decisions": 0, "edits": 0, "tokens_freed": 0})
        stage["decisions"] += 1
        stage["edits"] += len(decision.edits)
        stage["tokens_freed"] += decision.freed
    edits = [edit for _, edit in ledger.rows()]
    notes = {edit.key: edit.data for edit in edits if isinstance(edit, Note)}
    breakers = {
        key.removeprefix(KERNEL).removesuffix(":breaker"): str(why)
        for key, why in notes.items()
        if why and key.startswith(KERNEL) and key.endswith(":breaker")
    }
    return {
        "session": one.session,
        "last_used": _epoch(one),
        "decisions": one.rows,
        "stages": stages,
        "tokens_freed": sum(decision.freed for decision in ledger.decisions),
        "boundaries": sum(decision.boundary for decision in ledger.decisions),
        "pins": len({edit.key for edit in edits if isinstance(edit, Pin)}),
        "notes": len(notes),
        "breakers": breakers,
        "bytes": one.bytes,
        "originals": sum(pointer in sizes for pointer in one.pointers),
        "original_bytes": sum(sizes[pointer] for pointer in one.pointers),
    }


def _epoch(one: Holding) -> float | None:
    return one.time if math.isfinite(one.time) else None


def _when(time: float | None) -> str:
    """Local time to the second."""
    return "?" if time is None else datetime.fromtimestamp(time).astimezone().isoformat(" ", "seconds")
