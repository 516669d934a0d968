"""`find`: the standing instructions in a text that a user typed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast, get_args

from trimtab_constraints import chinese, english, stories
from trimtab_constraints.labels import label
from trimtab_constraints.sentences import LONG, Sentence, listed, plain, sentences
from trimtab_constraints.subjects import subjects
from trimtab_constraints.typed import typed

__all__ = ["KINDS", "MOST", "Found", "Kind", "find"]

Kind = Literal[
    "cap",
    "change",
    "conditional",
    "deadline",
    "format",
    "labelled",
    "permission",
    "precondition",
    "preference",
    "prohibition",
    "standing",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

MOST = 40
"""Instructions found in one message; of more the first. Chosen."""
DOCUMENT = 4_000
"""Characters of prose from which on a text counts as a document, in which, but at its edges, only labelled rules and
what says that it holds on are found. Chosen: in the recorded sessions nothing that a person typed is longer."""
EDGE = 500
"""Characters at each end of a document that were typed around what was pasted; with headings, only before the first.
Chosen."""
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_CODE = re.compile(r"[{}\[\]=\\]|;\s*$|\w\(|//|(?:^|\s)#")
_QUOTED = re.compile(r"`[^`\n]*`|\"[^\"\n]{3,}\"|“[^”\n]{3,}”")


@dataclass(frozen=True, slots=True)
class Found:
    """One standing instruction: ``text`` is ``message[start:end]``, verbatim."""

    text: str
    start: int
    end: int
    kind: Kind


def find(text: str) -> list[Found]:
    """The standing instructions in a user's text, in order, at most `MOST`; time is linear in its length."""
    prose = typed(text)
    first, last = _document(prose)
    found: list[Found] = []
    for piece in _pieces(prose):
        kind = _kind(prose[piece.start : piece.end], piece, document=first < piece.end and piece.start < last)
        end = listed(prose, piece.end) if prose[piece.end - 1] in ":：" else piece.end
        if kind is None or (found and piece.start < found[-1].end) or prose[end - 1] in ":：":
            continue
        found.append(Found(text[piece.start : end], piece.start, end, kind))
        if len(found) == MOST:
            break
    return found


def _document(prose: str) -> tuple[int, int]:
    """Where in a text the pasted document lies; nowhere where the text is none."""
    start, end = len(prose) - len(prose.lstrip()), len(prose.rstrip())
    heading = _HEADING.search(prose)
    if len(_HEADING.findall(prose)) >= 3 and heading:
        return min(heading.start(), start + EDGE), end
    if sum(map(len, prose.split())) > DOCUMENT:
        return start + EDGE, end - EDGE
    return end, end


def _pieces(prose: str) -> Iterator[Sentence]:
    """The sentences; one with a label together with what follows it in its line."""
    held: Sentence | None = None
    for piece in sentences(prose):
        said = prose[held.start : piece.end] if held else ""
        if held and "\n" not in said.strip() and len(said) <= LONG and not label(plain(prose[piece.start : piece.end])):
            held = Sentence(held.start, piece.end)
            continue
        if held:
            yield held
        held = piece if label(plain(prose[piece.start : piece.end])) else None
        if held is None:
            yield piece
    if held:
        yield held


def _kind(piece: str, sentence: Sentence, *, document: bool) -> Kind | None:
    said = plain(piece)
    if len(said) < 4 or len(said) > LONG or not re.search(r"[^\W\d_]{2}", said):
        return None
    marked = label(said)
    if marked:
        return "labelled" if marked.rule or not document else None
    if document:
        return "standing" if stories.STANDING.search(said) and _judged(said) else None
    return _judged(said) or ("standing" if sentence.ruled else None)


def _judged(said: str) -> Kind | None:
    """The first kind that fits; words in quotes are not the user's."""
    said = _QUOTED.sub("□", said)
    if _HAN.search(said):
        kinds = {} if chinese.REJECTED.search(said) else chinese.KINDS
        bare = said
    else:
        bare = stories.bare(said)
        if stories.polite(bare):
            return "standing"
        kinds = {} if stories.told(said) else english.KINDS
    kind = next((kind for kind, pattern in kinds.items() if pattern.search(bare)), None)
    if kind is None and kinds and not _CODE.search(bare) and subjects(said):
        return "change"
    return cast("Kind | None", kind)
