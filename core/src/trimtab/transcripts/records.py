"""What every reader returns: the requests that a recording made, each with its history, clock and usage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Recording", "Request"]


@dataclass(slots=True)
class Request:
    """One request of a recording: all messages before one recorded assistant answer.

    ``history`` is shared by all requests of a branch and runs on behind this request; never change it.
    """

    history: list[dict[str, Any]] = field(repr=False)
    length: int
    """How many messages of ``history`` this request carried."""
    now: float
    """Seconds since the epoch when it was made; never less than the request before."""
    usage: Mapping[str, Any] | None
    """What the provider reported, in tokens; None where nothing was recorded."""
    model: str | None
    answer: dict[str, Any] | None = field(repr=False)
    """The assistant message that answered it, or the first of them."""
    branch: int
    """Changes where the history was replaced (a compaction boundary) instead of growing."""
    mid_session: bool
    """The file does not hold what came before its first message, so ``usage`` is larger than ``messages``."""
    rest: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    """What else the answer holds, in a format where one is several messages."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages it carried, as on the wire; a new list of the shared messages."""
        return self.history[: self.length]


@dataclass(slots=True)
class Recording:
    """One recorded session; ``skipped`` counts what was left out, ``notes`` says what the reader met.

    Neither it nor a request shows contents in its ``repr``: recordings are personal data.
    """

    session: str
    format: str
    dialect: str
    path: str
    requests: list[Request] = field(repr=False)
    records: int
    """How many records of the conversation were read: messages, or parts where the format has those."""
    skipped: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    system: Any = field(default=None, repr=False)
    """The system prompt in the dialect's form, where the format records it."""
    tools: Any = field(default=None, repr=False)
    """The tool definitions, where the format records them."""
