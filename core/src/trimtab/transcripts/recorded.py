"""Sessions that `trimtab.testing.Recorder` wrote: JSON Lines, one row for each request and each response.

A row of kind ``recording`` begins the file (``version``, ``session``, ``dialect``), ``head`` numbers a system text with
its tools, ``request`` says when (``at``, epoch seconds), with which head, and what its branch holds more than before
(``messages``, behind the first ``keep`` of branch ``of`` where it begins a new one), ``response`` its usage, model and
answer, a list where the format has several messages for one. An answer that comes back in the next request as it was is
not written again (``answered``). A usage in no provider's words is under ``trimtab.Usage``, with the fields of
`trimtab.dialect.Usage`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from trimtab.errors import TranscriptError, told
from trimtab.transcripts.records import Recording, Request
from trimtab.transcripts.source import Source
from trimtab.transcripts.wire import says

__all__ = ["NAME", "NEUTRAL", "VERSION", "Tape", "read", "sniff"]

NAME = "recorded"
VERSION = 1
NEUTRAL = "trimtab.Usage"
COUNTS = ("read", "written", "fresh", "output")
LARGE = 1e12
"""Beyond this is no time (in epoch seconds the year 33,658), and no number of tokens."""


def sniff(source: Source) -> bool:
    """Whether the first object is the row that begins a recording."""
    return (
        bool(source.objects) and source.objects[0][1].get("kind") == "recording" and "trimtab" in source.objects[0][1]
    )


def read(source: Source) -> Recording:
    """Read all requests; raises `TranscriptError` for a row that does not fit, or of a later version."""
    skipped: Counter[str] = Counter(source.skipped)
    tape = Tape()
    tape.load(source)
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
        self.answers: list[list[dict[str, Any]]] = []
        """By branch: the answer to its last request."""
        self.requests: list[Request] = []

    def load(self, source: Source) -> None:
        """Read all rows of a file; raises `TranscriptError`, naming the line, for one that does not fit."""
        for line, row in source.objects:
            try:
                self.take(row)
            except (KeyError, ValueError) as error:
                what = f"no row of a recording that this version (format {VERSION}) can read: {told(error)}"
                raise TranscriptError(what, where=f"{source.path}:{line}") from error

    def check(self, row: Mapping[str, Any]) -> None:
        """Raise `KeyError` or `ValueError` for a row that makes no sense here, before any of it is taken."""
        match row["kind"]:
            case "recording":
                _must(row["version"] == VERSION, row, "version")
                _must(isinstance(row["session"], str), row, "session")
                _must(isinstance(row["dialect"], str), row, "dialect")
            case "head":
                row["system"], row["tools"]
            case "request":
                self._check_request(row)
            case "response":
                _must(_index(row["request"], len(self.requests)), row, "request")
                _must(row.get("usage") is None or _is_usage(row["usage"]), row, "usage")
                _must(row.get("model") is None or isinstance(row["model"], str), row, "model")
                answer = _listed(row.get("answer"))
                _must(row.get("answer") != [] and all(map(_is_message, answer)), row, "answer")
            case _:
                _must(False, row, "kind")

    def _check_request(self, row: Mapping[str, Any]) -> None:
        _must(_is_number(row["at"]), row, "at")
        _must(_index(row["head"], len(self.heads)), row, "head")
        _must(_index(row["branch"], len(self.branches) + 1), row, "branch")
        if row["branch"] == len(self.branches) and row.get("keep"):
            _must(_index(row["of"], len(self.branches)), row, "of")
            _must(_index(row["keep"], len(self.branches[row["of"]]) + 1), row, "keep")
        _must(isinstance(row["messages"], list) and all(map(_is_message, row["messages"])), row, "messages")

    def take(self, row: Mapping[str, Any]) -> None:
        """Read one row; raises what `check` raises."""
        self.check(row)
        match row["kind"]:
            case "recording":
                self.session, self.dialect = row["session"], row["dialect"]
            case "head":
                self.heads.append((row["system"], row["tools"]))
            case "request":
                self._request(row)
            case "response":
                self._response(row)

    def _request(self, row: Mapping[str, Any]) -> None:
        branch = row["branch"]
        if branch == len(self.branches):
            kept = self.branches[row["of"]][: row["keep"]] if row.get("keep") else []
            self.branches.append(kept)
            self.answers.append([])
        history, answer = self.branches[branch], self.answers[branch]
        if row.get("answered"):
            history += answer
        history += row["messages"]
        self.answers[branch] = []
        self.used.append(row["head"])
        now = max(float(row["at"]), self.requests[-1].now if self.requests else 0.0)
        made = Request(history, len(history), now, None, None, None, branch, mid_session=False)
        self.requests.append(made)

    def _response(self, row: Mapping[str, Any]) -> None:
        made = self.requests[row["request"]]
        made.usage, made.model, answer = row.get("usage"), row.get("model"), _listed(row.get("answer"))
        made.answer, made.rest = (answer[0], tuple(answer[1:])) if answer else (None, ())
        if made.usage and NEUTRAL in made.usage:
            made.usage = _spelled(made.usage[NEUTRAL])
        if made.length == len(made.history):
            self.answers[made.branch] = answer

    def finish(self) -> None:
        """An answer is what the agent took it for, where it went on with it."""
        for made in self.requests:
            following = made.history[made.length : made.length + 1 + len(made.rest)]
            if following and all(says(message) == "assistant" for message in following):
                made.answer, made.rest = following[0], tuple(following[1:])

    def row(self, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """What a request with these messages adds: to the branch that it continues, or as a new one."""
        best, length = 0, 0
        for branch, history in reversed(list(enumerate(self.branches))):
            known = _common(history, messages)
            if known == len(history) and len(messages) >= known:
                rest = list(messages[known:])
                answer = self.answers[branch]
                answered = bool(answer) and rest[: len(answer)] == answer
                return {"branch": branch, "answered": answered, "messages": rest[len(answer) if answered else 0 :]}
            if known > length:
                best, length = branch, known
        return {"branch": len(self.branches), "of": best, "keep": length, "messages": list(messages[length:])}


def _must(fits: bool, row: Mapping[str, Any], key: str) -> None:
    if not fits:
        shown = f" {row[key]!r:.50}" if isinstance(row[key], (int, float, str)) else ""
        raise ValueError(f"{key}{shown} does not fit")


def _index(value: Any, size: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < size


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -LARGE < value < LARGE


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role", value.get("type")), str)


def _listed(answer: Any) -> list[Any]:
    """The messages of an answer: one, several, or none."""
    return answer if isinstance(answer, list) else [] if answer is None else [answer]


def _is_usage(value: Any) -> bool:
    if not isinstance(value, dict) or NEUTRAL not in value:
        return isinstance(value, dict)
    fields = value[NEUTRAL]
    return isinstance(fields, dict) and all(_is_number(fields.get(name)) for name in COUNTS)


def _spelled(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A neutral usage in the words of both providers that dialects mostly follow."""
    read, written, fresh, output = (fields[name] for name in COUNTS)
    said = {"input_tokens": fresh, "output_tokens": output}
    said |= {"prompt_tokens": read + written + fresh, "completion_tokens": output}
    if not fields.get("split", True):
        return said
    details = {"cached_tokens": read, "cache_write_tokens": written}
    return {
        **said,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "prompt_tokens_details": details,
    }


def _common(history: Sequence[Any], messages: Sequence[Any]) -> int:
    """How many messages two lists share from their start."""
    size = min(len(history), len(messages))
    if history[:size] == messages[:size]:
        return size
    return next(n for n in range(size) if history[n] != messages[n])
