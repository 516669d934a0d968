"""Tokens of items: text by the counter, media by pixels and pages, what is encrypted by its length."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trimtab.conversation import Block
from trimtab.dialect import Count
from trimtab.dialects.openai.sizes import part_tokens as chat_tokens
from trimtab.dialects.responses.items import TEXTS, kind_of

__all__ = ["FRAME", "SEALED", "SEALING", "SEARCH", "block_tokens", "part_tokens"]

FRAME = 8
"""Uncalibrated tokens of the framing of an item that is no message: markup, and the id of a call. Fitted on the growth
of 63 recorded requests of GPT-5.5: 11 for a call and 12 for its output, of which the kernel counts 4 as a message's
own."""

SEALED, SEALING = 0.158, 920
"""Uncalibrated tokens for one character of encrypted reasoning, and the characters that are there before anything was
thought. Fitted by least squares on the reasoning tokens that were reported for 19 recorded answers with one reasoning
item (9 to 191 tokens; largest error 7); the next requests grew by as much."""

SEARCH = 4_100
"""Uncalibrated tokens that stay in the context for one search of the web, which its item does not show: the mean of
the growth at three recorded ones (2,100 to 6,100). Without it the meter takes them for text."""


def block_tokens(block: Block, count: Count) -> int:
    """Uncalibrated tokens of one block; of type text by its text alone, for it may stand in the place of another."""
    if block.type in ("document", "image"):
        return part_tokens(block.wire, count)
    if block.type == "other" or (block.type == "tool_result" and block.server):
        return FRAME + _opaque(block, count)
    media = 0
    if block.media:
        output = block.wire.get("output") or ()
        media = sum(part_tokens(part, count) for part in output if part.get("type") not in TEXTS)
    framing = FRAME if block.call else 0
    name = count(block.name) if block.name else 0
    return framing + name + media + (count(block.text) if block.text else 0)


def _opaque(block: Block, count: Count) -> int:
    wire, kind = block.wire, kind_of(block.wire)
    if kind in ("compaction", "reasoning") and (sealed := wire.get("encrypted_content")):
        return max(0, int(SEALED * (len(str(sealed)) - SEALING)))
    if kind == "reasoning":
        return count(block.text) if block.text else 0
    if kind == "web_search_call":
        return SEARCH
    if kind == "image_generation_call":
        return part_tokens({"type": "input_image", "image_url": wire.get("result")}, count)
    if kind == "computer_call_output":
        return part_tokens({**(wire.get("output") or {}), "type": "input_image"}, count)
    return count(block.text) if block.text else part_tokens(wire, count)


def part_tokens(part: Mapping[str, Any], count: Count) -> int:
    """Uncalibrated tokens of one content part, as chat completions would count it."""
    kind = part.get("type")
    if kind in TEXTS:
        return count(str(part.get("text") or ""))
    if kind == "input_image":
        picture = {"url": part.get("image_url"), "detail": part.get("detail")}
        return chat_tokens({"type": "image_url", "image_url": picture}, count)
    if kind == "input_file":
        return chat_tokens({"type": "file", "file": {"file_data": part.get("file_data")}}, count)
    if kind in ("input_audio", "refusal"):
        return chat_tokens(part, count)
    return count(json.dumps(part, ensure_ascii=False, default=str))
