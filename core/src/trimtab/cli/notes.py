"""`trimtab notes`: what the stages of a session remember; shows the session memory and takes a user's edit of it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trimtab.cli.output import STD
from trimtab.cli.provider import Named
from trimtab.cli.text import counted, printable

if TYPE_CHECKING:
    from trimtab.edits import Note
    from trimtab.ledger import Decision, Ledger

__all__ = ["notes"]

MEMORY = "session-memory"
"""The note that is Markdown, and its user's to edit: ``text``, and the headings (``sections``) that stay in it."""


def notes(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="A session's id.")],
    edit: Annotated[bool, typer.Option("--edit", help="Open the memory in $VISUAL or $EDITOR.")] = False,
    given: Annotated[
        Path | None, typer.Option("--set", metavar="FILE", help="Replace the memory's text; - is stdin.")
    ] = None,
    profile: Named = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: all notes with their data.")] = False,
) -> None:
    """Show what is remembered of a session, and change it: the memory as Markdown, other notes by name.

    The memory is what the stage session-memory keeps: its newest version,
    whichever branch of the conversation that is of. A changed text counts from
    the next request on, also in a session that is open. Its headings stay as
    they are. Nothing is ever overwritten: older versions stay in the ledger.
    """
    from trimtab.errors import TrimtabError

    if edit + (given is not None) + as_json > 1:
        raise TrimtabError("--edit, --set and --json are for one at a time")
    ledger = _ledger(session, profile)
    found = _notes(ledger)
    if as_json:
        said = {"session": session, "notes": {key: note.data for key, note in found.items()}}
        typer.echo(json.dumps(said, indent=2))
        return
    if given is not None:
        _set(ledger, _memory(session, found), _read(given), "stdin" if given == STD else str(given))
    elif edit:
        _edit(ledger, _memory(session, found))
    else:
        _show(session, found)


def _ledger(session: str, profile: str | None) -> Ledger:
    from trimtab.cli.stored import opened, unknown
    from trimtab.ledger import Ledger

    store, blobs, storage = opened(profile)
    ledger = Ledger(store, blobs, session)
    if not ledger.decisions:
        raise unknown(session, store.sessions(), storage.ledger)
    return ledger


def _notes(ledger: Ledger) -> dict[str, Note]:
    """The newest note under each key but the kernel's."""
    from trimtab.edits import KERNEL, Note

    edits = (edit for _, edit in ledger.rows() if isinstance(edit, Note))
    return {edit.key: edit for edit in edits if not edit.key.startswith(KERNEL)}


def _text(found: Mapping[str, Note]) -> str | None:
    """The memory's text; None where there is none, or nothing that we can read."""
    data = found[MEMORY].data if MEMORY in found else None
    text = data.get("text") if isinstance(data, dict) else None
    return text if isinstance(text, str) else None


def _memory(session: str, found: Mapping[str, Note]) -> Note:
    """The note to be edited; raises `Unknown`."""
    from trimtab.errors import Unknown

    if _text(found) is None:
        label = "its notes"
        raise Unknown(f"session {session!r} has no memory to edit yet", available=map(printable, found), label=label)
    return found[MEMORY]


def _show(session: str, found: Mapping[str, Note]) -> None:
    """The memory on stdout, so that it can be saved and edited; what else there is on stderr."""
    text = _text(found)
    for line in text.rstrip("\n").split("\n") if text else ():
        typer.echo("\t".join(map(printable, line.split("\t"))))
    if text is None:
        typer.echo(f"session {printable(session)}: no memory yet", err=True)
    others = [printable(key) for key in found if key != MEMORY or text is None]
    if others:
        typer.echo(f"other notes (--json shows them): {', '.join(others)}", err=True)


# ------------------------------------------------------------------ editing


def _set(ledger: Ledger, was: Note, text: str, where: str) -> None:
    """Record a new text of the memory; raises `TrimtabError` for one that cannot be it, after which nothing changed."""
    from trimtab.commit import record
    from trimtab.draft import Draft
    from trimtab.edits import Note
    from trimtab.errors import TrimtabError

    lines = {line.strip() for line in text.splitlines()}
    missing = [heading for heading in was.data.get("sections", ()) if heading not in lines]
    if missing:
        lacks = ", ".join(repr(heading) for heading in missing)
        raise TrimtabError(f"lacks {counted(len(missing), 'heading')}, each a line of its own: {lacks}", where=where)
    if text.strip() == was.data["text"].strip():
        typer.echo("nothing changed")
        return
    edited = Note(MEMORY, {**was.data, "text": text}, was.upto)

    def made() -> list[Decision]:
        if _notes(ledger).get(MEMORY) != was:
            raise TrimtabError("the memory was changed meanwhile: look at it and edit it anew", where=where)
        return [record(Draft("notes", [edited]), "manual", time.time())]

    ledger.insist(made)
    typer.echo(f"memory of session {printable(ledger.session)}: {counted(len(text), 'character')}")


def _edit(ledger: Ledger, was: Note) -> None:
    """Let the user edit a copy, which stays where it cannot be used."""
    from trimtab.errors import TrimtabError

    handle, name = tempfile.mkstemp(prefix="trimtab-notes-", suffix=".md")
    path = Path(name)
    with open(handle, "w", encoding="utf-8", errors="replace") as file:
        file.write(was.data["text"])
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("notepad" if os.name == "nt" else "vi")
    try:
        subprocess.run([*shlex.split(editor), name], check=True)
    except (OSError, ValueError) as error:
        path.unlink()
        raise TrimtabError(f"the editor {editor!r} does not start: {error}; set $EDITOR to another") from error
    except subprocess.CalledProcessError as error:
        raise TrimtabError(f"{error}; the text stays here, nothing was changed", where=name) from error
    _set(ledger, was, _read(path), name)
    path.unlink(missing_ok=True)


def _read(path: Path) -> str:
    from trimtab.errors import TrimtabError

    try:
        data: Any = sys.stdin.buffer.read() if path == STD else path.read_bytes()
        text = str(data.decode("utf-8-sig"))
    except OSError as error:
        raise TrimtabError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise TrimtabError(f"is no UTF-8 text: {error.reason} at byte {error.start}", where=str(path)) from error
    return text.replace("\r\n", "\n")
