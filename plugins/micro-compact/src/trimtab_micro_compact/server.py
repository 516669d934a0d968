"""Where the provider clears old results by itself: the settings that it is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from trimtab import Param
from trimtab.toolclass import classify

from trimtab_micro_compact.options import MicroOptions

if TYPE_CHECKING:
    from trimtab.view import View

__all__ = ["FEATURE", "manage", "settings"]

FEATURE = "context_management"

SHARE = 0.9
"""Of the size at which summaries are made (``thresholds.auto``): results go before all else does."""


def manage(view: View, options: MicroOptions) -> Iterator[Param]:
    """The settings, unless the provider has them: they change only with the tools on offer, or other options."""
    wanted = settings(view, options)
    if view.projection.state.params.get(FEATURE) != wanted:
        yield Param(FEATURE, wanted, "the provider clears old results")


def settings(view: View, options: MicroOptions) -> dict[str, Any]:
    """What `Param` takes: ``trigger`` and ``clear_at_least`` in tokens, ``keep`` in results, tools by name.

    ``thinking`` is None until the conversation holds some: the provider refuses the word in a request without it.
    """
    server = options.server
    trigger = min(server.trigger, int(SHARE * view.window.auto))
    thinks = any(block.type == "thinking" for message in view.projection.path for block in message.blocks)
    classes = {tool: classify(tool, {}, view.context.tools) for tool in sorted(view.tool_names)}
    goes = [tool for tool, kind in classes.items() if options.goes(tool, kind, "cleared")]
    return {
        "thinking": server.thinking if thinks else None,
        "trigger": trigger,
        "keep": options.keep,
        "clear_at_least": server.clear_at_least * trigger // server.trigger,
        "exclude": [tool for tool in classes if tool not in goes],
        "inputs": [tool for tool in goes if classes[tool] in server.inputs],
    }
