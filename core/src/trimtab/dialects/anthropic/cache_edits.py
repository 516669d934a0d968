"""Deletions of results from the provider's cache: blocks of type ``cache_edits``, and what they refer to.

The format is undocumented; it is sent only where a profile says so. A result that can be deleted carries its call's id
as ``cache_reference``. A deletion stands in a user message behind its last result, else before its last block. It may
not end a message: then a filler follows. All of that is no part of what was said: `said` takes it away again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trimtab.dialects.checks import is_list
from trimtab.dialects.wires import field_of, fields_of

__all__ = ["FILLER", "REFERENCE", "evicting", "said", "without_edits"]

FILLER = "."
"""The text of the block that follows a deletion at the end of a message."""

REFERENCE = "cache_reference"
"""The field of a result, and of its deletion, that holds the id of its call."""


def said(content: Sequence[Any]) -> list[int]:
    """The positions of the blocks that are neither deletions nor their filler.

    Where nothing but texts like the filler follows a deletion, `evicting` added one of them.
    """
    types = [field_of(block, "type") for block in content]
    if "cache_edits" not in types:
        return list(range(len(content)))
    last = len(types) - 1 - types[::-1].index("cache_edits")
    tail = range(last + 1, len(content))
    end = len(content) - (len(tail) > 0 and all(map(_is_filler, content[last + 1 :])))
    return [n for n in range(end) if types[n] != "cache_edits"]


def without_edits(message: Any) -> Any:
    """The message without deletions, filler and references; the same object where it has none of them.

    A cache marker on what goes is moved to the block before.
    """
    content = field_of(message, "content")
    if field_of(message, "role") != "user" or not is_list(content):
        return message
    kept = said(content)
    if len(kept) == len(content) and not any(field_of(block, REFERENCE) for block in content):
        return message
    blocks = [_without(content[n]) for n in kept]
    marker = next((found for n in set(range(len(content))) - set(kept) if (found := _marker(content[n]))), None)
    if marker and blocks and not _marker(blocks[-1]):
        blocks[-1] = {**fields_of(blocks[-1]), "cache_control": marker}
    return {**fields_of(message), "content": blocks}


def evicting(messages: Sequence[Any], deletions: Mapping[int, Sequence[str]]) -> list[Any]:
    """The messages with references on all results before the last marker, and with these deletions.

    ``deletions`` maps positions of user messages to ids of calls. Each result is deleted once, where that is said
    first, and only behind a result that can be referred to. Messages that stay as they are are the same objects.
    """
    marked = (n for n in range(len(messages) - 1, -1, -1) if _is_marked(messages[n]))
    last = next(marked, len(messages) - 1)
    shown: list[Any] = []
    referred: set[str] = set()
    deleted: set[str] = set()
    for n, message in enumerate(messages):
        if field_of(message, "role") != "user":
            shown.append(message)
            continue
        ids = [id for id in dict.fromkeys(deletions.get(n, ())) if id in referred and id not in deleted]
        made = _made(without_edits(message), n < last, ids)
        deleted.update(ids)
        referred.update(_results(message) if n < last else ())
        shown.append(message if made == message else made)
    return shown


def _made(message: Any, reference: bool, ids: Sequence[str]) -> Any:
    content = field_of(message, "content")
    blocks = list(content) if is_list(content) else [{"type": "text", "text": content}] if content else []
    results = [n for n, block in enumerate(blocks) if field_of(block, "type") == "tool_result"]
    if reference:
        for n in results:
            blocks[n] = {**fields_of(blocks[n]), REFERENCE: field_of(blocks[n], "tool_use_id")}
    if ids:
        edits = [{"type": "delete", REFERENCE: id} for id in ids]
        at = results[-1] + 1 if results else max(0, len(blocks) - 1)
        filler = [{"type": "text", "text": FILLER}] if all(map(_is_filler, blocks[at:])) else []
        blocks = [*blocks[:at], {"type": "cache_edits", "edits": edits}, *blocks[at:], *filler]
    return {**fields_of(message), "content": blocks} if ids or (reference and results) else message


def _results(message: Any) -> Iterator[str]:
    content = field_of(message, "content")
    for block in content if is_list(content) else ():
        if field_of(block, "type") == "tool_result":
            yield str(field_of(block, "tool_use_id"))


def _is_filler(block: Any) -> bool:
    fields = fields_of(block)
    return fields.get("text") == FILLER and fields.keys() <= {"type", "text", "cache_control"}


def _without(block: Any) -> Any:
    if not field_of(block, REFERENCE):
        return block
    return {key: value for key, value in fields_of(block).items() if key != REFERENCE}


def _marker(block: Any) -> Any:
    return field_of(block, "cache_control")


def _is_marked(message: Any) -> bool:
    content = field_of(message, "content")
    for block in content if is_list(content) else ():
        inner = field_of(block, "content")
        if _marker(block) or any(map(_marker, inner if is_list(inner) else ())):
            return True
    return False
