"""Sessions that `trimtab.testing.Recorder` wrote: JSON Lines, one row for each request and each response.

A row of kind ``recording`` begins the file (``version``, ``session``, ``dialect``), ``head`` numbers a system text with
its tools, ``request`` says when (``at``, epoch seconds), with which head, and what its branch holds more than before
(``messages``, behind the first ``keep`` of branch ``of`` where it begins a new one), ``response`` its usage, model and
answer. An answer that comes back in the next request as it was is not written again (``answered``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from trimtab.errors import TranscriptError
from trimtab.transcripts.records import Recording, Request
from trimtab.transcripts.source import Source

__all__ = ["NAME", "VERSION", "Tape", "read", "sniff"]

NAME = "recorded"
VERSION = 1


def sniff(source: Source) -> bool:
    """Whether the first object is the row that begins a recording."""
    return (
        bool(source.objects) and source.objects[0][1].get("kind") == "recording" and "trimtab" in source.objects[0][1]
    )


def read(source: Source) -> Recording:
    """Read all requests; raises `TranscriptError` for a row that does not fit, or of a later version."""
    skipped: Counter[str] = Counter(source.skipped)
    tape = Tape()
    for line, row in source.objects:
        try:
            tape.take(row)
        except (IndexError, KeyError, TypeError, ValueError) as error:
            what = (
                f"no row of a recording that this version (format {VERSION}) can read: {type(error).__name__}: {error}"
            )
            raise TranscriptError(what, where=f"{source.path}:{line}") from error
    tape.finish()
    notes = []
    used = Counter(tape.used)
    most = used.most_common(1)[0][0] if used else 0
    if len(used) > 1:
        notes.append(f"system or tools changed: {len(used)} of them; all requests are read with the most frequent")
    system, tools = tape.heads[most] if tape.heads else (None, None)
    return Recording(
        session=tape.session,
        format=NAME,
        dialect=tape.dialect,
        path=source.path,
        requests=tape.requests,
        records=sum(map(len, tape.branches)),
        skipped=dict(skipped),
        notes=notes,
        system=system,
        tools=tools,
    )


class Tape:
    """A recording row by row: `take` reads one, `row` makes the one for a new request."""

    def __init__(self) -> None:
        self.session = ""
        self.dialect = "anthropic"
        self.heads: list[tuple[Any, Any]] = []
        self.used: list[int] = []
        """The head of each request."""
        self.branches: list[list[dict[str, Any]]] = []
        """Messages that requests carried; without the answer to the last one."""
        self.answers: list[dict[str, Any] | None] = []
        """By branch: the answer to its last request."""
        self.requests: list[Request] = []

    def take(self, row: Mapping[str, Any]) -> None:
        """Read one row; raises `KeyError`, `IndexError`, `TypeError` or `ValueError` where it makes no sense."""
        match row["kind"]:
            case "recording":
                if row["version"] != VERSION:
                    raise ValueError(f"version {row['version']}")
                self.session, self.dialect = str(row["session"]), str(row["dialect"])
            case "head":
                self.heads.append((row["system"], row["tools"]))
            case "request":
                self._request(row)
            case "response":
                self._response(row)
            case kind:
                raise ValueError(f"kind {kind!r}")

    def _request(self, row: Mapping[str, Any]) -> None:
        branch = row["branch"]
        if branch == len(self.branches):
            kept = self.branches[row["of"]][: row["keep"]] if row.get("keep") else []
            self.branches.append(kept)
            self.answers.append(None)
        history, answer = self.branches[branch], self.answers[branch]
        if row.get("answered") and answer is not None:
            history.append(answer)
        history += row["messages"]
        self.answers[branch] = None
        self.used.append(row["head"])
        now = max(float(row["at"]), self.requests[-1].now if self.requests else 0.0)
        made = Request(history, len(history), now, None, None, None, branch, mid_session=False)
        self.requests.append(made)

    def _response(self, row: Mapping[str, Any]) -> None:
        made = self.requests[row["request"]]
        made.usage, made.model, made.answer = row.get("usage"), row.get("model"), row.get("answer")
        if made.length == len(made.history):
            self.answers[made.branch] = made.answer

    def finish(self) -> None:
        """An answer is what the agent took it for, where it went on with it."""
        for made in self.requests:
            if made.length < len(made.history) and made.history[made.length].get("role") == "assistant":
                made.answer = made.history[made.length]

    def row(self, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """What a request with these messages adds: to the branch that it continues, or as a new one."""
        best, length = 0, 0
        for branch, history in reversed(list(enumerate(self.branches))):
            known = _common(history, messages)
            if known == len(history) and len(messages) >= known:
                rest = list(messages[known:])
                answered = bool(rest) and self.answers[branch] == rest[0]
                return {"branch": branch, "answered": answered, "messages": rest[answered:]}
            if known > length:
                best, length = branch, known
        return {"branch": len(self.branches), "of": best, "keep": length, "messages": list(messages[length:])}


def _common(history: Sequence[Any], messages: Sequence[Any]) -> int:
    """How many messages two lists share from their start."""
    size = min(len(history), len(messages))
    if history[:size] == messages[:size]:
        return size
    return next(n for n in range(size) if history[n] != messages[n])
