"""`trimtab gc`: removes stored sessions by age and size, and originals that no session points to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from trimtab.cli.provider import Named
from trimtab.cli.text import counted, printable

if TYPE_CHECKING:
    from trimtab.storage.gc import Amount, Swept

__all__ = ["amount", "gc", "summary"]


def gc(
    keep_days: Annotated[
        str | None,
        typer.Option("--keep-days", metavar="DAYS", help="Remove sessions whose last decision is longer ago."),
    ] = None,
    max_bytes: Annotated[
        str | None,
        typer.Option(
            "--max-bytes", metavar="BYTES", help="Then remove those used longest ago until the rest fits, as 500m."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    profile: Named = None,
) -> None:
    """Remove stored sessions by age and size, and originals that no session points to.

    Without options it goes by the profile's storage.keep_days and
    storage.max_bytes. Where neither is said, no session is removed: nothing
    tells whether its conversation will go on, and one that does is then sent
    in full again. Nothing is ever removed but by this command and by
    `trimtab sessions delete`.

    A session that was used in the last day is not removed for its size, nor
    is an original that was stored in the last day: a session may be open.
    Other sessions may go on while this runs. One ledger to a folder of
    originals: what another ledger points to is not known here.
    """
    from trimtab.cli.stored import bar, opened
    from trimtab.storage.gc import collect

    said = {"keep_days": keep_days, "max_bytes": max_bytes}
    ledger, blobs, storage = opened(profile, **{key: value for key, value in said.items() if value is not None})
    try:
        with bar() as progress:
            swept = collect(
                ledger,
                blobs,
                keep_days=storage.keep_days,
                max_bytes=storage.max_bytes,
                dry_run=dry_run,
                progress=progress,
            )
    finally:
        ledger.close()
    if as_json:
        limits = {"keep_days": storage.keep_days, "max_bytes": storage.max_bytes}
        typer.echo(json.dumps({"dry_run": dry_run, **limits, **swept.as_dict()}, indent=2))
        complain(swept)
        return
    for line in summary(swept, dry_run=dry_run):
        typer.echo(line)
    if storage.keep_days is None and storage.max_bytes is None:
        typer.echo("neither keep_days nor max_bytes is said: every session is kept", err=True)
    if storage.max_bytes is not None and swept.kept.bytes > storage.max_bytes:
        typer.echo(f"still above {storage.max_bytes:,} bytes: what was used in the last day is kept", err=True)
    complain(swept)


def complain(swept: Swept) -> None:
    """Name the originals that could not be removed, and exit with 1."""
    for failure in swept.failed:
        typer.echo(printable(failure), err=True)
    if swept.failed:
        raise typer.Exit(1)


def summary(swept: Swept, *, dry_run: bool = False) -> list[str]:
    """What was removed and what is left, for a person."""
    young = f" ({counted(swept.young, 'original')} of no session, still young)" if swept.young else ""
    verb = "would remove" if dry_run else "removed"
    return [f"{verb} {amount(swept.removed)}", f"{'would keep' if dry_run else 'kept'} {amount(swept.kept)}{young}"]


def amount(of: Amount) -> str:
    """``2 sessions, 5 decisions, 7 originals, 1,234 bytes``."""
    words = [
        (of.sessions, "session"),
        (of.rows, "decision"),
        (of.originals, "original"),
        (of.bytes, "byte"),
    ]
    return ", ".join(counted(number, word) for number, word in words)
