"""The dialect object: rendering, sizes, usage and cost facts of Anthropic Messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from trimtab.conversation import Block, Message, Wire
from trimtab.dialect import Count
from trimtab.dialects.anthropic import repair, tags
from trimtab.dialects.anthropic.cache_edits import evicting, without_edits
from trimtab.dialects.anthropic.features import FEATURES, extra
from trimtab.dialects.anthropic.parse import bare, blocks_of, canonical, markers, parse, plain
from trimtab.dialects.anthropic.tools import call, offered, result, tool_names
from trimtab.dialects.anthropic.usage import usage
from trimtab.dialects.anthropic.validate import validate
from trimtab.dialects.media import media_tokens
from trimtab.dialects.refusals import refusal

__all__ = ["Anthropic"]

SIGNATURE = 0.16
"""Uncalibrated tokens of thinking for one character of its signature (or of redacted data): the text that is shown is a
summary, the signature grows with what was thought. Fitted on the growth of 1,118 recorded requests."""

BLOCK = 3
"""Uncalibrated tokens of a block's framing: its type, and for results and calls their id."""


class Anthropic:
    """Anthropic Messages: content blocks in alternating user and assistant messages."""

    name = "anthropic"
    features = FEATURES
    apart = frozenset(
        {
            (None, "assistant"),
            (None, "system"),
            ("assistant", "assistant"),
            ("assistant", "system"),
            ("system", "user"),
        }
    )

    # what takes more than a few lines has a module of its own; `Dialect` says what each does
    plain = staticmethod(plain)
    parse = staticmethod(parse)
    canonical = staticmethod(canonical)
    bare = staticmethod(bare)
    repair = staticmethod(repair.repair)
    validate = staticmethod(validate)
    usage = staticmethod(usage)
    refusal = staticmethod(refusal)
    tag = staticmethod(tags.tag)
    untag = staticmethod(tags.untag)
    tools = staticmethod(offered)
    tool_names = staticmethod(tool_names)
    call = staticmethod(call)
    result = staticmethod(result)
    evicting = staticmethod(evicting)
    without_edits = staticmethod(without_edits)
    extra = staticmethod(extra)

    def size(self, block: Block, count: Count) -> int:
        """Text by the counter; images and documents by pixels and pages; thinking by its signature."""
        if block.type == "thinking":
            sealed = str(block.wire.get("signature") or block.wire.get("data") or "")
            return BLOCK + max(int(SIGNATURE * len(sealed)), count(block.wire.get("thinking") or ""))
        if block.type in ("image", "document"):
            return BLOCK + media_tokens(block.wire, count)
        if block.type == "other" and not block.text:
            return BLOCK + count(json.dumps(block.wire, ensure_ascii=False))
        media = 0
        if block.media:
            parts = block.wire.get("content") or ()
            media = sum(media_tokens(part, count) for part in parts if part.get("type") != "text")
        name = count(block.name) if block.name else 0
        return BLOCK + name + media + (count(block.text) if block.text else 0)

    def head(self, system: Any, tools: Any, count: Count) -> int:
        """System text and the JSON of all tool definitions."""
        text = system if isinstance(system, str) else "\n".join(str(part.get("text", "")) for part in system or ())
        return (count(text) if text else 0) + (count(json.dumps(tools, ensure_ascii=False)) if tools else 0)

    def render(self, message: Message, faces: Mapping[int, str | None]) -> Wire:
        """See `Dialect.render`; a result keeps its id and error mark, media become a text block."""
        blocks = []
        for n, wire in enumerate(blocks_of(message.wire)):
            if n not in faces:
                blocks.append(wire)
            elif (text := faces[n]) is not None:
                blocks.append(_shown(wire, text))
        return {**message.wire, "content": blocks}

    def rebuild(self, message: Message, blocks: Sequence[Any], faces: Mapping[int, str | None]) -> Wire:
        """See `Dialect.rebuild`."""
        said = blocks_of(message.wire)
        faced = [(said[n], text) for n, text in faces.items()]
        content = []
        for wire in blocks:
            face = next((text for old, text in faced if old == wire), "")
            if face is not None:
                content.append(_shown(wire, face) if face else wire)
        return {**message.wire, "content": content}

    def marked(self, wire: Wire, handed: Any) -> Wire:
        """A marker stays on its block; where blocks were left out, on the nearest one."""
        copy: dict[str, Any] = {**plain(wire)}
        marks = markers(handed) if handed is not None else {}
        if marks:
            blocks = copy["content"] = blocks_of(copy)
            for n, marker in marks.items():
                n = min(n, len(blocks) - 1)
                blocks[n] = {**blocks[n], "cache_control": marker}
        return copy

    def user(self, parts: Sequence[Any]) -> Wire:
        """See `Dialect.user`."""
        return {
            "role": "user",
            "content": [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts],
        }

    def carry(self, block: Block, text: str) -> list[Any]:
        """Text and results become text; images and documents, also those in a result, stay what they are."""
        words = text or block.text
        said = [{"type": "text", "text": words}] if words.strip() else []
        if text or not block.media:
            return said
        if block.type != "tool_result":
            return [block.wire]
        return [*said, *(part for part in block.wire["content"] if part.get("type") != "text")]

    def system(self, system: Any, texts: Sequence[str]) -> Any:
        """Appends text blocks; a string stays the first block."""
        if not texts:
            return system
        first = [{"type": "text", "text": system}] if isinstance(system, str) and system else list(system or ())
        return [*first, *({"type": "text", "text": text} for text in texts)]

    def instruction(self, text: str) -> None:
        """None: system text has a parameter of its own."""

    def breaks_all(self, block: Block) -> bool:
        """An image added or removed anywhere costs the cache of all messages."""
        return block.media


def _shown(wire: Mapping[str, Any], text: str) -> dict[str, Any]:
    if wire["type"] == "tool_result":
        return {**wire, "content": text}
    if wire["type"] == "tool_use":
        return {**wire, "input": json.loads(text)}
    if wire["type"] == "text":
        return {**wire, "text": text}
    return {"type": "text", "text": text}
