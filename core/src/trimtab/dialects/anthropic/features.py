"""Request parameters for what the provider clears by itself, and the headers that its features need.

Field names and versions: the vendor's documentation on context editing, and its SDK 2.14.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["FEATURES", "extra"]

FEATURES = frozenset({"cache_edits", "compaction", "context_management", "drop_block"})

HEADERS = {
    "compaction": "compact-2026-09-04",
    "context_management": "context-management-2025-06-27",
    "drop_block": "thinking-binding-controls-2026-08-01",
}
TOOLS = "clear_tool_uses_20250919"
THINKING = "clear_thinking_20251015"


def extra(features: Mapping[str, Any]) -> dict[str, Any]:
    """See `Dialect.extra`; for the beta endpoint, the only one that knows these parameters.

    Of ``cache_edits`` a text is the value of its header. ``compaction`` says that the messages hold a summary of the
    provider's own, ``drop_block`` that it leaves out thinking which is bound to something else; what stands under
    ``thinking`` for that goes into the request's own. ``context_management`` has settings: ``thinking`` (``all``,
    or how many turns keep theirs), ``trigger`` (tokens of input), ``keep`` (calls), ``clear_at_least`` (tokens),
    ``exclude`` (names of tools that are not cleared) and ``inputs`` (names of those whose arguments are, too).
    """
    edits = _edits(features.get("context_management") or {})
    header = features.get("cache_edits")
    asked = {"context_management": edits, **{name: features.get(name) for name in ("compaction", "drop_block")}}
    betas = [HEADERS[name] for name, on in asked.items() if on]
    betas += [header] if isinstance(header, str) and header else []
    return {
        **({"context_management": {"edits": edits}} if edits else {}),
        **({"thinking": {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}} if asked["drop_block"] else {}),
        **({"betas": betas} if betas else {}),
    }


def _edits(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Thinking first: the provider asks for that."""
    edits: list[dict[str, Any]] = []
    if thinking := settings.get("thinking"):
        keep = thinking if thinking == "all" else {"type": "thinking_turns", "value": thinking}
        edits.append({"type": THINKING, "keep": keep})
    tools: dict[str, Any] = {
        key: {"type": kind, "value": settings[key]}
        for key, kind in (("trigger", "input_tokens"), ("keep", "tool_uses"), ("clear_at_least", "input_tokens"))
        if settings.get(key) is not None
    }
    for key, name in (("exclude", "exclude_tools"), ("inputs", "clear_tool_inputs")):
        if settings.get(key):
            tools[name] = list(settings[key])
    return [*edits, {"type": TOOLS, **tools}] if tools else edits
