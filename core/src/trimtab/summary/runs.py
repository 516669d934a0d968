"""What there is to know of a run of the view: its rounds, what follows it, what a fold of it would free."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trimtab.conversation import Message
    from trimtab.projection import Item
    from trimtab.view import View

__all__ = ["counted", "following", "mended", "unpinned"]


def counted(view: View, run: Sequence[Item]) -> str:
    """How many rounds a run stands for in words, those of earlier folds in it too."""
    start = run[0].end - len(run[0].covers)
    count = len(set(view.projection.rounds[start : run[-1].end]) - {-1})
    return f"{count} round{'s' * (count != 1)}"


def following(view: View, run: Sequence[Item]) -> list[Item]:
    """The messages of the view behind a run, without what stages inserted."""
    return [item for item in view.messages if item.covers and item.start >= run[-1].end]


def unpinned(view: View) -> Callable[[Item], int]:
    """How many uncalibrated tokens a fold of an item would free: all that is not pinned, for pins are carried."""
    pinned: Counter[str] = Counter()
    for pin in view.pins:
        id, _, n = pin.block.partition(".")
        size = view.projection.conversation.nodes[id].sizes[int(n)]
        pinned[id] += view.projection.conversation.count(pin.text) if pin.text else size
    return lambda item: max(0, item.tokens - sum(pinned[id] for id in item.covers if id in pinned))


def mended(view: View) -> set[int]:
    """Path positions across which a repair may have moved a call's result: no fold begins there."""
    projection, found, inside = view.projection, set[int](), False

    def moved(message: Message) -> bool:
        repair = projection.state.repairs.get(message.id)
        if repair is None:
            return False
        _, blocks = projection.dialect.parse(projection.dialect.rebuild(message, repair.blocks, {}), "")
        return [block.call for block in blocks] != [block.call for block in message.blocks]

    for message in reversed(projection.path):
        inside = message.role != "assistant" and (inside or moved(message))
        found |= {message.depth} if inside else set()
    return found
