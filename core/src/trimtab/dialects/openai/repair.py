"""Mending what an agent sends broken: calls and results that do not pair up, empty messages, lone surrogates.

Works on exchanges (the assistant messages in a row, and all messages up to the next one). No message is added or left
out: those of an exchange may change places, a result without its call becomes a user's message, and a call without its
result becomes words of its answer. Nothing that was said is thrown away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trimtab.conversation import Message, Wire
from trimtab.dialects.exchanges import exchanges
from trimtab.dialects.openai.parse import result_text
from trimtab.dialects.openai.wire import RESULTS, blocks_of, call_of, compose, is_message, text_part
from trimtab.dialects.wires import mended
from trimtab.edits import Repair
from trimtab.texts.cutting import clip

__all__ = ["repair"]

BLANK = "(no content)"
ORPHAN = "[Result of a tool call that is not part of this conversation]\n"
UNANSWERED = "[Call of {name} whose result is not part of this conversation]\n{arguments}"

APART = "calls and results did not pair up"
EMPTY = "an empty message, or half of a character"

CHARACTERS, LINES = 2_000, 40
"""How much of the arguments of a call without result is said."""


def repair(path: Sequence[Message], start: int) -> list[Repair]:
    """The repairs that ``path[start:]`` needs, exchange by exchange."""
    return [edit for answers, replies in exchanges(path, start) for edit in _mended(_order(answers, replies))]


def _order(answers: Sequence[Message], replies: Sequence[Message]) -> Iterator[tuple[Message, list[Any]]]:
    """The messages of an exchange as they should follow each other, each with its wire blocks.

    Each answer is followed by its results. One that has none goes before those that have some, so that a request does
    not come to end with an answer.
    """
    left = list(replies)
    found: list[tuple[Message, list[Message]]] = []
    for answer in answers:
        calls = {block.call for block in answer.blocks if "tool_call" in block.wire and block.call}
        results: dict[str, Message] = {}
        for reply in left:
            if reply.wire["role"] == "tool" and (call := reply.blocks[0].call) in calls:
                results.setdefault(call, reply)
        left = [reply for reply in left if reply not in results.values()]
        found.append((answer, list(results.values())))
    for answer, own in sorted(found, key=lambda pair: bool(pair[1])):
        over = bool(replies) or answer is not answers[-1]
        yield answer, _answer(answer, {result.blocks[0].call for result in own}, over)
        for result in own:
            yield result, [result.wire]
    for reply in left:
        yield reply, [_said(reply.wire)] if reply.wire["role"] == "tool" else blocks_of(reply.wire)


def _answer(message: Message, answered: set[str], over: bool) -> list[Any]:
    """The blocks of an answer; once its exchange is over, calls without a result of their own are words."""
    kept, words = [], []
    for block, wire in zip(message.blocks, blocks_of(message.wire), strict=True):
        if over and "tool_call" in wire and block.call not in answered:
            arguments = clip(block.text, CHARACTERS, LINES)
            words.append(text_part(UNANSWERED.format(name=block.name, arguments=arguments)))
        else:
            kept.append(wire)
            answered = answered - {block.call}
    return [*kept, *words]


def _said(wire: Wire) -> Wire:
    """A result without its call, as a user's message."""
    content = wire.get("content")
    media = [part for part in content if part.get("type") != "text"] if isinstance(content, list) else []
    text = ORPHAN + result_text(content)
    return {"role": "user", "content": [text_part(text), *media] if media else text}


def _mended(order: Iterator[tuple[Message, list[Any]]]) -> Iterator[Repair]:
    """The repairs that put messages into this order, filled and cleaned."""
    placed = list(order)
    slots = sorted((message for message, _ in placed), key=lambda message: message.depth)
    for slot, (message, blocks) in zip(slots, placed, strict=True):
        said = blocks_of(slot.wire)
        paired = slot is message and blocks == said
        if slot is not message or _unclean(compose(message.wire, [])):
            blocks = [compose(message.wire, blocks)]
        whole = mended(_filled(message.wire, blocks))
        if whole != said:
            yield Repair(slot.id, tuple(whole), EMPTY if paired else APART)


def _filled(wire: Wire, blocks: list[Any]) -> list[Any]:
    """The same blocks, or with words where a message would be empty; a result may be, but must have a content."""
    if len(blocks) == 1 and is_message(blocks[0]):
        whole = blocks[0]
        if whole["role"] in RESULTS:
            return blocks if whole.get("content") else [{**whole, "content": ""}]
        filled = _filled(whole, blocks_of(whole))
        return blocks if filled == blocks_of(whole) else [compose(whole, filled)]
    if any(not _blank(block) for block in blocks) or wire.get("refusal") or wire.get("audio"):
        return blocks
    if wire["role"] in ("developer", "system") and isinstance(wire.get("content"), str):
        return blocks
    return [*(block for block in blocks if "type" not in block), text_part(BLANK)]


def _blank(block: Wire) -> bool:
    """Whether a block says nothing: blank text, or reasoning, which no server takes alone."""
    if block.get("type") == "text":
        return not str(block.get("text") or "").strip()
    return "type" not in block and call_of(block) is None


def _unclean(fields: Wire) -> bool:
    return bool(mended(fields) != fields)
