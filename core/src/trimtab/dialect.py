"""What the kernel needs to know of a wire format. A dialect is a stateless object registered as ``dialect.NAME``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from trimtab.conversation import Block, Message, Role, Wire
from trimtab.edits import Repair

__all__ = ["Count", "Dialect", "Usage"]

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

    @property
    def total(self) -> float:
        """The size of the request: all input fields."""
        return self.read + self.written + self.fresh


class Dialect(Protocol):
    """Parse, render, repair, validate, and the cost facts of one wire format."""

    name: str
    apart: frozenset[tuple[str | None, str]]
    """Roles that an edit may not make neighbours (None: the start of the view)."""

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
