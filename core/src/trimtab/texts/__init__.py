"""Texts that stand where content was: cuts between whole characters, names and lines, quotes, sizes in words.

For authors of stages; the kernel does not use it.
"""

from __future__ import annotations

from trimtab.texts.cutting import clean, clip, first, last, neutral
from trimtab.texts.known import Known
from trimtab.texts.lines import Piece, last_number, numbers_own, pieces
from trimtab.texts.names import names
from trimtab.texts.quoting import ARGUMENT, answers, called, flat, speaker, spelled
from trimtab.texts.record import record
from trimtab.texts.tokens import tokens, word
from trimtab.texts.words import NAME, name_of, size

__all__ = [
    "ARGUMENT",
    "NAME",
    "Known",
    "Piece",
    "answers",
    "called",
    "clean",
    "clip",
    "first",
    "flat",
    "last",
    "last_number",
    "name_of",
    "names",
    "neutral",
    "numbers_own",
    "pieces",
    "record",
    "size",
    "speaker",
    "spelled",
    "tokens",
    "word",
]
