"""From Anthropic wire messages to blocks: plain copies, kinds, texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trimtab.conversation import Block, BlockType, Role, Wire
from trimtab.dialects.anthropic.cache_edits import said, without_edits
from trimtab.dialects.wires import copied, fields_of

__all__ = ["bare", "blocks_of", "canonical", "markers", "parse", "plain", "result_text"]

FOREIGN = ("developer", "function", "tool")
"""Roles of chat formats; read as this one, their calls and results would be lost."""

MARKERS = ("cache_control", "cache_reference")
_TYPES: dict[str, BlockType] = {
    "document": "document",
    "image": "image",
    "mcp_tool_use": "tool_use",
    "redacted_thinking": "thinking",
    "server_tool_use": "tool_use",
    "text": "text",
    "thinking": "thinking",
    "tool_result": "tool_result",
    "tool_use": "tool_use",
}
_ROLES: dict[str, Role] = {"assistant": "assistant", "user": "user", "system": "system"}


def plain(wire: Any) -> Wire:
    """A structural copy of a message without cache markers and deletions; SDK objects become mappings.

    Markers are taken off where the format has them: on content blocks and on the blocks inside a result. Strings are
    shared, so the copy of a long message is cheap.
    """
    message = fields_of(wire)
    if not isinstance(message.get("role"), str):
        raise TypeError("a message needs a role")
    if message["role"] in FOREIGN or "tool_calls" in message:
        role = message["role"]
        raise TypeError(
            f"a message of role {role!r} as OpenAI's chat has it, where results are blocks of user messages; say "
            "provider.kind: openai"
        )
    content = message.get("content")
    if not isinstance(content, (str, list, tuple)) and content is not None:
        raise TypeError("content must be a string or a list of blocks")
    copy = {key: copied(value) for key, value in message.items() if key != "content"}
    if "content" in message:
        blocks = _blocks(content[n] for n in said(content)) if isinstance(content, (list, tuple)) else None
        copy["content"] = content if blocks is None else blocks
    return copy


def bare(part: Any) -> Any:
    """A structural copy of a system text or a list of tools without cache markers."""
    return _blocks(part) if isinstance(part, (list, tuple)) else copied(part)


def _blocks(content: Any) -> list[Any]:
    copies = []
    for block in content:
        fields = fields_of(block)
        copy = {key: copied(value) for key, value in fields.items() if key not in MARKERS}
        if isinstance(copy.get("content"), list) and fields.get("type") == "tool_result":
            copy["content"] = _blocks(copy["content"])
        copies.append(copy)
    return copies


def markers(wire: Any) -> dict[int, Any]:
    """The ``cache_control`` of a message's blocks, by position in the plain message.

    One inside a result counts for the result, one on the filler of a deletion for the block before.
    """
    content = fields_of(without_edits(wire)).get("content")
    found = {}
    for n, block in enumerate(content if isinstance(content, (list, tuple)) else ()):
        fields = fields_of(block)
        inner = fields.get("content")
        for part in [*(inner if isinstance(inner, list) else ()), fields]:
            if isinstance(part, Mapping) and part.get("cache_control"):
                found[n] = part["cache_control"]
    return found


def blocks_of(message: Wire) -> list[Any]:
    """The content as a list of wire blocks; a string is one text block, nothing is none."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or ())


def canonical(plain: Wire) -> Wire:
    """One spelling of a plain message: content as blocks, that of results too, and no fields that are null.

    Clients change from one to the other: for a marker a string becomes a block, a reloaded answer has nulls. A result
    with nothing in it is one with an empty text.
    """
    return {**plain, "content": [_spelled(block) for block in blocks_of(plain)]}


def _spelled(block: Wire) -> Wire:
    fields = {key: value for key, value in block.items() if value is not None}
    if fields.get("type") == "tool_result" and isinstance(content := fields.get("content") or "", (str, list)):
        fields["content"] = [_spelled(part) for part in blocks_of({"content": content})]
    return fields


def result_text(content: Any) -> str:
    """All text of a result's content, its text blocks joined by newlines."""
    if isinstance(content, str):
        return content
    parts = [part.get("text") for part in content or () if isinstance(part, Mapping) and part.get("type") == "text"]
    return "\n".join(part for part in parts if isinstance(part, str))


def parse(wire: Wire, id: str) -> tuple[Role, tuple[Block, ...]]:
    """See `Dialect.parse`."""
    role = _ROLES.get(wire["role"], "user")
    return role, tuple(_block(block, f"{id}.{n}") for n, block in enumerate(blocks_of(wire)))


def _block(wire: Mapping[str, Any], id: str) -> Block:
    name = str(wire.get("type", ""))
    kind = _TYPES.get(name, "other")
    if kind == "text":
        return Block(id, kind, text=str(wire.get("text", "")), wire=wire)
    if kind == "thinking":
        return Block(id, kind, text=str(wire.get("thinking") or wire.get("data") or ""), wire=wire)
    if kind == "tool_use":
        arguments = wire.get("input")
        return Block(
            id,
            kind,
            text=json.dumps(arguments, ensure_ascii=False),
            call=str(wire.get("id", "")),
            name=str(wire.get("name", "")),
            input=arguments if isinstance(arguments, Mapping) else {},
            server=name != "tool_use",
            wire=wire,
        )
    if kind == "tool_result" or name.endswith("_tool_result"):
        content = wire.get("content")
        return Block(
            id,
            "tool_result" if kind == "tool_result" else "other",
            text=result_text(content),
            call=str(wire.get("tool_use_id", "")),
            error=wire.get("is_error") is True,
            server=kind != "tool_result",
            media=isinstance(content, list) and any(part.get("type") != "text" for part in content),
            wire=wire,
        )
    return Block(id, kind, media=kind in ("image", "document"), wire=wire)
