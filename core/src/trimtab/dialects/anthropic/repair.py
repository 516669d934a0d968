"""Mending what an agent sends broken: orphaned and missing results, blank texts, lone surrogates.

Works on exchanges (the assistant messages in a row, and the user messages in a row that answer them), because the
provider merges neighbours of one role. Nothing that was said is thrown away where it can be said validly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trimtab.conversation import Block, Message
from trimtab.dialects.anthropic.parse import blocks_of, result_text
from trimtab.dialects.exchanges import exchanges
from trimtab.edits import Repair

__all__ = ["repair"]

MISSING = "No result of this call is part of the conversation."
BLANK = "(no content)"
ORPHAN = "[Result of a tool call that is not part of this conversation]\n"


def repair(path: Sequence[Message], start: int) -> list[Repair]:
    """The repairs that ``path[start:]`` needs, exchange by exchange."""
    edits: list[Repair] = []
    for answers, replies in exchanges(path, start):
        over = any(block.type != "tool_result" for message in replies for block in message.blocks)
        edits += _answers(path, answers, over)
        edits += _replies(answers, replies)
    return edits


def _answers(path: Sequence[Message], answers: Sequence[Message], over: bool) -> Iterator[Repair]:
    """Server results without their call go, and waiting server calls once the turn is over; the rest is cleaned.

    A server call may wait while the user answers client calls of the same turn with nothing but results.
    """
    blocks = [block for message in answers for block in message.blocks if block.server]
    calls = {block.call for block in blocks if block.type == "tool_use"}
    results = {block.call for block in blocks if block.type != "tool_use"}
    lost = calls - results if over else set()
    for call in results - calls:
        if not any(b.type == "tool_use" and b.call == call for m in path[: answers[0].depth] for b in m.blocks):
            lost.add(call)
    for message in answers:
        kept = [wire for block, wire in _pairs(message) if not (block.server and block.call in lost)]
        yield from _changed(message, kept, "a server tool's call or result without its other half")


def _replies(answers: Sequence[Message], replies: Sequence[Message]) -> Iterator[Repair]:
    """Every call gets exactly one result, results come first, what is left over becomes text."""
    if not replies:
        return
    wanted = [b.call for m in answers for b in m.blocks if b.type == "tool_use" and not b.server and b.call]
    missing = dict.fromkeys(wanted)
    results: list[list[Any]] = []
    others: list[list[Any]] = []
    for message in replies:
        results.append([])
        others.append([])
        for block, wire in _pairs(message):
            if block.type != "tool_result":
                others[-1].append(wire)
            elif block.call in missing:
                del missing[block.call]
                results[-1].append(wire)
            else:
                others[-1] += _orphan(wire)
    late = any(results[n] and any(others[:n]) for n in range(1, len(replies)))
    users = [n for n, message in enumerate(replies) if message.role == "user"]
    first = users[0] if users else 0
    if not users:
        missing = {}  # a system message cannot hold results: as broken as it came
    if late:
        moved = [wire for part in results for wire in part]
        results = [moved if n == first else [] for n in range(len(replies))]
    results[first] += [
        {"type": "tool_result", "tool_use_id": call, "content": MISSING, "is_error": True} for call in missing
    ]
    contents = [[*ahead, *rest] for ahead, rest in zip(results, others, strict=True)]
    reason = "calls and results did not pair up"
    if users and not any(_cleaned(contents[n]) for n in users):  # without it an answer would follow an answer
        contents[users[-1]], reason = [{"type": "text", "text": BLANK}], "a turn of nothing but blank text"
    for message, content in zip(replies, contents, strict=True):
        yield from _changed(message, content, reason)


def _orphan(wire: Mapping[str, Any]) -> list[Any]:
    content = wire.get("content")
    media = [part for part in content if part.get("type") != "text"] if isinstance(content, list) else []
    return [{"type": "text", "text": ORPHAN + result_text(content)}, *media]


def _pairs(message: Message) -> Iterator[tuple[Block, Any]]:
    return zip(message.blocks, blocks_of(message.wire), strict=True)


def _cleaned(blocks: Sequence[Any]) -> list[Any]:
    cleaned = []
    for wire in blocks:
        if _blank(wire):
            continue
        inner = wire.get("content")
        if isinstance(inner, list) and wire.get("type") == "tool_result":
            wire = {**wire, "content": _cleaned(inner)} if any(map(_blank, inner)) else wire
        mended = _mend(wire)
        if mended is not wire and wire.get("type") in ("thinking", "redacted_thinking"):
            continue  # an altered thinking block is refused; a missing one is not
        cleaned.append(mended)
    return cleaned


def _blank(wire: Mapping[str, Any]) -> bool:
    return wire.get("type") == "text" and not str(wire.get("text", "")).strip()


def _mend(value: Any) -> Any:
    """The same object where no string holds a lone surrogate, else a copy with U+FFFD instead."""
    if isinstance(value, str):
        if value.isascii():
            return value
        mended = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return value if mended == value else mended
    if isinstance(value, Mapping):
        items = {_mend(key): _mend(item) for key, item in value.items()}
        same = all(items.get(key, items) is item for key, item in value.items())
        return value if same else items
    if isinstance(value, list):
        parts = [_mend(item) for item in value]
        return parts if any(a is not b for a, b in zip(parts, value, strict=True)) else value
    return value


def _changed(message: Message, blocks: list[Any], reason: str) -> Iterator[Repair]:
    """The repair that leaves ``blocks``, cleaned; ``reason`` says why they are not what was said."""
    said, cleaned = blocks_of(message.wire), _cleaned(blocks)
    if cleaned != said or not said:
        yield Repair(message.id, tuple(cleaned), "blank text, or half of a character" if blocks == said else reason)
