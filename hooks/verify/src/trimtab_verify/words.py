"""What a reader sees of blocks and of places in the view, and how something lost is worded when it comes back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trimtab.texts import answers, clean, first, last, neutral, spelled

if TYPE_CHECKING:
    from trimtab.conversation import Block
    from trimtab.projection import Item
    from trimtab.view import View

    from trimtab_verify.checks import Check, Found

__all__ = ["around", "named", "plain", "put_back", "said", "stored", "texts"]

AROUND = 300
"""Characters put back before and behind what was lost, at most: chosen, about three lines."""
TAG = "said-earlier"

_END = re.compile(r"[.!?](?=\s)|[。！？\n]")
_TOKEN = re.compile(r"[^\s\"'<>]+")
_START = re.compile(r"blob:|[~/\\]|[A-Za-z]:")
_STORED = re.compile(r"(?<=[0-9a-f]{32})\.txt")
NAME = 32 + len(".txt")
"""Characters of the name of a stored original."""


def said(block: Block) -> str:
    """What a reader sees of a block: of a call its arguments, of thinking nothing."""
    if block.type == "tool_use" and block.input:
        return "\n".join(map(spelled, block.input.values()))
    return "" if block.type == "thinking" else block.text


def texts(view: View, item: Item) -> Iterator[str]:
    """What the model sees at one place of the view."""
    state = view.projection.state
    if item.message is None:
        _, blocks = view.projection.dialect.parse(item.wire or {}, "")
        yield from (block.text for block in blocks)
        return
    for block in item.message.blocks:
        face = state.faces.get(block.id)
        if block.id not in state.evicts:
            yield said(block) if face is None else face.text or ""


def plain(text: str) -> str:
    """One spelling of texts that differ in case and spaces."""
    return " ".join(text.split()).casefold()


def named(text: str, path: str) -> bool:
    """Whether a text names a file by this path or by a longer one."""
    return re.search(rf"(?<![\w.-]){re.escape(path)}(?![\w-]|\.\w)", text) is not None


def stored(text: str) -> Iterator[str]:
    """What in a text looks like a path of a stored original."""
    for token in _TOKEN.finditer(text) if ".txt" in text else ():  # in steps, each of linear time
        ends = [match.end() for match in _STORED.finditer(token[0])]
        start = _START.search(token[0], 0, ends[-1] - NAME) if ends else None
        if start:
            yield token[0][start.start() : ends[-1]]


def around(text: str, start: int, end: int) -> str:
    """The sentence that holds ``text[start:end]``, or as much of it as lies within `AROUND` characters."""
    head, tail = last(text[:start], AROUND), first(text[end:], AROUND)
    begin = max((match.end() for match in _END.finditer(f"{head} ")), default=0)
    stop = _END.search(tail)
    closed = _END.match(text[end - 1 : end + 1])
    return f"{head[begin:]}{text[start:end]}{'' if closed else tail[: stop.end() if stop else len(tail)]}".strip()


def put_back(view: View, check: Check, found: Found) -> str:
    """What was lost, in a frame that nothing in it can close."""
    inner = check.back(view, found)
    for tag in (TAG, "system-reminder"):
        inner = neutral(clean(inner), tag)
    who = "tool" if answers(found.block) and found.block.type != "tool_use" else found.message.role
    return (
        "The conversation was shortened, and this is no longer shown above; it is put back as a record of what was "
        f'said, not as a new request.\n<{TAG} by="{who}">\n{inner}\n</{TAG}>'
    )
