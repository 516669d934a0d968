"""What the kernel needs to know of a wire format. A dialect is a stateless object registered as ``dialect.NAME``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from trimtab.conversation import Block, Message, Role, Wire
from trimtab.edits import Repair

__all__ = ["Call", "Count", "Dialect", "Refusal", "Tool", "Usage"]

Count = Callable[[str], int]
"""Uncalibrated tokens of a text."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the provider reported for one request, in tokens. ``output`` may be unreliable."""

    read: float
    written: float
    fresh: float
    output: float
    model: str = ""
    """The model that answered, where the response says so."""
    split: bool = True
    """Whether it is told what was read and written; if not, all input is ``fresh`` and says nothing of the cache."""
    deleted: float = 0.0
    """Of the input, what evictions have deleted from the cache so far."""
    cleared: float = 0.0
    """What the provider cleared by itself for this request, as a parameter asked; not part of the input."""

    @property
    def total(self) -> float:
        """The size of the request: all input fields."""
        return self.read + self.written + self.fresh

    @property
    def seen(self) -> float:
        """What the model was shown of it."""
        return max(0.0, self.total - self.deleted)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the provider refused a request, as far as a smaller or simpler one can help."""

    kind: Literal["bytes", "feature", "thinking", "tokens", "unknown"]
    """Too many tokens or bytes, a ``feature`` that it does not offer, thinking that it does not know again, or a bad
    request in words that nobody knows."""
    tokens: float = 0.0
    """The size of the request as told; 0 where it was not."""
    limit: float = 0.0
    """The most it takes, as told; 0 where it was not."""
    feature: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a stage offers the model; ``schema`` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A model's call of a tool."""

    id: str
    name: str
    input: Mapping[str, Any]


class Dialect(Protocol):
    """Parse, render, repair, validate, and the cost facts of one wire format."""

    name: str
    apart: frozenset[tuple[str | None, str]]
    """Roles that an edit may not make neighbours (None: the start of the view)."""
    features: frozenset[str]
    """The server features that `extra` and `evicting` can ask for, as the profile's ``provider`` names them."""

    def plain(self, wire: Any) -> Wire:
        """A structural copy without cache markers; raises `TypeError` on what is not a message."""

    def parse(self, wire: Wire, id: str) -> tuple[Role, tuple[Block, ...]]:
        """The role and blocks of a plain message; block ids are ``id.0``, ``id.1`` and so on."""

    def size(self, block: Block, count: Count) -> int:
        """Uncalibrated tokens of one block, media by their pixels and pages."""

    def canonical(self, plain: Wire) -> Wire:
        """The one spelling of a plain message by which it is known (content as a string or as blocks, nulls or not)."""

    def bare(self, part: Any) -> Any:
        """A structural copy of a system text or a list of tools, without cache markers."""

    def head(self, system: Any, tools: Any, count: Count) -> int:
        """Uncalibrated tokens of system text and tool definitions."""

    def render(self, message: Message, faces: Mapping[int, str | None]) -> Wire:
        """The message with some blocks shown as other text, or (None) left out."""

    def rebuild(self, message: Message, blocks: Sequence[Any], faces: Mapping[int, str | None]) -> Wire:
        """The message with these wire blocks instead of its own; ``faces`` as in `render`, for blocks still in it."""

    def marked(self, wire: Wire, handed: Any) -> Wire:
        """A copy of a rendered message with the cache markers of the one handed in (None: without)."""

    def user(self, parts: Sequence[Any]) -> Wire:
        """A new user-voice message of texts (str) and wire blocks."""

    def carry(self, block: Block, text: str) -> list[Any]:
        """The wire blocks that carry a pinned block (or just ``text`` of it) into a user-voice message."""

    def system(self, system: Any, texts: Sequence[str]) -> Any:
        """The system parameter with texts appended; as it is where `instruction` makes messages of them."""

    def instruction(self, text: str) -> Wire | None:
        """A message with system text, where the format has no parameter for it; else None."""

    def repair(self, path: Sequence[Message], start: int) -> list[Repair]:
        """What must change in ``path[start:]`` for the provider to accept it; ``start`` begins an exchange."""

    def validate(self, messages: Sequence[Wire]) -> Sequence[Any]:
        """Violations of the provider's rules, in order."""

    def usage(self, response: Any) -> Usage | None:
        """The usage in a response object, a response mapping or a bare usage mapping; None where there is none."""

    def breaks_all(self, block: Block) -> bool:
        """Whether showing or hiding this block costs the cache of all messages (R18)."""

    def refusal(self, error: Any) -> Refusal | None:
        """What an error (an exception, a body, a text, or an empty response) says of the request; None: nothing."""

    def tag(self, wire: Wire, text: str) -> Wire | None:
        """A copy of a user-role message that ends with ``text``: its last text, else its last result; None: neither."""

    def untag(self, wire: Wire, pattern: re.Pattern[str]) -> tuple[Wire, str] | None:
        """The message without what `tag` appended, and that; None where its end does not match ``pattern``."""

    def tools(self, tools: Any, added: Sequence[Tool]) -> Any:
        """The list of tools with others behind it, but for those it has by name; the same object if none is new."""

    def tool_names(self, tools: Any) -> tuple[str, ...]:
        """The names of the tools in a list."""

    def call(self, block: Any) -> Call | None:
        """A call as it came in an answer; None where it is none."""

    def result(self, call: str, text: str, error: bool) -> Wire:
        """The result of a call as it is sent back."""

    def evicting(self, messages: Sequence[Any], deletions: Mapping[int, Sequence[str]]) -> list[Any]:
        """The messages with what makes results deletable, and the deletions: position to the ids of calls."""

    def without_edits(self, message: Any) -> Any:
        """A message without what `evicting` added; the same object where it has none."""

    def extra(self, features: Mapping[str, Any]) -> dict[str, Any]:
        """Further arguments of the request for these features: name to settings."""
