"""From records in file order to requests: answers merged, results put next to their calls, branches made.

A branch is one growing list of messages. Where a recording says that its history was replaced (compaction, a
replaced result that had been sent, a snip, a collapse), the branch ends and its records are placed anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trimtab.transcripts.records import Request
from trimtab.transcripts.turns import ordered, replaced, results_in

__all__ = ["Branches", "Record"]


@dataclass(slots=True, eq=False)
class Record:
    """One line of a conversation; ``answer`` is the id of the response it is a part of, "" for a user's."""

    uuid: str
    content: Any
    time: float | None = None
    answer: str = ""
    model: str | None = None
    usage: dict[str, Any] | None = None
    summary: bool = False


class Branches:
    """Builds the requests; feed it in file order, then `finish`."""

    def __init__(self, mid_session: bool) -> None:
        self.requests: list[Request] = []
        self.records: list[Record] = []
        """All records of the current branch."""
        self.added = 0
        """Records taken from the file."""
        self.unasked = 0
        """Answers with nothing before them: there is no request to tell of."""
        self.unrecorded = 0
        """Answers directly behind another: what was sent between them is not in the file."""
        self._mid_session = mid_session
        self._branch = 0
        self._clock = 0.0
        self._history: list[dict[str, Any]] = []
        self._group: list[Record] = []
        """User records since the last answer, not yet messages."""
        self._kept: list[Record] = []
        """Records that follow the summary of a boundary."""
        self._answers: dict[str, dict[str, Any]] = {}
        self._asked: dict[str, Request] = {}
        self._replacements: dict[str, str] = {}
        self._settled: set[str] = set()
        """Ids of the results that are messages of this branch already."""

    def add(self, record: Record) -> None:
        """Take the next record; the clock is that of the record before."""
        self.added += 1
        if self._kept and not record.summary:
            self._release()
        self._place(record, new=True)
        self._clock = max(self._clock, record.time or 0.0)

    def replace(self, texts: Mapping[str, str]) -> None:
        """Show results (by call id) as these texts from now on: in a new branch, if one was sent before."""
        changed = {id for id, text in texts.items() if self._replacements.get(id) != text}
        self._replacements.update(texts)
        if changed & self._settled:
            self.restart(self.records)

    def compact(self, kept: Iterable[Record], in_front: bool) -> None:
        """Start a branch with the summary that comes next; ``kept`` records stand behind it, or in front."""
        self._mid_session = False
        self.restart(kept if in_front else ())
        self._kept = [] if in_front else list(kept)

    def restart(self, records: Iterable[Record]) -> None:
        """Start a branch that holds ``records``."""
        placed = list(records)
        self.finish()
        self._branch += 1
        self.records, self._history, self._answers, self._settled = [], [], {}, set()
        for record in placed:
            self._place(record, new=False)

    def finish(self) -> None:
        """Make messages of the user records since the last answer."""
        contents = [replaced(record.content, self._replacements) for record in self._group]
        self._settled.update(str(block.get("tool_use_id")) for content in contents for block in results_in(content))
        self._history += ({"role": "user", "content": content} for content in ordered(contents))
        self._group = []

    def _release(self) -> None:
        """Place what a boundary kept, now that its summary is there."""
        kept, self._kept = self._kept, []
        for record in kept:
            self._place(record, new=False)

    def _place(self, record: Record, new: bool) -> None:
        message = self._answers.get(record.answer)
        asked = self._asked.get(record.answer) if new else None
        if message is not None or asked is None:  # else a late line of an answer that an earlier branch holds
            self.records.append(record)
        if not record.answer:
            self._group.append(record)
        elif message is None and asked is None:
            self._open(record, new)
        else:
            first = asked.answer if asked else None
            for part in (message, first if first is not message else None):
                if part is not None:
                    part["content"] += _blocks(record.content)
            if asked:
                _measure(asked, record.usage)

    def _open(self, record: Record, new: bool) -> None:
        """Begin an answer, and if it is ``new``, the request that it answers."""
        self.finish()
        answer = {"role": "assistant", "content": _blocks(record.content)}
        if new and self._history:
            self.unrecorded += self._history[-1]["role"] == "assistant"
            request = Request(
                self._history,
                len(self._history),
                self._clock or record.time or 0.0,
                record.usage,
                record.model,
                answer,
                self._branch,
                self._mid_session,
            )
            self.requests.append(request)
            self._asked[record.answer] = request
        elif new:
            self.unasked += 1
        self._history.append(answer)
        self._answers[record.answer] = answer


def _measure(request: Request, usage: dict[str, Any] | None) -> None:
    """Take the usage of a further line: the input side is equal on all, the output largest on the last."""
    if usage:
        before = request.usage["output_tokens"] if request.usage else 0
        request.usage = {**usage, "output_tokens": max(before, usage["output_tokens"])}


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
