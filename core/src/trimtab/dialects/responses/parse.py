"""From items to blocks: plain copies, one spelling, kinds, texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trimtab.conversation import Block, BlockType, Role, Wire
from trimtab.dialects.openai.parse import MARKERS, arguments
from trimtab.dialects.responses.items import (
    RESULTS,
    TEXTS,
    answered_by,
    blocks_of,
    call_of,
    kind_of,
    parts_of,
    role_of,
)
from trimtab.dialects.wires import copied, fields_of

__all__ = ["canonical", "field_with_parts", "markers", "parse", "plain", "result_text"]

ROLES = ("assistant", "developer", "system", "user")
CHAT = ("file", "image_url", "redacted_thinking", "thinking", "tool_result", "tool_use")
"""Types of parts of other formats: as Responses has none of them, their calls, results and media would be lost."""

_TYPES: dict[str, BlockType] = {"input_file": "document", "input_image": "image"}

_UNSAID = ("annotations", "logprobs", "phase", "status")
"""Fields that are no part of what was said: clients hand items back with and without them."""

_NAMED = frozenset(
    {"compaction", "custom_tool_call", "function_call", "message", "shell_call", *RESULTS, "apply_patch_call"}
) - {"local_shell_call_output"}
"""Types whose items say all that they mean, so that they are the same with and without an id."""


def field_with_parts(item: Wire) -> str:
    """The field of an item that is text or a list of parts."""
    return "content" if kind_of(item) == "message" else "output"


def plain(wire: Any) -> Wire:
    """A structural copy of an item without cache markers (those of its content parts); SDK objects become mappings."""
    item = fields_of(wire)
    kind, role = item.get("type"), item.get("role")
    if not isinstance(kind, str) and not isinstance(role, str) and not isinstance(item.get("id"), str):
        raise TypeError("an item needs a type or a role")
    if (kind or "message") == "message" and "role" in item:
        _check(item)
    copy = {"async" if key == "async_" else key: copied(value) for key, value in item.items()}  # as the SDK spells it
    field = field_with_parts(copy)
    if isinstance(parts := copy.get(field), list):
        copy[field] = [_unmarked(fields_of(part)) for part in parts]
    return copy


def _check(item: Mapping[str, Any]) -> None:
    content = item.get("content")
    if item["role"] not in ROLES or "tool_calls" in item:
        raise TypeError("a message of chat completions; say provider.kind: openai")
    if not isinstance(content, (str, list, tuple)):
        raise TypeError("content must be a string or a list of parts")
    for part in map(fields_of, content if not isinstance(content, str) else ()):
        if "role" in part or part.get("type") in CHAT:  # the former would pass for one of our own wire blocks
            raise TypeError(f"a content part of another format ({part.get('type')}); see provider.kind")


def _unmarked(part: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key not in MARKERS}


def markers(wire: Any) -> dict[int, dict[str, Any]]:
    """The cache markers of an item's content parts, by position."""
    item = fields_of(wire)
    content = item.get(field_with_parts(item))
    parts = map(fields_of, content if isinstance(content, (list, tuple)) else ())
    found = {n: {key: part[key] for key in MARKERS if part.get(key)} for n, part in enumerate(parts)}
    return {n: marks for n, marks in found.items() if marks}


def canonical(plain: Wire) -> Wire:
    """One spelling of a plain item: its type, content as parts, no null or empty fields, and what it said alone.

    An answer comes back as the object of the SDK, as JSON with all its nulls, without its id, or as the mere text.
    """
    kind, field = kind_of(plain), field_with_parts(plain)
    fields = _spelled(plain) | {"type": kind}
    if kind in _NAMED or (kind == "reasoning" and plain.get("encrypted_content")):
        fields.pop("id", None)
    if kind == "apply_patch_call_output":
        fields["status"] = plain.get("status")
    if kind == "message" or kind in RESULTS:
        parts = parts_of(plain, field)
        fields[field] = [_spelled(part) if isinstance(part, Mapping) else part for part in parts]
    return fields


def _spelled(fields: Wire) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None and value != [] and key not in _UNSAID}


def result_text(item: Wire) -> str:
    """All text of an output, its text parts (of a shell: what each command wrote) joined by newlines."""
    output = item.get("output")
    if not isinstance(output, list):
        return output if isinstance(output, str) else ""
    parts = [part for part in output if isinstance(part, Mapping)]
    texts = [part.get(key) for part in parts for key in ("text", "stdout", "stderr")]
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def parse(wire: Wire, id: str) -> tuple[Role, tuple[Block, ...]]:
    """See `Dialect.parse`."""
    role, message = role_of(wire), kind_of(wire) == "message"
    make = _part if message else _item
    return role, tuple(make(block, f"{id}.{n}") for n, block in enumerate(blocks_of(wire)))


def _part(wire: Wire, id: str) -> Block:
    name = str(wire.get("type", ""))
    kind: BlockType = "text" if name in TEXTS else _TYPES.get(name, "other")
    words = wire.get("text") if kind == "text" else wire.get("refusal")
    media = name in ("input_audio", *_TYPES)
    return Block(id, kind, text=words if isinstance(words, str) else "", media=media, wire=wire)


def _item(wire: Wire, id: str) -> Block:
    kind, call = kind_of(wire), answered_by(wire)
    if (called := call_of(wire)) is not None:
        name, said = called
        given = {"input": said} if kind == "custom_tool_call" else said
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        return Block(id, "tool_use", text=text, call=call, name=name, input=arguments(given), wire=wire)
    if kind in RESULTS:
        output = wire.get("output")
        shell = kind == "shell_call_output"
        media = isinstance(output, list) and not shell and any(part.get("type") not in TEXTS for part in output)
        failed = wire.get("status") == "failed"
        return Block(id, "tool_result", result_text(wire), call, error=failed, media=media, wire=wire)
    if role_of(wire) == "user":  # a screenshot, an approval, what is not known: nothing else can stand for it
        return Block(id, "tool_result", result_text(wire), call, server=True, media=True, wire=wire)
    return Block(id, "other", text=_thought(wire), call=call, wire=wire)


def _thought(wire: Wire) -> str:
    """What is to be read of reasoning: its summary, and its text where that is not encrypted."""
    listed = [*(wire.get("summary") or ()), *(wire.get("content") or ())] if kind_of(wire) == "reasoning" else []
    texts = [part.get("text") for part in listed if isinstance(part, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))
