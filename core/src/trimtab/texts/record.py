"""The full text of a run, for a model to read: everything but thinking and media."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from trimtab.texts.cutting import clean
from trimtab.texts.quoting import answers, speaker, spelled
from trimtab.texts.words import name_of

if TYPE_CHECKING:
    from trimtab.conversation import Block, Message
    from trimtab.projection import Item
    from trimtab.view import View

__all__ = ["record"]


def record(view: View, run: Sequence[Item]) -> str:
    """All that was said in a run, also what other edits hide, and what was inserted; in order, in plain text.

    Of an earlier summary in it all that it stands for, not its text.
    """
    parts: list[str] = []
    names: dict[str, str] = {}
    begin = run[0].end - len(run[0].covers) if run else 0
    for item in run:
        for message in view.projection.path[max(item.start, begin) : item.end]:
            parts += _message(message, names)
        if item.message is None and item.fold is None:
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
