"""Where the provider deletes results from its cache: the oldest go once there are too many, and no cache is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trimtab import Evict
from trimtab.texts import name_of

from trimtab_micro_compact import texts
from trimtab_micro_compact.cleared import placeholder
from trimtab_micro_compact.media import large
from trimtab_micro_compact.old import waiting
from trimtab_micro_compact.options import MicroOptions

if TYPE_CHECKING:
    from trimtab.view import View

__all__ = ["evict"]


def evict(view: View, options: MicroOptions) -> Iterator[Evict]:
    """Once more than ``trigger`` results could go, all but the newest ``keep``: of these, what the cache holds."""
    path = view.projection.path
    if path[-1].role != "user":
        return  # there is no message to send the deletions with
    pinned, restored, live = {pin.block for pin in view.pins}, view.restored, []
    for message, n, shown in waiting(view, texts.CLEARED):
        block = message.blocks[n]
        if block.type != "tool_result" or block.id in pinned or message.id in restored:
            continue
        result = view.result(message, block)
        text = placeholder(result, shown, options, heavy=large(view, message, n, options.media))
        if text and not result.replaced:
            live.append((result, text))
    if len(live) <= options.most_live:
        return
    for result, text in live[: len(live) - options.keep]:
        if result.sent and result.message.depth < view.held:
            yield Evict(result, text, f"{name_of(result.tool)}: old")
