"""How many blocks show a name once the edits of a pass are made: what they hide no longer shows all its names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from trimtab.texts.tokens import tokens, word

__all__ = ["Known"]


class Known:
    """Counts as ``shown`` (`View.shown`) does, less what `forget` was told of: ask before the first edit is made.

    So a name that only texts of one pass show stays in the last of them.
    """

    def __init__(self, shown: Callable[[str], int]) -> None:
        self._shown = shown
        self._hidden: Counter[str] = Counter()

    def __call__(self, name: str) -> int:
        """How many blocks will show the name."""
        return self._shown(name) - self._hidden[name]

    def forget(self, text: str, shown: str) -> None:
        """``shown`` will stand where the view shows ``text``."""
        self._hidden.update(map(word, set(tokens(text)).difference(tokens(shown))))
