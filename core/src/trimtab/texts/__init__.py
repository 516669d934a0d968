"""Texts that stand where content was: cuts between whole characters, names and lines, quotes, files, sizes in words.

For authors of stages; the kernel does not use it.
"""

from __future__ import annotations

from trimtab.texts.cutting import clean, clip, clipped, first, last, neutral
from trimtab.texts.files import cut, file_text
from trimtab.texts.known import Known
from trimtab.texts.lines import Piece, last_number, numbers_own, pieces
from trimtab.texts.names import names
from trimtab.texts.quoting import ARGUMENT, NAME, answers, called, flat, name_of, speaker, spelled
from trimtab.texts.record import brief, record, titled, told
from trimtab.texts.tokens import tokens, word
from trimtab.texts.words import SMALL, size, way, worth

__all__ = [
    "ARGUMENT",
    "NAME",
    "SMALL",
    "Known",
    "Piece",
    "answers",
    "brief",
    "called",
    "clean",
    "clip",
    "clipped",
    "cut",
    "file_text",
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
    "titled",
    "tokens",
    "told",
    "way",
    "word",
    "worth",
]
