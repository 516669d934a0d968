"""What was done in a conversation, as said: calls with their results, and whether the view still shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trimtab.texts import spelled
from trimtab.toolclass import ToolClass, classify, path_of

if TYPE_CHECKING:
    from trimtab.conversation import Block, Message
    from trimtab.view import View

__all__ = ["Deed", "history"]


@dataclass(frozen=True, slots=True)
class Deed:
    """A call and its result."""

    call: Block
    result: Block
    kind: ToolClass
    shown: bool
    """Whether the view shows both as they were said."""
    named: bool
    """Whether the view shows the call at all."""
    at: int
    """The place of the result's message on the path."""

    @property
    def path(self) -> str | None:
        """The file that the call names."""
        return path_of(self.call.input)

    @property
    def words(self) -> str:
        """All that the call says."""
        return "\n".join(map(spelled, self.call.input.values()))


def history(view: View) -> list[Deed]:
    """All calls that were answered, in the order of their results."""
    messages = {item.message.id for item in view.messages if item.message}
    calls: dict[str, tuple[Message, Block]] = {}
    found = []
    for message in view.projection.path:
        for block in message.blocks:
            if block.type == "tool_use":
                calls[block.call] = (message, block)
            elif block.type == "tool_result" and block.call in calls:
                asked, call = calls.pop(block.call)
                kind = classify(call.name, call.input, view.context.tools)
                shown = bool(view.holds(block)) and (bool(view.holds(call)) or asked.id not in messages)
                found.append(Deed(call, block, kind, shown, asked.id in messages, message.depth))
    return found
