"""`trimtab pipe`: the library for any language, as JSON lines on stdin and stdout."""

from __future__ import annotations

import json
import math
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from trimtab.cli.provider import Model, Named, Window, assumed, overrides

if TYPE_CHECKING:
    from trimtab.ask import Ask, Asker
    from trimtab.profile import Profile

__all__ = ["Pipe", "pipe", "run"]


def pipe(
    profile: Named = None,
    model: Model = None,
    window: Window = None,
    ttl: Annotated[
        str | None, typer.Option("--ttl", metavar="DURATION", help="How long the cache is kept, as 5m or 1h.")
    ] = None,
    dialect: Annotated[str | None, typer.Option("--dialect", help="The wire format, as anthropic.")] = None,
) -> None:
    """Prepare requests that come as JSON lines: one line in, one line out.

    A request is {"messages": the whole history, "now"?: seconds since the
    epoch (else the clock), "usage"?: {"prompt", "output"}, the tokens that the
    provider reported for this pipe's previous answer, or null, "system"?,
    "tools"?, "i"?}.

    Its answer is {"messages": what to send, "extra": further parameters of the
    request}. extra.side lists the questions put to a model ({"prompt_chars",
    "answer_chars", "cached"}); extra.system is there if that text changed.

    A line that cannot be answered, also because the request would not fit the
    window, gets {"error": "line 3: …"}. The lines after it are answered all
    the same; the exit code is 1. Warnings go to stderr.

    One run is one session. Its ledger is in memory; what it hides lies in
    files, in a folder that is there while it runs.
    """
    from trimtab.profile import load

    said = overrides(model=model, window=window, ttl=ttl, dialect=dialect)
    with _folder() as folder:
        storage = {"ledger": "memory:", "blobs": f"file://{folder}"}
        served = Pipe(load(profile, overrides={**said, "storage": storage}))
        if warning := assumed(served.session.provider):
            typer.echo(warning, err=True)
        if not run(served, typer.get_binary_stream("stdin"), sys.stdout):
            raise typer.Exit(1)


def run(served: Pipe, lines: Iterable[bytes], out: IO[str]) -> bool:
    """Answer every line that is not blank, numbered from 1; returns whether all could be answered."""
    fine = True
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            answer, warnings = served(line)
            text = json.dumps(answer, allow_nan=False)
        except Exception as error:  # whatever it is, the caller's next request must not wait for ever
            fine = False
            text, warnings = json.dumps({"error": f"line {number}: {_words(error)}"}), []
        out.write(text + "\n")
        out.flush()
        for warning in warnings:
            typer.echo(f"line {number}: {warning}", err=True)
    return fine


class Pipe:
    """Answers request lines, one session's, in order."""

    def __init__(self, profile: Profile, ask: Asker | None = None) -> None:
        from trimtab.session import Session

        self._now: float | None = None
        self._answered = False
        self._side: list[dict[str, Any]] = []
        asker = self._asker(ask) if ask else None
        self.session = Session.open("pipe", profile, ask=asker, clock=self._clock)

    def __call__(self, line: bytes) -> tuple[dict[str, Any], list[str]]:
        """The answer to one line, and what a person should know; raises what `prepare` raises, and ValueError."""
        # Behind an error, or messages that could not be read, it is unknown what of ours the caller sent.
        known, self._answered = self._answered, False
        request = _request(line)
        self._now, usage, system = (request.get(key) for key in ("now", "usage", "system"))
        if known and usage and usage["prompt"]:
            self._observe(usage)
        self._side.clear()
        prepared = self.session.prepare(request["messages"], system, request.get("tools"))
        report = prepared.report
        self._answered = bool(report.keys)
        extra = {"side": list(self._side), **prepared.extra}
        if prepared.system != system:
            extra["system"] = prepared.system
        return {"messages": prepared.messages, "extra": extra}, [*report.failures, *report.warnings]

    def _observe(self, usage: dict[str, Any]) -> None:
        from trimtab.dialect import Usage

        self.session.observe(Usage(0, 0, fresh=usage["prompt"], output=usage.get("output") or 0, split=False))

    def _clock(self) -> float:
        return time.time() if self._now is None else self._now

    def _asker(self, ask: Asker) -> Asker:
        def asked(question: Ask) -> Any:
            answer = ask(question)
            figures = {"prompt_chars": len(question.prompt), "answer_chars": len(answer), "cached": False}
            self._side.append(figures)
            return answer

        return asked


def _request(line: bytes) -> dict[str, Any]:
    """One line's request, checked; raises ValueError or TrimtabError."""
    from trimtab.errors import TrimtabError

    said = json.loads(line, parse_constant=_constant)
    if not isinstance(said, dict):
        raise TrimtabError("a request is an object with `messages`")
    if not isinstance(said.get("messages"), list):
        raise TrimtabError("`messages` must be the list of all messages so far")
    if said.get("now") is not None and not _is_number(said["now"]):
        raise TrimtabError(f"`now` must be seconds since the epoch, not {said['now']!r}")
    usage = said.get("usage")
    if usage is not None and not (isinstance(usage, dict) and _is_number(usage.get("prompt"))):
        raise TrimtabError('`usage` must be {"prompt": tokens, "output": tokens} or null')
    return said


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def _constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _words(error: Exception) -> str:
    """The error for whoever wrote the line; what we did not foresee with its type."""
    from trimtab.errors import TrimtabError

    match error:
        case TrimtabError():
            return str(error)
        case json.JSONDecodeError():
            return f"not JSON: {error.msg} (column {error.colno})"
        case _:
            return f"{type(error).__name__}: {error}"


@contextmanager
def _folder() -> Iterator[Path]:
    """A temporary folder that goes also when we are told to end (SIGTERM)."""

    def end(*_: Any) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, end)
    try:
        with tempfile.TemporaryDirectory(prefix="trimtab-pipe-") as name:
            yield Path(name).resolve()
    finally:
        signal.signal(signal.SIGTERM, before)
