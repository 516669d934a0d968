"""What the memory does not cover yet, as plain text for a prompt: made from what was said, bounded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from trimtab.texts import answers, brief, clean, clipped, speaker, told

if TYPE_CHECKING:
    from trimtab.conversation import Block, Message
    from trimtab.view import View

__all__ = ["News", "news", "rounds_end"]

USER = 12_000
"""Characters: longer texts of the user are shown by their head and tail."""
TEXT = 4_000
"""The same of what the assistant said, and of each argument of a call."""
RESULT = 2_000
"""The same of a result: what matters of it the assistant says or uses."""


class News(NamedTuple):
    """Messages of the path as a text."""

    text: str
    upto: Message
    """The last of them."""


def rounds_end(path: Sequence[Message], rounds: Sequence[int]) -> int:
    """The path position behind the last round that has all its results."""
    end = len(path)
    while end and rounds[end - 1] < 0:
        end -= 1
    start = rounds[end - 1] if end else 0
    blocks = [block for message in path[start:end] for block in message.blocks if block.call and not block.server]
    answered = {block.call for block in blocks if block.type == "tool_result"}
    waits = any(block.type == "tool_use" and block.call not in answered for block in blocks)
    return start if waits else end


def news(view: View, start: int, end: int, room: float) -> News:
    """What was said at path positions ``start`` to ``end``, the oldest first: whole rounds that fit ``room`` tokens.

    What does not fit is left for the next time; one round that is too long by itself is shown by its head and tail.
    """
    path, rounds = view.projection.path, view.projection.rounds
    texts: list[str] = []
    tools: dict[str, str] = {}
    upto = start
    while upto < end:
        after = _round_end(rounds, upto, end)
        text = "\n".join(
            part for message in path[upto:after] for part in told(message, tools, partial(_content, message))
        )
        tokens = view.count(text)
        if texts and tokens > room:
            break
        if tokens > room:
            text = clipped(text, int(0.9 * room * len(text) / tokens))
        texts.append(text)
        room -= tokens
        upto = after
    return News(clean("\n".join(texts)), path[upto - 1])


def _round_end(rounds: Sequence[int], start: int, end: int) -> int:
    """The position behind the round at ``start``, or behind the next one where the user speaks there."""
    while start < end and rounds[start] < 0:
        start += 1
    at = start
    while at < end and rounds[at] == rounds[start]:
        at += 1
    return at


def _content(message: Message, block: Block) -> str:
    if answers(block) and block.type != "tool_use":
        return brief(block, RESULT)
    return brief(block, USER if speaker(message) == "user" else TEXT)
