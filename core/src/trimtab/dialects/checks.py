"""What the checks of several formats share: the violation, and faults of any wire value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Violation", "broken", "is_list"]


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule.

    ``rule`` is the format's number (A1…, C1…), ``role``, ``shape`` or ``surrogate``; ``where`` reads like
    ``messages[3].content[0]``. ``certain`` is False where the sources disagree or it depends on the model: never
    refuse on those.
    """

    rule: str
    where: str
    what: str
    certain: bool = True


def is_list(value: object) -> bool:
    """Whether a wire value is a list of blocks rather than a string."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def broken(value: object) -> bool:
    """Whether a lone surrogate stands anywhere in a wire value; such a request cannot be encoded."""
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if not item.isascii() and _unencodable(item):  # isascii looks at a flag, not at the text
                return True
        elif isinstance(item, Mapping):
            stack += item
            stack += item.values()
        elif isinstance(item, list | tuple):
            stack += item
    return False


def _unencodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
