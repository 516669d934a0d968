"""Texts that stand where content was: cuts between whole characters, names and lines, sizes in words.

For authors of stages; the kernel does not use it.
"""

from __future__ import annotations

from trimtab.texts.cutting import clean, clip, first, last, neutral
from trimtab.texts.known import Known
from trimtab.texts.lines import Piece, last_number, numbers_own, pieces
from trimtab.texts.names import names
from trimtab.texts.tokens import tokens, word
from trimtab.texts.words import NAME, name_of, size

__all__ = [
    "NAME",
    "Known",
    "Piece",
    "clean",
    "clip",
    "first",
    "last",
    "last_number",
    "name_of",
    "names",
    "neutral",
    "numbers_own",
    "pieces",
    "size",
    "tokens",
    "word",
]
