"""What the provider answers: parts, replies, failures, and who gives them in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

__all__ = [
    "COMPACT",
    "Answer",
    "Call",
    "Cut",
    "Fail",
    "Part",
    "Player",
    "Reply",
    "Script",
    "Text",
    "Think",
    "Use",
    "as_reply",
]

ECHO = 200
"""Characters of the user's text that an echo repeats; chosen."""

COMPACT = "compact"
"""The `Call.api` of a request for a summary of the conversation, by the provider's own compaction."""


@dataclass(frozen=True, slots=True)
class Text:
    """Text that the model says."""

    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """Reasoning: a signed thinking block, a reasoning item, or ``reasoning_content``, as the API has it."""

    text: str


@dataclass(frozen=True, slots=True)
class Use:
    """A tool call; without an ``id`` the provider makes one, the same in every run."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None


Part: TypeAlias = Text | Think | Use


@dataclass(frozen=True, slots=True)
class Fail:
    """An HTTP error instead of an answer, for the next ``times`` requests.

    ``type`` and ``code`` are the fields of the vendor's error body; ``headers`` are added to the response's.
    """

    status: int
    message: str
    type: str = "invalid_request_error"
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int = 1


@dataclass(frozen=True, slots=True)
class Cut:
    """A response that breaks off after ``after`` events of its stream (or in the middle of its JSON).

    It ends with ``error`` as an error event, or, without one, by closing the connection.
    """

    after: int = 0
    error: Fail | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer.

    ``stop`` replaces the reason to stop, in the API's own word (default: whether there are calls, and what limit was
    met). ``usage`` is merged over what the provider reports, not what it bills. ``delay``: seconds until it begins.
    """

    parts: Sequence[Part]
    stop: str | None = None
    usage: Mapping[str, Any] | None = None
    delay: float = 0.0
    cut: Cut | None = None

    @property
    def spoken(self) -> str:
        """The text of all parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))


@dataclass(frozen=True, slots=True)
class Call:
    """One request that is about to be answered.

    ``number`` counts from 1 the requests that got an answer; a refused one does not count. ``text`` is the last text
    in the user's voice, ``results`` the texts of the tool results in the last message. ``api`` is messages, chat,
    responses, or compact: then the text of the answer is the summary (a list leaves that to the echo).
    """

    api: str
    body: Mapping[str, Any]
    number: int
    text: str
    results: Sequence[str] = ()


Answer: TypeAlias = "str | Part | Sequence[Part] | Reply | Fail"
Script: TypeAlias = Sequence[Answer] | Callable[[Call], Answer] | None


def as_reply(answer: Answer) -> Reply | Fail:
    """Whatever a script gave, as a reply; raises TypeError for anything that is no answer."""
    if isinstance(answer, Reply | Fail):
        return answer
    if isinstance(answer, str):
        return Reply([Text(answer)])
    parts = [answer] if isinstance(answer, Text | Think | Use) else answer
    if not isinstance(parts, Sequence) or not all(isinstance(part, Text | Think | Use) for part in parts):
        raise TypeError(f"a script's answer is a str, a part, a list of parts, a Reply or a Fail, not {answer!r}")
    return Reply(parts)


class Player:
    """Gives a script's answers, one for each request that is worth one."""

    def __init__(self, script: Script) -> None:
        self._ask = script if callable(script) else None
        self._list = [] if script is None or callable(script) else list(script)
        self._failing: Fail | None = None
        self._left = 0
        self.answered = 0
        """Requests that got an answer so far."""

    def next(self, api: str, body: Mapping[str, Any], text: str, results: Sequence[str]) -> Reply | Fail:
        """What follows this request; a reply counts it as answered."""
        if self._left:
            self._left -= 1
            assert self._failing is not None
            return self._failing
        call = Call(api, body, self.answered + 1, text, tuple(results))
        reply = as_reply(self._given(call))
        if isinstance(reply, Fail):
            self._failing, self._left = reply, reply.times - 1
        else:
            self.answered += 1
        return reply

    def _given(self, call: Call) -> Answer:
        if self._ask is not None:
            return self._ask(call)
        if call.api == COMPACT:
            return f"The user said last: {call.text[:ECHO]}"
        return self._list.pop(0) if self._list else f"You said: {call.text[:ECHO]}"
