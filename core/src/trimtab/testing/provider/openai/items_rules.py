"""What Responses refuses in ``input``: rules R1–R3, item types, and items that it does not know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from trimtab.testing.provider.openai.errors import invalid_type, invalid_value, missing, refused

__all__ = ["CALLS", "check_items", "check_pairs"]

CALLS = {"function_call": "function call", "custom_tool_call": "custom tool call"}
"""The calls that a client answers, and what complaints call them."""

_TEXTS = {
    "assistant": ("output_text", "refusal"),
    "developer": ("input_text", "input_image", "input_file"),
    "system": ("input_text", "input_image", "input_file"),
    "user": ("input_text", "input_image", "input_file"),
}
_NEEDED = {
    "function_call": ("call_id", "name", "arguments"),
    "custom_tool_call": ("call_id", "name", "input"),
    "function_call_output": ("call_id", "output"),
    "custom_tool_call_output": ("call_id", "output"),
    "reasoning": ("summary",),
    "compaction": ("encrypted_content",),
    "item_reference": ("id",),
}
_MADE = {*CALLS, "reasoning"}
"""Items beside messages that the model makes."""


def check_items(items: Sequence[Any]) -> None:
    """Raise `Refused` for the first item of ``items`` that has not the shape of its type; other types pass."""
    ids: set[str] = set()
    for index, item in enumerate(items):
        place = f"input[{index}]"
        if not isinstance(item, Mapping):
            raise invalid_type(place, "an object")
        for name in ("type", "id", "call_id"):
            if not isinstance(item.get(name), str | None):
                raise invalid_type(f"{place}.{name}", "a string")
        kind = item.get("type", "message")
        if kind == "message":
            _check_message(item, place)
        for name in _NEEDED.get(kind, ()):
            if item.get(name) is None:
                raise missing(f"{place}.{name}")
        id = item.get("id")
        if id is None:
            continue
        if id in ids:
            raise refused(
                f"Duplicate item found with id {id}. Remove duplicate items from your input and try again.",
                "input",
            )
        ids.add(id)


def _check_message(item: Mapping[str, Any], place: str) -> None:
    role, content = item.get("role"), item.get("content")
    if role not in _TEXTS:
        raise invalid_value(role, tuple(_TEXTS), f"{place}.role")
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise missing(f"{place}.content")
    for number, part in enumerate(content):
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind not in _TEXTS[role]:
            raise invalid_value(kind, _TEXTS[role], f"{place}.content[{number}]")


def check_pairs(items: Sequence[Mapping[str, Any]], followers: Mapping[str, str], required: Mapping[str, str]) -> None:
    """Raise `Refused` where reasoning stands without what it led to (R1, R2) or a call without its output (R3).

    ``followers`` has for the id of each known reasoning item the id of the item behind it, ``required`` for the id of
    an item the id of the reasoning that it came with. Items without ids are not paired with reasoning (R4).
    """
    here: set[str] = set()
    for item, behind in zip_longest(items, items[1:]):
        id, kind = item.get("id"), item.get("type", "message")
        if id is None:
            continue
        if kind == "reasoning":
            _check_follower(id, behind, followers.get(id))
        elif (reasoning := required.get(id)) is not None and reasoning not in here:
            raise refused(
                f"Item '{id}' of type '{kind}' was provided without its required 'reasoning' item: '{reasoning}'.",
                "input",
            )
        here.add(id)
    _check_outputs(items)


def _check_follower(id: str, behind: Mapping[str, Any] | None, expected: str | None) -> None:
    """The item behind reasoning must be the one it led to, or, where no id tells that, one of the model's."""
    if behind is not None and expected and behind.get("id") is not None:
        fits = behind["id"] == expected
    else:
        kind = "_output" if behind is None else behind.get("type", "message")
        fits = behind is not None and (behind.get("role") == "assistant" if kind == "message" else kind in _MADE)
    if not fits:
        message = f"Item '{id}' of type 'reasoning' was provided without its required following item."
        raise refused(message, "input")


def _check_outputs(items: Iterable[Mapping[str, Any]]) -> None:
    calls: dict[tuple[str, str], None] = {}
    answered: set[tuple[str, str]] = set()
    for item in items:
        kind = item.get("type", "message")
        if kind in CALLS:
            calls[kind, item["call_id"]] = None
        elif (call := kind.removesuffix("_output")) in CALLS:
            key = (call, item["call_id"])
            if key not in calls:
                raise refused(f"No tool call found for {CALLS[call]} output with call_id {item['call_id']}.", "input")
            answered.add(key)
    for kind, id in calls:
        if (kind, id) not in answered:
            raise refused(f"No tool output found for {CALLS[kind]} {id}.", "input")
