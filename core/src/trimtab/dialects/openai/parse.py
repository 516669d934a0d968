"""From chat messages to blocks: plain copies, one spelling, kinds, texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trimtab.conversation import Block, BlockType, Role, Wire
from trimtab.dialects.openai.wire import blocks_of, call_of, is_message, is_thought, parts_of
from trimtab.dialects.wires import copied, fields_of

__all__ = ["arguments", "bare", "canonical", "markers", "parse", "plain", "result_text"]

FORGED = {"function_call", "reasoning", "reasoning_content", "role", "tool_call"}
"""Fields of our own wire blocks (`trimtab.dialects.openai.wire`), none of which has a type."""

FOREIGN = ("redacted_thinking", "thinking", "tool_result", "tool_use")
"""Types of blocks of another format; read as unknown parts, their calls and results would be lost."""

MARKERS = ("cache_control", "prompt_cache_breakpoint")
_ROLES: dict[str, Role] = {"assistant": "assistant", "developer": "system", "system": "system"}
_TYPES: dict[str, BlockType] = {"file": "document", "image_url": "image", "text": "text"}


def plain(wire: Any) -> Wire:
    """A structural copy of a message without cache markers; SDK objects become mappings.

    Markers are taken off the message and its content parts. Strings are shared, so the copy of a long one is cheap.
    """
    message = fields_of(wire)
    if not isinstance(message.get("role"), str):
        raise TypeError("a message needs a role")
    content, calls = message.get("content"), message.get("tool_calls")
    if not isinstance(content, (str, list, tuple)) and content is not None:
        raise TypeError("content must be a string or a list of parts")
    if not isinstance(calls, (list, tuple)) and calls is not None:
        raise TypeError("tool_calls must be a list")
    copy = {key: copied(value) for key, value in message.items() if key not in (*MARKERS, "content", "tool_calls")}
    if "content" in message:
        parts = [_unmarked(one) for one in content] if isinstance(content, (list, tuple)) else None
        if any("type" not in part and not FORGED.isdisjoint(part) for part in parts or ()):
            raise TypeError("a content part without a type, with fields of a message")  # it would pass for one of ours
        copy["content"] = content if parts is None else parts
        if any(isinstance(part, dict) and part.get("type") in FOREIGN for part in parts or ()):
            raise TypeError(
                "calls, results or thinking among the content, as Anthropic's messages have them; say "
                "provider.kind: anthropic"
            )
    if "tool_calls" in message:
        copy["tool_calls"] = calls if calls is None else [copied(fields_of(call)) for call in calls]
    return copy


def _unmarked(part: Any) -> dict[str, Any]:
    return {key: copied(value) for key, value in fields_of(part).items() if key not in MARKERS}


def bare(part: Any) -> Any:
    """A structural copy of a system text or a list of tools without cache markers."""
    return [_unmarked(one) for one in part] if isinstance(part, (list, tuple)) else copied(part)


def markers(wire: Any) -> dict[int, dict[str, Any]]:
    """The cache markers of a message's parts, by position; those of the message itself at -1."""
    message = fields_of(wire)
    content = message.get("content")
    parts = map(fields_of, content if isinstance(content, (list, tuple)) else ())
    found = {n: {key: part[key] for key in MARKERS if part.get(key)} for n, part in enumerate(parts)}
    found[-1] = {key: message[key] for key in MARKERS if message.get(key)}
    return {n: marks for n, marks in found.items() if marks}


def canonical(plain: Wire) -> Wire:
    """One spelling of a plain message: content as parts, no fields that are null, no empty list of calls.

    Clients change from one to the other: for a marker a string becomes a part, a reloaded answer has nulls.
    """
    fields = _spelled(plain)
    fields["content"] = [_spelled(part) for part in parts_of(plain)]
    if calls := fields.pop("tool_calls", None):
        fields["tool_calls"] = [_spelled(call) for call in calls]
    return fields


def _spelled(fields: Wire) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def result_text(content: Any) -> str:
    """All text of a result's content, its text parts joined by newlines."""
    if isinstance(content, str):
        return content
    parts = [part.get("text") for part in content or () if part.get("type") == "text"]
    return "\n".join(part for part in parts if isinstance(part, str))


def parse(wire: Wire, id: str) -> tuple[Role, tuple[Block, ...]]:
    """See `Dialect.parse`."""
    role = _ROLES.get(wire["role"], "user")
    return role, tuple(_block(block, f"{id}.{n}") for n, block in enumerate(blocks_of(wire)))


def _block(wire: Wire, id: str) -> Block:
    if is_message(wire):
        content, call = wire.get("content"), wire.get("tool_call_id", wire.get("name"))
        media = isinstance(content, list) and any(part.get("type") != "text" for part in content)
        return Block(id, "tool_result", result_text(content), str(call or ""), media=media, wire=wire)
    if is_thought(wire):
        return Block(id, "thinking", text=next(iter(wire.values())), wire=wire)
    if (call := call_of(wire)) is not None:
        call_id, name, said = call
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        return Block(id, "tool_use", text=text, call=call_id, name=name, input=arguments(said), wire=wire)
    name = str(wire.get("type", ""))
    kind = _TYPES.get(name, "other")
    words = wire.get("text") if kind == "text" else wire.get("refusal")
    media = kind in ("document", "image") or name == "input_audio"
    return Block(id, kind, text=words if isinstance(words, str) else "", media=media, wire=wire)


def arguments(said: Any) -> Mapping[str, Any]:
    """Arguments as an object; of text that is none, an empty one."""
    if isinstance(said, str):
        try:
            said = json.loads(said)
        except (RecursionError, ValueError):
            return {}
    return said if isinstance(said, Mapping) else {}
