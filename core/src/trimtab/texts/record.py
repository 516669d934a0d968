"""What was said as plain text, for a model to read: each block but thinking under a line that says whose it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from trimtab.texts.cutting import clean, clipped
from trimtab.texts.quoting import answers, flat, name_of, speaker, spelled

if TYPE_CHECKING:
    from trimtab.conversation import Block, Message
    from trimtab.projection import Item
    from trimtab.view import View

__all__ = ["brief", "record", "titled", "told"]

_TITLE = re.compile("(?:^|(?<=[\r\v\f\x1c-\x1e\x85\u2028\u2029]))(?=---)", re.MULTILINE)
"""Where a line begins as titles do."""


def record(view: View, run: Sequence[Item]) -> str:
    """All that was said in a run, also what other edits hide, and what was inserted; in order, in plain text.

    Of an earlier summary in it all that it stands for, not its text.
    """
    parts: list[str] = []
    tools: dict[str, str] = {}
    begin = run[0].end - len(run[0].covers) if run else 0
    for item in run:
        for message in view.projection.path[max(item.start, begin) : item.end]:
            parts += told(message, tools, _whole)
        if item.message is None and item.fold is None:
            parts.append(titled("inserted", item.text))
    return clean("\n".join(parts))


def titled(title: str, text: str) -> str:
    """A text under its title, a line that begins with three dashes; no line of the text does, so none can forge one."""
    return "\n".join(filter(None, (f"--- {title}", _TITLE.sub(" ", text))))


def told(message: Message, tools: dict[str, str], content: Callable[[Block], str]) -> Iterator[str]:
    """Each block but thinking, as ``content`` words it, under its title; ``tools`` remembers which a call was of."""
    for block in message.blocks:
        title = speaker(message)
        if block.type == "tool_use":
            tools[block.call] = block.name
            title = f"call of {name_of(block.name)}"
        elif answers(block):
            title = f"result of {name_of(tools.get(block.call, ''))}{', failed' * block.error}"
        if block.type != "thinking":
            yield titled(title, content(block))


def brief(block: Block, most: int) -> str:
    """What a block says, each text by head and tail in about ``most`` characters; media by a word."""
    parts = [f"{flat(key, 40)}: {clipped(spelled(value), most)}" for key, value in block.input.items()]
    if block.text and not parts:
        parts.append(clipped(block.text, most))
    if block.media or not (parts or answers(block)):
        parts.append(f"[{'media' if answers(block) else block.type}]")
    return "\n".join(parts)


def _whole(block: Block) -> str:
    """All that a block says; media by type and size."""
    if block.input:
        given = ((key, spelled(value)) for key, value in block.input.items())
        return "\n".join(f"{key}:{chr(10) if chr(10) in text else ' '}{text}" for key, text in given)
    parts = [block.text] if block.text else []
    if block.media or not (parts or answers(block)):
        parts += _unreadable(block)
    return "\n".join(parts)


def _unreadable(block: Block) -> Iterator[str]:
    """Media, and what has no text, by type and size."""
    content = (block.wire.get("content") or block.wire.get("output")) if isinstance(block.wire, Mapping) else None
    parts = content if answers(block) and isinstance(content, list) else [block.wire]
    for part in parts:
        kind = part.get("type", block.type) if isinstance(part, Mapping) else block.type
        if not kind.endswith("text"):
            yield f"[{kind}: {len(json.dumps(part)):,} characters as sent]"
