"""What was done in a conversation, as said: calls with their results, and whether the view still shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trimtab.texts import spelled
from trimtab.toolclass import ToolClass, classify, path_of

if TYPE_CHECKING:
    from trimtab.conversation import Block, Message
    from trimtab.view import View

__all__ = ["Deed", "history", "visible"]


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


def visible(view: View) -> Callable[[Message, Block], bool]:
    """Tells whether the view shows a block as it was said: where it was said, or as a pin behind a summary."""
    state = view.projection.state
    messages = {item.message.id for item in view.messages if item.message}
    pinned = {pin.block for item in view.messages if item.fold for pin in item.fold.pins if not pin.text}

    def shows(message: Message, block: Block) -> bool:
        hidden = block.id in state.faces or block.id in state.evicts
        return block.id in pinned or (message.id in messages and not hidden)

    return shows


def history(view: View) -> list[Deed]:
    """All calls that were answered, in the order of their results."""
    shows, patterns = visible(view), view.context.tools
    messages = {item.message.id for item in view.messages if item.message}
    calls: dict[str, tuple[Message, Block]] = {}
    found = []
    for message in view.projection.path:
        for block in message.blocks:
            if block.type == "tool_use":
                calls[block.call] = (message, block)
            elif block.type == "tool_result" and block.call in calls:
                asked, call = calls.pop(block.call)
                kind = classify(call.name, call.input, patterns)
                shown = shows(message, block) and (shows(asked, call) or asked.id not in messages)
                found.append(Deed(call, block, kind, shown, asked.id in messages, message.depth))
    return found
