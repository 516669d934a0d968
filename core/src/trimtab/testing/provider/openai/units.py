"""A request as the model reads it: a list of units, each with a key that tells its content and a size in tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trimtab.testing.provider.cache import digest
from trimtab.testing.provider.openai.seals import sizes_of
from trimtab.testing.provider.tokens import FRAME, Tokens

__all__ = ["Unit", "chat_units", "head_unit", "item_units", "total"]

MARKER = "prompt_cache_breakpoint"
_FRAMING = {"annotations", "id", "logprobs", "phase", "status", MARKER}
"""Fields that the model does not read: two items that differ only there are one."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One message, item, or whatever stands before them; ``marked``: with a cache breakpoint of the caller's."""

    key: str
    tokens: int
    marked: bool = False


def total(units: Sequence[Unit]) -> int:
    """Tokens of all units."""
    return sum(unit.tokens for unit in units)


def head_unit(body: Mapping[str, Any], tokens: Tokens) -> Unit:
    """What stands before everything else: tools, format and effort. The model is no part of it."""
    text, reasoning = body.get("text") or {}, body.get("reasoning") or {}
    settings = [
        body.get("tools"),
        body.get("response_format") or text.get("format"),
        body.get("verbosity") or text.get("verbosity"),
        body.get("reasoning_effort") or reasoning.get("effort"),
    ]
    return Unit(digest(settings), sum(map(tokens.schema, body.get("tools") or ())))


def chat_units(body: Mapping[str, Any], tokens: Tokens) -> list[Unit]:
    """The units of a chat request: its head, then one for each message."""
    messages = ((_rendered(message), message) for message in body["messages"])
    units = [Unit(digest(read), tokens.message(read), _is_marked(message)) for read, message in messages]
    return [head_unit(body, tokens), *units]


def item_units(items: Sequence[Mapping[str, Any]], tokens: Tokens) -> list[Unit]:
    """One unit for each item; reasoning and compactions weigh what is sealed in them."""
    return [_item_unit(item, tokens) for item in items]


def _item_unit(item: Mapping[str, Any], tokens: Tokens) -> Unit:
    if item.get("type") in ("compaction", "reasoning"):
        return Unit(digest(item.get("encrypted_content")), FRAME + sizes_of(item))
    read = {"type": "message", **_rendered(item)}
    weight = sum(tokens.value(value) for key, value in read.items() if key not in ("call_id", "role", "type"))
    return Unit(digest(read), FRAME + weight, _is_marked(item))


def _is_marked(message: Mapping[str, Any]) -> bool:
    content = message.get("content") or message.get("output")
    return isinstance(content, list) and any(MARKER in part for part in content)


def _rendered(value: Any) -> Any:
    """A value without framing, null and empty fields, and with a text in the place of a list of just one."""
    if isinstance(value, Mapping):
        return dict(_fields(value))
    if isinstance(value, list):
        return [_rendered(item) for item in value]
    return value


def _fields(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, item in value.items():
        if name in _FRAMING or item is None or item == []:
            continue
        if name in ("content", "output") and isinstance(item, list) and len(item) == 1:
            item = item[0].get("text", item) if isinstance(item[0], Mapping) else item
        yield name, _rendered(item)
