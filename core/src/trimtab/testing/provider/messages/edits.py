"""``context_management``: what the server clears by itself before the model sees the request.

``compact_20260112`` is not supported by this double and answered 400. A thinking turn is all answers between two
messages of the user that are not only tool results.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trimtab.testing.provider.endpoint import Refused
from trimtab.testing.provider.messages.errors import extra
from trimtab.testing.provider.messages.parse import Block, Prompt
from trimtab.testing.provider.settings import Settings

__all__ = ["HEADER", "apply"]

HEADER = "context-management-2025-06-27"
TOOLS = "clear_tool_uses_20250919"
THINKING = "clear_thinking_20251015"
CLEARED = "[Old tool result content cleared]"
TRIGGER, KEEP = 100_000, 3
"""Defaults of ``clear_tool_uses``: input tokens, and calls that stay."""
FIELDS = {
    TOOLS: ("type", "trigger", "keep", "clear_at_least", "exclude_tools", "clear_tool_inputs"),
    THINKING: ("type", "keep"),
}

Weigh = Callable[[Block], int]


def apply(prompt: Prompt, settings: Settings, weigh: Weigh, size: int) -> list[dict[str, Any]] | None:
    """Clear what the request asks for, in place; returns the applied edits, None where it asks for nothing.

    ``size``: its tokens before. Raises `Refused` without the beta header and for what the API does not know.
    """
    said = prompt.body.get("context_management")
    if said is None:
        return None
    if HEADER not in prompt.betas or not settings.context_management:
        raise extra("context_management")
    edits = said.get("edits") or []
    applied = []
    for index, edit in enumerate(edits):
        path, kind = f"context_management.edits.{index}", edit.get("type")
        if kind not in FIELDS:
            message = f"{kind} is not supported by this provider double"
            raise Refused(400, message, where=path)
        for name in edit:
            if name not in FIELDS[kind]:
                raise extra(f"{path}.{kind}.{name}")
        if kind == THINKING and index:
            raise Refused(400, f"`{THINKING}` must be the first edit", where=path)
        entry = _tools(prompt, edit, weigh, size) if kind == TOOLS else _thinking(prompt, edit, weigh)
        applied += [entry] if entry else []
    return applied


def _tools(prompt: Prompt, edit: Mapping[str, Any], weigh: Weigh, size: int) -> dict[str, Any] | None:
    """Clear the results of all but the newest calls, once the trigger is reached."""
    calls = [block for block in prompt.blocks if block.type == "tool_use"]
    trigger = edit.get("trigger") or {"type": "input_tokens", "value": TRIGGER}
    reached = len(calls) if trigger.get("type") == "tool_uses" else size
    keep = (edit.get("keep") or {}).get("value", KEEP)
    old = calls[: max(0, len(calls) - keep)] if reached > trigger.get("value", TRIGGER) else []
    old = [call for call in old if call.data.get("name") not in (edit.get("exclude_tools") or ())]
    results = {block.data.get("tool_use_id"): block for block in prompt.blocks if block.type == "tool_result"}
    inputs = edit.get("clear_tool_inputs") or ()
    before, cleared, undo = 0, 0, []
    for call in old:
        blocks = [results[call.data["id"]]] if call.data["id"] in results else []
        blocks += [call] if inputs is True or (inputs and call.data.get("name") in inputs) else []
        for block in blocks:
            before += weigh(block)
            undo.append((block, block.shown))
            block.shown = {**block.data, **({"input": {}} if block is call else {"content": CLEARED})}
            cleared += weigh(block)
    freed = before - cleared
    least = (edit.get("clear_at_least") or {}).get("value", 0)
    if not old or freed < max(least, 1):
        for block, shown in undo:
            block.shown = shown
        return None
    return {"type": TOOLS, "cleared_input_tokens": freed, "cleared_tool_uses": len(old)}


def _thinking(prompt: Prompt, edit: Mapping[str, Any], weigh: Weigh) -> dict[str, Any] | None:
    """Clear the thinking of all but the newest turns that have any."""
    default = "all" if _keeps(prompt.model) else {"type": "thinking_turns", "value": 1}
    keep: Any = edit.get("keep") or default
    if keep == "all" or keep.get("type") == "all":
        return None
    if keep.get("value", 0) < 1:
        raise Refused(400, "Input should be greater than or equal to 1", where="context_management.edits.0.keep.value")
    turns = [turn for turn in _thought(prompt) if turn]
    old = turns[: max(0, len(turns) - keep["value"])]
    freed = sum(weigh(block) for turn in old for block in turn)
    for turn in old:
        for block in turn:
            block.shown = None
    entry = {"type": THINKING, "cleared_input_tokens": freed, "cleared_thinking_turns": len(old)}
    return entry if old else None


def _thought(prompt: Prompt) -> Sequence[list[Block]]:
    """The thinking blocks of each turn that are still shown."""
    turns: list[list[Block]] = [[]]
    for message in prompt.messages:
        if message.role == "user" and any(block.type != "tool_result" for block in message.blocks):
            turns.append([])
        turns[-1] += [block for block in message.of("thinking", "redacted_thinking") if block.shown is not None]
    return turns


def _keeps(model: str) -> bool:
    """Whether a model keeps the thinking of all turns by default; unknown ones do."""
    found = re.search(r"(opus|sonnet|haiku)-(\d+)(?:-(\d{1,2}))?(?!\d)", model)
    if not found:
        return True
    version = (int(found[2]), int(found[3] or 0))
    return version >= {"opus": (4, 5), "sonnet": (4, 6), "haiku": (4, 6)}[found[1]]
