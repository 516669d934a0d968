"""`trimtab compact`: one manual pass over the messages in a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trimtab.cli.output import write_json
from trimtab.cli.provider import Model, Named, Window, assumed, overrides
from trimtab.cli.text import counted, printable

if TYPE_CHECKING:
    from trimtab.profile import Profile
    from trimtab.request import Request
    from trimtab.session import Session

__all__ = ["compact"]


def compact(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A JSON list of messages, an object with `messages` (and `system`, `tools`), one message a line, or a "
            "recorded session: of that what follows its last compaction. - is stdin.",
        ),
    ],
    profile: Named = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="OUT", help="Where to write; FILE itself is allowed, - is stdout."),
    ] = None,
    model: Model = None,
    window: Window = None,
    instructions: Annotated[
        str, typer.Option(metavar="TEXT", help="What a summary should pay attention to, for stages that summarise.")
    ] = "",
    keep: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, help="How many of the newest messages stay as they are, instead of the profile's."
        ),
    ] = None,
) -> None:
    """Shorten the messages in a file: each stage runs once, whatever its `when`.

    Writes a valid list of messages (an object if FILE is one), what was broken
    repaired, and tells on stderr what each stage did. Originals stay in the
    profile's storage, under a session that `trimtab explain` reads.

    Exit code 1: nothing is written, because the messages do not fit the window
    or cannot be made valid.
    """
    from trimtab.errors import ContextOverflow
    from trimtab.profile import load

    given = _read(file)
    said = overrides(model=model, window=window, dialect=given.dialect)
    session = _session(given, load(profile, overrides={**said, "history": "unsent"}))
    try:
        done = _run(session, given, file, instructions, keep)
    except ContextOverflow as error:
        _tell([f"not written: {error}"])
        raise typer.Exit(1) from None
    _tell(_report(given, session, done, profile))
    _tell(_hints(done, instructions))
    if left := _violations(session, done.messages):
        _tell(["not written, because it would not be valid:", *left])
        raise typer.Exit(1)
    write_json(given.with_messages(done), out, file)


@dataclass(frozen=True, slots=True)
class _Given:
    """What a file holds; ``document`` is the object around the messages."""

    messages: list[Any]
    dialect: str
    format: str
    system: Any = None
    tools: Any = None
    document: Mapping[str, Any] | None = None
    notes: Sequence[str] = field(default_factory=list)

    def with_messages(self, done: Request) -> Any:
        """The same with other messages."""
        if self.document is None:
            return done.messages
        system = {"system": done.system} if done.system != self.system else {}
        return {**self.document, "messages": done.messages, **system}


def _read(file: Path) -> _Given:
    """The messages of a file; of a recording with several branches the last one's."""
    from trimtab.transcripts import FORMATS, messages, openai_messages, read
    from trimtab.transcripts.source import load

    source = load(file, [format.name for format in FORMATS])
    recording = read(source)
    skipped = ", ".join(f"{count} {what}" for what, count in recording.skipped.items())
    notes = [f"skipped: {skipped}"] if skipped else []
    if recording.format in (messages.NAME, openai_messages.NAME):
        around = source.document if isinstance(source.document, dict) and "role" not in source.document else None
        found = messages.entries(source)
        about = (recording.dialect, recording.format, recording.system, recording.tools, around, notes)
        return _Given(found, *about)
    if not recording.requests:
        from trimtab.errors import TranscriptError

        raise TranscriptError("the recording holds no request", where=source.path)
    branches = len({request.branch for request in recording.requests})
    if branches > 1:
        notes.append(f"of {branches} histories, each begun by a recorded compaction, this is the last")
    found = list(recording.requests[-1].history)
    return _Given(found, recording.dialect, recording.format, recording.system, recording.tools, notes=notes)


def _session(given: _Given, profile: Profile) -> Session:
    """A new session, named after what it compacts: the same file again is a second session, so it starts anew."""
    from trimtab.conversation import digest
    from trimtab.session import Session

    name = f"compact-{digest(given.messages, given.system, given.tools)[:12]}"
    session = Session.open(name, profile)
    taken = set(session.ledger.store.sessions())
    if name in taken:
        number = next(n for n in range(2, len(taken) + 2) if f"{name}-{n}" not in taken)
        session = Session.open(f"{name}-{number}", profile)
    return session


def _run(session: Session, given: _Given, file: Path, instructions: str, keep: int | None) -> Request:
    from trimtab.errors import TrimtabError

    # The repair of calls that nothing answers writes their results into the message behind them.
    messages = [*given.messages, session.dialect.user([])] if _waits(session, given.messages) else given.messages
    done = session.compact(messages, given.system, given.tools, instructions=instructions, keep=keep)
    if session.projection is None:
        why = "; ".join(done.report.failures) or "TRIMTAB_OFF is set, so nothing is compacted"
        raise TrimtabError(why, where=str(file))
    return done


def _waits(session: Session, messages: Sequence[Any]) -> bool:
    """Whether the list ends in calls that nothing answers."""
    try:
        for message in reversed(messages):
            role, blocks = session.dialect.parse(session.dialect.plain(message), "")
            if role != "assistant" or any(block.type == "tool_use" and not block.server for block in blocks):
                return bool(role == "assistant")
    except TypeError:
        pass  # what cannot be read, the pass itself reports
    return False


def _violations(session: Session, messages: Sequence[Any]) -> list[str]:
    found = (each for each in session.dialect.validate(messages) if each.certain)
    return [f"  {each.where}: {each.what} ({each.rule})" for each in found]


def _report(given: _Given, session: Session, done: Request, profile: str | None) -> Iterator[str]:
    """What was read, what each stage did, and where the originals lie; tokens are calibrated."""
    projection, factor, report = session.view.projection, session.meter.factor, done.report
    before = factor * (session.context.head + sum(message.tokens for message in projection.path))
    yield f"{given.format}: {counted(len(given.messages), 'message')}"
    yield from given.notes
    provider = session.provider
    bound = "thinking bound to its prefix, " if provider.prefix_bound else ""
    yield f"model {provider.model}, {bound}window {provider.window:,}, tokens by {session.counter.name}"
    if warning := assumed(provider):
        yield warning
    names = [stage.name for stage in session.plan.stages]
    others = [decision.stage for decision in report.decisions if decision.stage not in names]
    for name in dict.fromkeys([*others, *names]):
        yield f"{name}: {'; '.join(_did(name, session, done))}"
    yield from (f"failed: {failure}" for failure in report.failures)
    yield from report.warnings
    yield f"tokens: {before:,.0f} before, {report.tokens_after:,.0f} after; {counted(len(done.messages), 'message')}"
    if given.document is None and done.system != given.system:
        yield f"a hook changes the system text, which a list of messages cannot hold: {done.system!r}"
    if session.ledger.originals:
        same = f" --profile {profile}" if profile else ""
        yield f"originals: {session.profile.storage.blobs}; see `trimtab explain {session.id}{same}`"


def _hints(done: Request, instructions: str) -> Iterator[str]:
    """What the caller may have expected and did not get, and what helps."""
    if instructions:
        yield "--instructions are for a model, and here is none to ask: rules wrote what was summarised"
    if any(why.startswith("waits: thinking") for reasons in done.report.refused.values() for why in reasons):
        yield (
            "what waits is bound to thinking of a turn that is not over: it passes once a message of the user follows, "
            "or with --model NAME of a model that does not bind its thinking"
        )


def _did(name: str, session: Session, done: Request) -> Iterator[str]:
    edits = [edit for edit in session.explain() if edit["stage"] == name]
    freed = sum(decision.freed for decision in done.report.decisions if decision.stage == name)
    if edits:
        yield counted(len(edits), "edit") + (f", {freed:,.0f} tokens freed" if freed else "")
        yield from (f"{count} × {why}" for why, count in Counter(edit["why"] for edit in edits).most_common())
    else:
        yield "nothing to do"
    yield from (f"{count} refused ({why})" for why, count in done.report.refused.get(name, Counter()).items())


def _tell(lines: Sequence[str] | Iterator[str]) -> None:
    for line in lines:
        typer.echo(printable(line), err=True)
