"""`trimtab replay`: recorded sessions through profiles, in dollars and in what stays visible."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import product
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from trimtab.cli.output import STD

if TYPE_CHECKING:
    from trimtab.profile import Profile
    from trimtab.replay.report import Tally
    from trimtab.replay.setup import Setup
    from trimtab.transcripts import Recording

__all__ = ["replay"]

T = TypeVar("T")


def replay(
    sessions: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[SESSION]...",
            help="Recorded sessions, or folders of them. Without any: the newest under ~/.claude/projects, "
            "else the packaged demo session.",
        ),
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME|PATH", help="A packaged profile's name, or a file; repeat it to compare."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="Price the requests as this model's, not the profile's; repeat it to compare."),
    ] = None,
    window: Annotated[str | None, typer.Option(metavar="TOKENS", help="The window, as 200k or 1m.")] = None,
    ttl: Annotated[
        str | None, typer.Option(metavar="DURATION", help="How long the cache is kept, as 5m or 1h.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    requests: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.jsonl", help="Write every prepared request, one JSON line each; - is stdout (tables: stderr)."
        ),
    ] = None,
    probe_pins: Annotated[
        int | None,
        typer.Option(metavar="SEED", help="Pin blocks drawn by this seed, and count the pins that got lost."),
    ] = None,
) -> None:
    """Replay recorded sessions through profiles: what they cost, what stays visible. No model is called."""
    from trimtab.profile import load
    from trimtab.replay.report import document
    from trimtab.replay.setup import Setup, newest
    from trimtab.values import duration
    from trimtab.values import window as tokens

    if as_json and requests == STD:
        raise typer.BadParameter("- and --json would both write to stdout", param_hint="--requests")
    size, kept = _parsed(tokens, window, "--window"), _parsed(duration, ttl, "--ttl")
    models: Sequence[str | None] = model or [None]
    setups = [Setup(name, size, kept, probe_pins) for name in models]
    profiles = [load(name) for name in profile] if profile else [load()]
    recordings, failed = _read(sessions or [newest(Path.home())])
    if not recordings:
        raise typer.Exit(2)
    with _opened(requests) as out:
        tallies = _run(recordings, profiles, setups, out, quiet=as_json or not sys.stderr.isatty())
    if as_json:
        typer.echo(json.dumps(document(tallies), indent=2, ensure_ascii=False))
    else:
        _print(tallies, stderr=requests == STD)
    for tally in tallies:
        for failure in tally.failures:
            typer.echo(f"{tally.session}, {tally.profile}, {tally.model}: {failure}", err=True)
    if failed:
        raise typer.Exit(1)


def _parsed(parse: Callable[[Any], T], text: str | None, option: str) -> T | None:
    if text is None:
        return None
    try:
        return parse(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


@contextmanager
def _opened(path: Path | None) -> Iterator[IO[str] | None]:
    """Where the requests are written, if anywhere; raises `TrimtabError` where that cannot be."""
    from trimtab.errors import TrimtabError

    if path is None or path == STD:
        yield sys.stdout if path else None
        return
    try:
        with path.open("w", encoding="utf-8") as out:
            yield out
    except OSError as error:
        raise TrimtabError(f"cannot be written: {error.strerror}", where=str(path)) from None


def _read(paths: Sequence[Path]) -> tuple[list[Recording], bool]:
    """All sessions that can be read, and whether any could not, which is said on stderr."""
    from trimtab.errors import TrimtabError
    from trimtab.replay.setup import files
    from trimtab.transcripts import read

    found = list(files(paths))
    recordings: list[Recording] = []
    for file in found:
        try:
            recording = read(file)
        except (TrimtabError, OSError) as error:
            typer.echo(str(error), err=True)
            continue
        if any(other.session == recording.session for other in recordings):
            recording.session += f" ({file})"
        recordings.append(recording)
    if not found:
        typer.echo(f"no .json, .jsonl or .traj file in {', '.join(map(str, paths))}", err=True)
    return recordings, not found or len(recordings) < len(found)


def _run(
    recordings: Sequence[Recording],
    profiles: Sequence[Profile],
    setups: Sequence[Setup],
    out: IO[str] | None,
    *,
    quiet: bool,
) -> list[Tally]:
    """Replay every session under every profile and setup; one after another, for the milliseconds to be true."""
    from trimtab.replay.run import replay as one

    tallies = []
    total = len(profiles) * len(setups) * sum(len(recording.requests) for recording in recordings)
    with nullcontext(lambda: None) if quiet else _bar(total) as step:
        for recording, profile, setup in product(recordings, profiles, setups):
            adapted = setup.adapt(profile, recording)
            sink = _sink(out, recording.session, profile.name, adapted.provider.model) if out else None
            tallies.append(one(recording, adapted, profile.name, sink=sink, step=step))
    return tallies


@contextmanager
def _bar(total: int) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("replaying", total=total)
        yield lambda: progress.advance(task)


def _sink(out: IO[str], session: str, profile: str, model: str) -> Callable[[int, Any], None]:
    """Write one line per request: what would be sent, and what the pass did."""

    def write(i: int, prepared: Any) -> None:
        line = {
            "session": session,
            "profile": profile,
            "model": model,
            "i": i,
            **{key: getattr(prepared, key) for key in ("messages", "system", "tools", "extra")},
            "report": prepared.report.as_dict(),
        }
        out.write(json.dumps(line) + "\n")

    return write


def _print(tallies: Sequence[Tally], *, stderr: bool) -> None:
    from rich.console import Console

    from trimtab.replay.table import tables

    console = Console(stderr=stderr)
    for table in tables(tallies):
        console.print(table)
        console.print()
