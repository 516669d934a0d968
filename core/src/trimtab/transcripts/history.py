"""From messages in file order to requests: one growing list a branch, one request an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from trimtab.transcripts.records import Recording, Request
from trimtab.transcripts.source import Source
from trimtab.transcripts.wire import says

__all__ = ["STEP", "History"]

STEP = 10.0
"""Seconds between two requests where nothing recorded a time; the first is made at 0."""


class History:
    """Builds the requests; feed it in file order, then take the `recording`."""

    def __init__(self, source: Source) -> None:
        self.requests: list[Request] = []
        self.messages: list[dict[str, Any]] = []
        """Those of the current branch."""
        self.records = 0
        """Records of the conversation that were read; the reader counts them."""
        self.skipped: Counter[str] = Counter(source.skipped)
        self.notes: list[str] = []
        self._source = source
        self._branch = 0
        self._clock = 0.0
        self._unrecorded = 0

    def add(self, message: dict[str, Any], time: float | None = None) -> None:
        """Take a message that is no answer; ``time`` in epoch seconds, None where none was recorded."""
        self.messages.append(message)
        self.tick(time)

    def result(self, message: dict[str, Any], time: float | None = None) -> None:
        """Take a tool's result (of role tool, or an output): what was said while the tool ran comes behind it."""
        at = len(self.messages)
        while at and says(self.messages[at - 1]) not in ("assistant", "tool"):
            at -= 1
        self.messages.insert(at or len(self.messages), message)
        self.tick(time)

    def answer(
        self,
        answer: dict[str, Any] | list[dict[str, Any]],
        time: float | None = None,
        usage: Mapping[str, Any] | None = None,
        model: str | None = None,
    ) -> Request | None:
        """Take an answer, of one message or several; return the request it answers.

        That was made when what is before it was recorded.
        """
        request = None
        message, *rest = answer if isinstance(answer, list) else [answer]
        if self.messages:
            now = self._clock or time or 0.0
            made = (self._branch, False, tuple(rest))
            request = Request(self.messages, len(self.messages), now, usage, model, message, *made)
            self.requests.append(request)
            self._unrecorded += says(self.messages[-1]) == "assistant"
        else:
            self.skipped["answers without a request"] += 1
        for said in (message, *rest):
            self.add(said, time)
        return request

    def restart(self, messages: Iterable[dict[str, Any]]) -> None:
        """Start a branch that holds ``messages``; one that no request was made of is not counted."""
        if self.requests and self.requests[-1].branch == self._branch:
            self._branch += 1
        self.messages = list(messages)

    def tick(self, time: float | None) -> None:
        """Set the clock forward to ``time``, never back."""
        self._clock = max(self._clock, time or 0.0)

    def recording(
        self, format: str, dialect: str = "openai", session: Any = None, system: Any = None, tools: Any = None
    ) -> Recording:
        """Give all that was read; the session is named after the file where it has no name of its own."""
        if self._unrecorded:
            self.notes.append(f"answers behind answers, with nothing recorded between: {self._unrecorded}")
        if not self._clock:
            self.notes.append(f"no clock recorded: a request every {STEP:.0f} s")
            for number, request in enumerate(self.requests):
                request.now = STEP * number
        return Recording(
            session=session if session and isinstance(session, str) else Path(self._source.path).stem,
            format=format,
            dialect=dialect,
            path=self._source.path,
            requests=self.requests,
            records=self.records,
            skipped={what: count for what, count in self.skipped.items() if count},
            notes=self.notes,
            system=system,
            tools=tools,
        )
