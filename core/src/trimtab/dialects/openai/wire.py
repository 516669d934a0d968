"""The wire blocks of a chat message, and messages made of wire blocks.

The format has fields where the kernel has blocks, so each block has a small form of its own, from which any message
can be made again:

- a content part is itself; a content that is a string is one text part;
- reasoning is ``{"reasoning_content": …}`` (or ``reasoning``, or both), the fields as they stand in the message;
- a call is ``{"tool_call": entry of tool_calls}``, the old kind ``{"function_call": …}``;
- a result is its whole message, since a message of role tool is nothing else. So is, in a repair, a message that
  stands in the place of another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trimtab.conversation import Wire

__all__ = [
    "REASONING",
    "RESULTS",
    "blocks_of",
    "call_of",
    "compose",
    "is_message",
    "is_thought",
    "parts_of",
    "text_part",
]

RESULTS = ("function", "tool")
"""Roles of messages that are results; ``function`` is the old one, whose calls have no id."""

REASONING = ("reasoning_content", "reasoning")
"""Fields that hold what a model thought, as text; servers use one or the other."""


def text_part(text: str) -> dict[str, Any]:
    """A text as a content part."""
    return {"type": "text", "text": text}


def parts_of(message: Wire) -> list[Any]:
    """The content as parts; an empty string is none."""
    content = message.get("content")
    if isinstance(content, str):
        return [text_part(content)] if content else []
    return list(content or ())


def blocks_of(message: Wire) -> list[Any]:
    """The wire blocks of a plain message, in the order in which a model writes them."""
    if message.get("role") in RESULTS:
        return [message]
    if message.get("role") != "assistant":
        return parts_of(message)
    thought = _thought(message)
    calls = [{"tool_call": entry} for entry in message.get("tool_calls") or ()]
    legacy = [{"function_call": message["function_call"]}] if message.get("function_call") else []
    return [*([thought] if thought else []), *parts_of(message), *calls, *legacy]


def _thought(message: Wire) -> dict[str, str]:
    return {key: text for key in REASONING if isinstance(text := message.get(key), str) and text}


def is_message(block: Wire) -> bool:
    """Whether a wire block is a whole message."""
    return "role" in block and "type" not in block


def is_thought(block: Wire) -> bool:
    """Whether a wire block is a message's reasoning."""
    return bool(block) and block.keys() <= {*REASONING}


def _is_part(block: Wire) -> bool:
    return block.keys() not in ({"tool_call"}, {"function_call"}) and not is_thought(block)


def call_of(block: Wire) -> tuple[str, str, Any] | None:
    """Id, name and arguments (free text of a custom tool) of a call; None of any other wire block."""
    if block.keys() == {"function_call"}:
        function = _object(block["function_call"])
        name = str(function.get("name") or "")
        return name, name, function.get("arguments")
    if block.keys() != {"tool_call"}:
        return None
    entry, custom = block["tool_call"], _object(block["tool_call"].get("custom"))
    function = _object(entry.get("function")) or custom
    id = entry.get("id")
    said = custom.get("input") if function is custom else function.get("arguments")
    return id if isinstance(id, str) else "", str(function.get("name") or ""), said


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def compose(said: Wire, blocks: Sequence[Any]) -> Wire:
    """The message with these wire blocks instead of its own; its other fields stay.

    Where reasoning is left out beside calls the key stays, empty: DeepSeek V4 and Kimi ask for it there.
    """
    for block in blocks:
        if is_message(block):
            whole: Wire = block
            return whole
    message = dict(said)
    parts = [block for block in blocks if _is_part(block)]
    if parts != parts_of(said):
        message["content"] = _content(said, parts)
    if said.get("role") != "assistant":
        return message
    calls = [block["tool_call"] for block in blocks if block.keys() == {"tool_call"}]
    if calls != list(said.get("tool_calls") or ()):
        message["tool_calls"] = calls
        if not calls:
            del message["tool_calls"]
    for block in blocks:
        if block.keys() == {"function_call"}:
            message["function_call"] = block["function_call"]
    before: dict[str, str] = _thought(said)
    after: Wire = next(filter(is_thought, blocks), {})
    for key in before.keys() - after.keys():
        del message[key]
    if "reasoning_content" in before and (calls or message.get("function_call")):
        message["reasoning_content"] = ""
    return {**message, **after}


def _content(said: Wire, parts: list[Any]) -> Any:
    """Parts stay parts; what was a string stays one where it can, since some servers take nothing else."""
    if isinstance(said.get("content"), list) or any(part.keys() != {"type", "text"} for part in parts):
        return parts
    return "\n\n".join(part["text"] for part in parts)
