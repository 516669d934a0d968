"""What one content block of Anthropic Messages must look like by itself; order and pairs are `validate`'s."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from trimtab.dialects.checks import Violation, broken, is_list
from trimtab.dialects.media import image_size

__all__ = ["SERVER_CALLS", "blank", "check_block", "is_server_result"]

SERVER_CALLS = frozenset({"mcp_tool_use", "server_tool_use"})
"""Types of calls that the provider runs itself; their results are blocks of the assistant."""

_CALL: tuple[tuple[str, type], ...] = (("id", str), ("name", str), ("input", Mapping))
_SERVER_RESULT: tuple[tuple[str, type], ...] = (("tool_use_id", str),)
_KINDS: dict[type, str] = {Mapping: "an object", str: "a string"}
_FIELDS: dict[str, tuple[tuple[str, type], ...]] = {
    "document": (("source", Mapping),),
    "image": (("source", Mapping),),
    "mcp_tool_use": (*_CALL, ("server_name", str)),
    "redacted_thinking": (("data", str),),
    "server_tool_use": _CALL,
    "text": (("text", str),),
    "thinking": (("thinking", str), ("signature", str)),
    "tool_result": (("tool_use_id", str),),
    "tool_use": _CALL,
}
_OWNER = {
    "cache_edits": "user",
    "mcp_tool_use": "assistant",
    "redacted_thinking": "assistant",
    "server_tool_use": "assistant",
    "thinking": "assistant",
    "tool_result": "user",
    "tool_use": "assistant",
}
_SOURCE = {
    "base64": ("media_type", "data"),
    "content": ("content",),
    "file": ("file_id",),
    "text": ("media_type", "data"),
    "url": ("url",),
}
_NAMES = frozenset({"id", "name", "server_name", "tool_use_id"})
_SIDE = 8_000
"""Pixels; largest side of an image that the API takes (A13)."""
_HEADS = (4_096, 262_144)
"""Base64 characters that hold the size of an image: its header, or a JPEG's metadata before that."""


def is_server_result(type: str) -> bool:
    """Whether blocks of this type answer a call that the provider ran (`web_search_tool_result`, …)."""
    return type.endswith("_tool_result")


def blank(text: str) -> bool:
    """Whether a text is empty or only white space, which the API refuses (A7)."""
    return not text or text.isspace()


def check_block(block: Any, role: str, where: str) -> Iterator[Violation]:
    """Check one block of a message of ``role``; one of unknown type only has to be an object."""
    if not isinstance(block, Mapping) or not isinstance(block.get("type"), str) or not block["type"]:
        yield Violation("shape", where, "a block is an object with a type")
        return
    type = block["type"]
    server = type != "tool_result" and is_server_result(type)
    owner = "assistant" if server else _OWNER.get(type)
    if owner and owner != role:
        yield Violation("role", where, f"a {type} block belongs into {owner} messages, not {role} ones")
    for name, kind in _SERVER_RESULT if server else _FIELDS.get(type, ()):
        value = block.get(name)
        if not isinstance(value, kind):
            yield Violation("shape", f"{where}.{name}", f"{type} needs {name} ({_KINDS[kind]})")
        elif not value and name in _NAMES:
            yield Violation("shape", f"{where}.{name}", f"{name} of {type} is empty")
    if type == "text" and isinstance(block.get("text"), str) and blank(block["text"]):
        yield Violation("A7", where, "text is empty or blank")
    elif type in ("document", "image") and isinstance(block.get("source"), Mapping):
        yield from _source(block["source"], type, where)
    elif type == "tool_result":
        yield from _result(block.get("content"), where)
    elif type == "web_search_tool_result":
        yield from _search(block.get("content"), where)
    if broken(block):
        yield Violation("surrogate", where, "a string holds a lone surrogate")


def _source(source: Mapping[str, Any], type: str, where: str) -> Iterator[Violation]:
    kind = source.get("type")
    if not isinstance(kind, str):
        yield Violation("shape", f"{where}.source", f"the source of {type} needs a type")
        return
    for name in _SOURCE.get(kind, ()):
        if not source.get(name):
            yield Violation("shape", f"{where}.source.{name}", f"a {kind} source needs {name}")
    if type == "image" and kind == "base64" and isinstance(source.get("data"), str):
        size = _pixels(source["data"])
        if size and max(size) > _SIDE:
            yield Violation("A13", where, f"image of {size[0]} × {size[1]} pixels; at most {_SIDE} a side")


def _pixels(data: str) -> tuple[int, int] | None:
    for head in _HEADS:
        with suppress(ValueError):
            if size := image_size(base64.b64decode(data[:head])):
                return size
    return None


def _result(content: Any, where: str) -> Iterator[Violation]:
    """Check a client result's content: absent, a string, or blocks; text blocks in it obey A7 too."""
    if content is None or isinstance(content, str):
        return
    if not is_list(content):
        yield Violation("shape", f"{where}.content", "the content of a tool_result is a string or a list of blocks")
        return
    for index, inner in enumerate(content):
        for found in check_block(inner, "user", f"{where}.content[{index}]"):
            if found.rule != "surrogate":  # the walk over the whole result reports it once
                yield found


def _search(content: Any, where: str) -> Iterator[Violation]:
    """Check that each hit of a web search has its encrypted content; an error is one object."""
    for index, hit in enumerate(content if is_list(content) else ()):
        if not isinstance(hit, Mapping) or not hit.get("encrypted_content"):
            yield Violation("A10", f"{where}.content[{index}]", "a web search result lost its encrypted_content")
