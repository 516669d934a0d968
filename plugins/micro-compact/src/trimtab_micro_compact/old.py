"""Walking the view: what was dealt with before is passed over at once, and nothing is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from trimtab.texts import SMALL

from trimtab_micro_compact.options import Form, MicroOptions

if TYPE_CHECKING:
    from trimtab.conversation import Message
    from trimtab.projection import Item
    from trimtab.view import Result, View

__all__ = ["goes", "places", "waiting"]

ERROR = 1_000
"""Characters: what a failing tool said stays up to this size, for it tells what not to try again (chosen)."""


def places(items: Iterable[Item]) -> Iterator[tuple[Message, int]]:
    """Results, images and documents of the user's voice: a message and a position in it."""
    for item in items:
        message = item.message
        if message is not None and message.role == "user":
            for n, block in enumerate(message.blocks):
                if block.type in ("document", "image", "tool_result"):
                    yield message, n


def waiting(view: View, done: str) -> Iterator[tuple[Message, int, str]]:
    """What could be shortened, oldest first, with the text that is shown of it.

    That is: shown media, and texts over `SMALL` characters that do not begin with ``done``, as those we left do; and
    nothing that was evicted, whose text is known already.
    """
    faces, evicted = view.projection.state.faces, view.projection.state.evicts
    for message, n in places(view.messages):
        block = message.blocks[n]
        if block.id in evicted:
            continue
        face = faces.get(block.id)
        shown = block.text if face is None else face.text or ""
        if (len(shown) > SMALL and not shown.startswith(done)) or (face is None and block.media):
            yield message, n, shown


def goes(result: Result, options: MicroOptions, form: Form | None = None) -> bool:
    """Whether a result is of a tool whose results go (in another form than the profile's), and no short error."""
    return options.goes(result.tool, result.tool_class, form) and not (result.error and len(result.text) <= ERROR)
