"""`trimtab trust`: what a project's profile wants to run, and whether the user trusts it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trimtab.cli.text import columns, counted, printable

if TYPE_CHECKING:
    from trimtab.trust import Code, Store, Wanted

__all__ = ["trust"]

SHORT = 12
"""Digits of a hash that a person is shown."""


def trust(
    profile: Annotated[
        str | None, typer.Argument(metavar="PROFILE", help="A profile's name or file; unless said, the one in force.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Trust all of it without asking.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List all that is trusted, for whatever profile.")] = False,
    revoke: Annotated[
        str | None,
        typer.Option("--revoke", metavar="PATH|all", help="Trust this file, or all in this folder, no longer."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, and ask nothing.")] = False,
) -> None:
    """List the Python files and commands that a profile wants to run, and ask for each whether it is trusted.

    A file is trusted with its content, a command line with the content of the
    files that it names. What these read, import or start in their turn is not
    looked for: read it too. The user's own profile, the packaged ones,
    variables and arguments need no trust. Exit code 1 if something is left
    that is not trusted.
    """
    from trimtab.trust import Store

    store = Store.of(os.environ)
    if revoke is not None:
        _revoke(store, revoke)
    elif list_:
        _list(store, as_json)
    else:
        _trust(store, profile, yes=yes, as_json=as_json)


def _trust(store: Store, profile: str | None, *, yes: bool, as_json: bool) -> None:
    from trimtab.profile import survey

    seen: set[Any] = set()
    while True:  # what a file wants to run is known only when the file is trusted
        wanted = list({one.code.key: one for one in survey(profile)[1]}.values())
        new = [one for one in wanted if one.code.key not in seen]
        seen |= {one.code.key for one in new}
        if new and not as_json:
            _show("STATE", [(one.code, one.state, one.where) for one in new])
        asked = [one for one in new if one.state != "trusted"]
        trusted = asked if yes else [] if as_json or not asked else _chosen(asked)
        if not trusted:
            break
        store.add(trusted)
    left = [one for one in wanted if one.state != "trusted"]
    if as_json:
        rows = [{**asdict(one.code), "name": one.name, "where": one.where, "state": one.state} for one in wanted]
        typer.echo(json.dumps(rows, indent=2))
    elif not wanted:
        typer.echo("nothing that this profile wants to run needs trust")
    else:
        typer.echo(f"{len(wanted) - len(left):,} of {len(wanted):,} trusted")
    if left:
        raise typer.Exit(1)


def _chosen(wanted: Sequence[Wanted]) -> list[Wanted]:
    """Ask the user for each, or for all from one on."""
    if not _terminal():
        typer.echo("nobody can be asked (stdin is no terminal): read what is listed, then say --yes", err=True)
        return []
    chosen: list[Wanted] = []
    for n, one in enumerate(wanted):
        answer = typer.prompt(f"Trust {one.name}? yes, no, all", default="no", err=True).lower()
        if answer in ("a", "all"):
            return [*chosen, *wanted[n:]]
        chosen += [one] * (answer in ("y", "yes"))
    return chosen


def _terminal() -> bool:
    return sys.stdin.isatty()


def _show(head: str, rows: Sequence[tuple[Code, str, str]]) -> None:
    """Print each with its state or time and its origin, and below a command the files that it names."""
    cells = [("WHAT", head, "SHA256", "FROM")]
    for code, state, where in rows:
        hashes = {path: sha256[:SHORT] for path, sha256 in code.sha256.items()}
        cells.append((str(code), state, hashes.get(str(code), ""), printable(where)))
        cells += [(f"  {printable(path)}", "", hash, "") for path, hash in hashes.items() if path != str(code)]
    for line in columns(cells):
        typer.echo(line)


def _list(store: Store, as_json: bool) -> None:
    entries = store.entries()
    if as_json:
        typer.echo(json.dumps([asdict(entry) for entry in entries], indent=2))
    elif entries:
        _show("SINCE", [(entry, entry.time, entry.profile) for entry in entries])
    else:
        typer.echo(f"{store.file}: nothing is trusted yet", err=True)


def _revoke(store: Store, path: str) -> None:
    from trimtab.errors import Unknown

    place = Path(os.path.abspath(os.path.expanduser(path)))
    gone = store.remove(
        lambda entry: path == "all" or any(Path(one).is_relative_to(place) for one in (entry.folder, *entry.sha256))
    )
    if not gone and path != "all":
        raise Unknown("nothing here is trusted; `trimtab trust --list` tells what is", where=str(place))
    typer.echo(f"{counted(len(gone), 'thing')} trusted no longer")
