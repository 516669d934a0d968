"""What the memory does not cover yet, as plain text for a prompt: made from what was said, bounded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from trimtab.texts import NAME, answers, clean, first, flat, last, speaker, spelled

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

_BEGINS = re.compile("^(?=---)", re.MULTILINE)
"""Where a line would begin as those do that say whose text follows."""


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
    upto = start
    while upto < end:
        after = _round_end(rounds, upto, end)
        text = "\n".join(part for message in path[upto:after] for part in _parts(message))
        tokens = view.count(text)
        if texts and tokens > room:
            break
        if tokens > room:
            text = _bounded(text, int(0.9 * room * len(text) / tokens))
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


def _parts(message: Message) -> Iterator[str]:
    """Each block under a line that says what it is; thinking is left out."""
    for block in message.blocks:
        if block.type == "tool_use":
            said = "\n".join(f"{flat(key, 40)}: {_quoted(spelled(value), TEXT)}" for key, value in block.input.items())
            yield f"--- call of {flat(block.name, NAME)}\n{said or _quoted(block.text, TEXT)}"
        elif answers(block):
            yield f"--- result{', failed' if block.error else ''}\n{_content(block, RESULT)}"
        elif block.type != "thinking":
            who = speaker(message)
            yield f"--- {who}\n{_content(block, USER if who == 'user' else TEXT)}"


def _content(block: Block, most: int) -> str:
    """What a block says; no line of it can pass for another block."""
    parts = [_quoted(block.text, most)] if block.text else []
    if block.media or not (parts or answers(block)):
        parts.append(f"[{'media' if answers(block) else block.type}]")
    return "\n".join(parts)


def _quoted(text: str, most: int) -> str:
    return _BEGINS.sub(" ", _bounded(text, most))


def _bounded(text: str, most: int) -> str:
    """A text of at most about ``most`` characters: two thirds of them from its head, one from its tail."""
    if len(text) <= most:
        return text
    start, end = first(text, most * 2 // 3), last(text, most // 3)
    return f"{start}\n[{len(text) - len(start) - len(end):,} characters are left out here]\n{end}"
