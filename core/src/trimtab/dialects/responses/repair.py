"""Mending what an agent sends broken: calls and outputs that do not pair up, reasoning that led to nothing, surrogates.

Works on exchanges (the model's items in a row, and all items up to its next one). An output without its call becomes a
user's message, a call without its output words of the model. Reasoning of which nothing but such words is left goes:
the provider takes it with what it led to, or not at all (R1). Nothing else that was said is thrown away.

Where an item is only referred to, nobody here knows what it is: it may be the call of any output behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trimtab.conversation import Message, Wire
from trimtab.dialects.exchanges import exchanges
from trimtab.dialects.openai.repair import APART, CHARACTERS, LINES, ORPHAN, UNANSWERED
from trimtab.dialects.responses.items import (
    ANSWERED,
    OUTPUTS,
    TEXTS,
    TEXTUAL,
    answered_by,
    blocks_of,
    compose,
    fresh,
    kind_of,
)
from trimtab.dialects.responses.parse import result_text
from trimtab.dialects.wires import mended
from trimtab.edits import Repair
from trimtab.texts.cutting import clip

__all__ = ["repair"]

MENDED = "an output without content, or half of a character"


def repair(path: Sequence[Message], start: int) -> list[Repair]:
    """The repairs that ``path[start:]`` needs, exchange by exchange."""
    found = []
    for answers, replies in exchanges(path, start):
        words = dict(_unpaired(path, answers, replies))
        words |= dict.fromkeys((message.id for message in _stranded(answers, replies, words)), ())
        for message in (*answers, *replies):
            said = blocks_of(message.wire)
            shown = words.get(message.id, said)
            blocks = _mended(message.wire, shown)
            if blocks != said:
                found.append(Repair(message.id, tuple(blocks), APART if shown is not said else MENDED))
    return found


def _unpaired(
    path: Sequence[Message], answers: Sequence[Message], replies: Sequence[Message]
) -> Iterator[tuple[str, Sequence[Any]]]:
    """Ids of calls without an output and of outputs without a call, and the messages that stand for them.

    A call waits for its output as long as its exchange is not over.
    """
    calls = [one for one in answers if kind_of(one.wire) in ANSWERED and answered_by(one.wire)]
    waiting = {answered_by(one.wire): one for one in reversed(calls)}
    for message in calls:
        if waiting[answered_by(message.wire)] is not message:
            yield message.id, [_asked(message)]
    for message in replies:
        lost = kind_of(message.wire) in OUTPUTS and waiting.pop(answered_by(message.wire), None) is None
        if lost and not any(kind_of(one.wire) == "item_reference" for one in path[: message.depth]):
            yield message.id, [_returned(message.wire)]
    if replies:
        for message in waiting.values():
            yield message.id, [_asked(message)]


def _stranded(answers: Sequence[Message], replies: Sequence[Message], words: Any) -> Iterator[Message]:
    """Reasoning behind which, up to the next reasoning, nothing is left but words; a compaction may follow it."""
    led = bool(replies) and kind_of(replies[0].wire) == "compaction"
    before = False
    for message in reversed(answers):
        if kind_of(message.wire) == "reasoning":
            before = True
            if not led:
                yield message
        else:
            led = (led and not before) or message.id not in words
            before = False


def _asked(message: Message) -> Wire:
    """A call without its output, in words."""
    block = message.blocks[0]
    arguments = clip(block.text or str(block.wire.get("action") or ""), CHARACTERS, LINES)
    name = block.name or kind_of(message.wire).removesuffix("_call")
    return {"role": "assistant", "content": UNANSWERED.format(name=name, arguments=arguments)}


def _returned(wire: Wire) -> Wire:
    """An output without its call, as a user's message."""
    output = wire.get("output")
    parts = output if isinstance(output, list) and kind_of(wire) != "shell_call_output" else ()
    media = [part for part in parts if part.get("type") not in TEXTS]
    if kind_of(wire) == "computer_call_output":
        media = [{"type": "input_image", "detail": "auto", "image_url": (output or {}).get("image_url")}]
    text = ORPHAN + result_text(wire)
    return {"role": "user", "content": [{"type": "input_text", "text": text}, *media] if media else text}


def _mended(wire: Wire, blocks: Sequence[Any]) -> list[Any]:
    """The same blocks with whole characters; an output may be empty, but must be there."""
    whole: list[Any] = mended(list(blocks))
    if kind_of(wire) == "message":
        rest = {key: value for key, value in wire.items() if key != "content"}
        return whole if mended(rest) == rest else [compose({**wire, **mended(rest)}, whole)]
    for n, block in enumerate(whole):
        if kind_of(block) in TEXTUAL and block.get("output") is None:
            whole[n] = {**block, "output": ""}
        if whole[n] != blocks[n]:
            whole[n] = fresh(whole[n])
    return whole
