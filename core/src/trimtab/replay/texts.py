"""Texts of one session, each kept once, with an index by word: which of them hold a string verbatim."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field

__all__ = ["Texts", "holds"]

_WORD = re.compile(r"\w+")


def holds(text: str, part: str) -> bool:
    """Whether ``part`` stands in ``text`` verbatim, not inside longer words (``run_1`` in ``run_12``)."""
    at = text.find(part)
    while at >= 0:
        end = at + len(part)
        left = at == 0 or not (_wordy(text[at - 1]) and _wordy(part[0]))
        if left and (end == len(text) or not (_wordy(text[end]) and _wordy(part[-1]))):
            return True
        at = text.find(part, at + 1)
    return False


def _wordy(character: str) -> bool:
    return character.isalnum() or character == "_"


@dataclass(slots=True)
class _Found:
    """The texts known to hold one string, among the first ``upto``."""

    upto: int = 0
    numbers: list[int] = field(default_factory=list)


class Texts:
    """Numbered distinct texts. Each is searched once for a string, and only if the string's rarest word is in it."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}
        self._words: dict[str, list[int]] = {}
        self._found: dict[str, _Found] = {}

    def __getitem__(self, number: int) -> str:
        return self.texts[number]

    def add(self, text: str) -> int:
        """The number of ``text``, which is indexed if it is new."""
        number = self._numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
            for word in set(_WORD.findall(text)):
                self._words.setdefault(word, []).append(number)
        return number

    def holding(self, part: str) -> list[int]:
        """Numbers of the texts that hold ``part`` (which has a word in it), ascending; see `holds`."""
        found = self._found.setdefault(part, _Found())
        if found.upto < len(self.texts):
            postings = min((self._words.get(word, []) for word in _WORD.findall(part)), key=len)
            for number in postings[bisect_left(postings, found.upto) :]:
                if holds(self.texts[number], part):
                    found.numbers.append(number)
            found.upto = len(self.texts)
        return found.numbers
