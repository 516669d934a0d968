"""Latest wins: which of two statements about one subject still holds. Where it is doubtful, both do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from trimtab_constraints.occasions import differ
from trimtab_constraints.sentences import plain
from trimtab_constraints.subjects import FORBIDDING, REPLACING, subjects
from trimtab_constraints.words import AMOUNT, DATE, ZH_DATE, ZH_NUMBER

__all__ = ["Statement", "latest"]

T = TypeVar("T")

_VALUE = re.compile(
    r"(?P<hash>\b(?=[0-9a-f]*\d)(?=[0-9]*[a-f])[0-9a-f]{7,40}\b)"
    r"|(?P<address>(?<=\bis )https?://\S+)"
    r"|(?P<money>(?:[$€£¥]|usd |eur )\s?\d[\d,.]*\s?(?:k|m|bn)?\b)"
    rf"|(?P<bound>(?<=\bexceed )|(?<=\bunder )|(?<=\bbelow )|(?<=\bmost )|(?<=\bthan )|(?<=\bwithin )|(?<=\bto )"
    rf"|(?<=\bis )|(?<=\bof )|(?<=\bover )){AMOUNT}"
    rf"|(?P<day>(?<=\bby )|(?<=\bbefore )|(?<=\buntil )|(?<=\bis )|(?<=\bto )|(?<=\bon )(?=.*\bdue\b)"
    rf"|(?<=\bthan )){DATE}"
    r"|(?P<name>(?<=\bis )|(?<=\bcalled )|(?<=\bnamed )|(?<=\bto )|(?<=\bas )|(?<== ))[\"'`][^\"'`]+[\"'`]"
    rf"|(?P<zh>{ZH_DATE}|(?<=[过是为到在多]){ZH_NUMBER}+)",
    re.IGNORECASE,
)
"""What may change when the same is said again: amounts, days, quoted names behind "is" or "to", hashes, addresses."""
_LIMIT = re.compile(
    rf"(?:(?<=\bexceed )|(?<=\bunder )|(?<=\bbelow )|(?<=\bmost )|(?<=\bthan )|(?<=\bwithin )|(?<=\bover )"
    rf"|(?<=\bpast ))"
    rf"(?:{AMOUNT}|{DATE})|(?:(?<=\bby )|(?<=\bbefore )|(?<=\bafter )|(?<=\buntil )){DATE}"
    rf"|(?<=\bworking branch is )[\w./-]*\w|{ZH_DATE}(?=之?[前后])|(?<=超过){ZH_NUMBER}+",
    re.IGNORECASE,
)
"""The same where something is forbidden or allowed: limits only, for all else may be what it is about."""


@dataclass(frozen=True)
class Statement(Generic[T]):
    """What was said, of what kind, and what stands for it elsewhere."""

    text: str
    kind: str
    of: T

    @cached_property
    def said(self) -> str:
        """For matching."""
        return plain(self.text)

    @cached_property
    def masked(self) -> tuple[str, tuple[str, ...]]:
        """The sentence with its values masked, and the values."""
        bare = re.sub(r"\W+$", "", self.said.lower())
        value = _LIMIT if FORBIDDING.search(bare) or self.kind in ("permission", "prohibition") else _VALUE
        return value.sub("□", bare), tuple(found[0] for found in value.finditer(bare))

    @cached_property
    def subjects(self) -> dict[str, frozenset[str]]:
        """Subjects of which it states the value, with their scopes."""
        return subjects(self.said)

    @cached_property
    def replacing(self) -> bool:
        """Whether it says that something else held before."""
        return REPLACING.search(self.said) is not None


def latest(said: Iterable[Statement[T]]) -> list[Statement[T]]:
    """The statements that still hold, of those given in the order in which they were said."""
    held: list[Statement[T]] = []
    for new in said:
        held = [old for old in held if not (_again(old, new) or _replaced(old, new, held))]
        held.append(new)
    return held


def _again(old: Statement[T], new: Statement[T]) -> bool:
    """The same sentence, or the same but for one value."""
    (mask, values), (other, others) = old.masked, new.masked
    if (mask, len(values)) != (other, len(others)):
        return False
    return sum(one != two for one, two in zip(values, others, strict=True)) <= 1


def _replaced(old: Statement[T], new: Statement[T], held: list[Statement[T]]) -> bool:
    """Whether all subjects of which the old one states a value get one from the new one, for the same occasions."""
    return (
        bool(old.subjects)
        and all(name in new.subjects and _same(scope, name, new, held) for name, scope in old.subjects.items())
        and not differ(old.said, new.said, old.subjects)
    )


def _same(scope: frozenset[str], name: str, new: Statement[T], held: list[Statement[T]]) -> bool:
    """Equal scopes; or the new one says less, and that it replaces, and no third could be meant."""
    wanted = new.subjects[name]
    if scope == wanted:
        return True
    if not (wanted < scope and new.replacing):
        return False
    return len({one.subjects[name] for one in held if name in one.subjects}) == 1
