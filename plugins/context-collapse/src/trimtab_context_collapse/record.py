"""The full text of a run, for a model to read: everything but thinking and media."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from trimtab.texts import clean, name_of

from trimtab_context_collapse.words import answers, speaker, spelled

if TYPE_CHECKING:
    from trimtab.conversation import Block, Message
    from trimtab.projection import Item
    from trimtab.view import View

__all__ = ["record"]


def record(view: View, run: Sequence[Item]) -> str:
    """All that was said in a run, also what other edits hide, and what was inserted; in order, in plain text."""
    parts: list[str] = []
    names: dict[str, str] = {}
    for item in run:
        for message in view.projection.path[max(item.start, run[0].end - 1) : item.end]:
            parts += _message(message, names)
        if item.message is None:
            parts.append(f"--- inserted\n{item.text}")
    return clean("\n".join(parts))


def _message(message: Message, names: dict[str, str]) -> Iterator[str]:
    """Each block under a line that says what it is; ``names`` remembers which tool a call was of."""
    for block in message.blocks:
        if block.type == "thinking":
            continue
        title = speaker(message)
        if block.type == "tool_use":
            names[block.call] = block.name
            title = f"call of {name_of(block.name)}"
        elif answers(block):
            title = f"result of {name_of(names.get(block.call, ''))}{', failed' if block.error else ''}"
        yield "\n".join([f"--- {title}", *_content(block)])


def _content(block: Block) -> Iterator[str]:
    if block.type == "tool_use" and block.input:
        for key, value in block.input.items():
            text = spelled(value)
            yield f"{key}:{chr(10) if chr(10) in text else ' '}{text}"
        return
    if block.text:
        yield block.text
    if block.media or not (block.text or answers(block)):
        yield from _unreadable(block)


def _unreadable(block: Block) -> Iterator[str]:
    """Media, and what has no text, by type and size."""
    content = block.wire.get("content") if isinstance(block.wire, Mapping) else None
    parts = content if answers(block) and isinstance(content, list) else [block.wire]
    for part in parts:
        kind = part.get("type", block.type) if isinstance(part, Mapping) else block.type
        if kind != "text":
            yield f"[{kind}: {len(json.dumps(part)):,} characters as sent]"
