"""Images and documents make way for a line that says what they were."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from trimtab import Replace
from trimtab.neighbours import latest
from trimtab.texts import clean, flat

if TYPE_CHECKING:
    from trimtab.conversation import Block, Message
    from trimtab.view import View

__all__ = ["media", "without"]

TEXTS = ("input_text", "output_text", "text")
"""Types of content parts that are text."""
LEAST = 1_000
"""Bytes as sent: what is smaller (a link to a picture, a file's id) frees nothing that matters."""

REASON = "the request was too large in bytes"

_TYPE = re.compile(r'"(?:media_type|mime_type)": ?"([\w.+/-]{1,80})"|"data:([\w.+/-]{1,80})[;,]')
ENDS = 2_000
"""Characters at each end of a part in which its type is looked for."""
KIND, PATH = 80, 500
"""Characters shown of a type, and of the path that a call named."""


def media(view: View) -> list[Replace]:
    """Take out what is not text, the oldest first; that of the latest round only where there is no other."""
    end = latest(view)
    older: list[Replace] = []
    newest: list[Replace] = []
    for item in view.messages:
        if item.message is None or item.role == "system":
            continue
        for block in item.message.blocks:
            shown = block.id not in view.projection.state.faces
            if block.media and shown and sum(len(part) for _, part in _parts(block)) >= LEAST:
                text = without(view, item.message, block, REASON)
                (older if item.end <= end else newest).append(Replace(block, text, REASON))
    return older or newest


def without(view: View, message: Message, block: Block, why: str) -> str:
    """The text of a block, and a line for each image, document or other part of it that is none."""
    lines = [clean(block.text)] if block.text.strip() else []
    again = ""
    if block.type == "tool_result" and (path := view.result(message, block).path):
        again = f"; to see it, read {flat(path, PATH)} again"
    for kind, part in _parts(block):
        lines.append(f"[{kind}, {len(part):,} bytes as sent: taken out, {why}. This session's store has it{again}]")
    return "\n".join(lines)


def _parts(block: Block) -> Iterator[tuple[str, str]]:
    """The type and the JSON of each part that is not text."""
    content = block.wire.get("content", block.wire.get("output")) if isinstance(block.wire, Mapping) else None
    for part in content if block.type == "tool_result" and isinstance(content, list) else [block.wire]:
        if isinstance(part, Mapping) and part.get("type") not in TEXTS:
            said = json.dumps(part, default=str)
            match = _TYPE.search(said[:ENDS]) or _TYPE.search(said[-ENDS:])
            yield flat(match[1] or match[2] if match else str(part.get("type") or "data"), KIND), said
