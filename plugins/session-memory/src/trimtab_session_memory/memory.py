"""The memory as a note: its sections, and how much of the conversation they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trimtab import Note

from trimtab_session_memory.document import HEADINGS, Sections, parse, render

if TYPE_CHECKING:
    from trimtab.conversation import Message
    from trimtab.view import View

__all__ = ["KEY", "Memory", "note"]

KEY = "session-memory"


@dataclass(frozen=True, slots=True)
class Memory:
    """What the newest note on this path says."""

    sections: Sections
    start: int
    """The path position behind the last message that it covers: what stands from there on it does not know."""

    @classmethod
    def of(cls, view: View) -> Memory:
        """The memory of this path; an empty one where there is none, or none that can be read."""
        data = view.notes(KEY)
        text, upto = (data.get("text"), data.get("upto")) if isinstance(data, dict) else (None, None)
        if not (isinstance(text, str) and isinstance(upto, str) and view.on(upto)):
            return cls({}, 0)
        return cls(parse(text), view.projection.conversation.nodes[upto.partition(".")[0]].depth + 1)


def note(sections: Sections, upto: Message) -> Note:
    """The sections as a note that is valid where its last message is, with the headings that an edit may not change."""
    return Note(KEY, {"text": render(sections), "sections": list(HEADINGS), "upto": upto.id}, upto.id)
