"""The dialect object: rendering, sizes and cost facts of OpenAI Chat Completions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trimtab.conversation import Block, Message, Wire
from trimtab.dialect import Count
from trimtab.dialects.openai import repair
from trimtab.dialects.openai.parse import bare, canonical, markers, parse, plain
from trimtab.dialects.openai.sizes import part_tokens
from trimtab.dialects.openai.tools import call, offered, result, tool_names
from trimtab.dialects.openai.usage import usage
from trimtab.dialects.openai.validate import validate
from trimtab.dialects.openai.wire import RESULTS, blocks_of, compose, is_message, is_thought, parts_of, text_part
from trimtab.dialects.refusals import refusal
from trimtab.dialects.tags import tagged, untagged

__all__ = ["OpenAIChat"]

CALL = 60
"""Uncalibrated tokens of a call's and its result's framing: markup and ids. Fitted on the growth of 1,498 recorded
rounds of DeepSeek: 72 beside what the texts weigh, of which the kernel counts 8 as two messages' own."""


class OpenAIChat:
    """OpenAI Chat Completions: each result is a message of its own, to the kernel one of the user with one block."""

    name = "openai"
    # roles need not alternate; but servers with strict templates refuse what an edit would make here
    apart = frozenset({(None, "assistant"), ("assistant", "assistant"), ("system", "assistant")})
    features: frozenset[str] = frozenset()

    # what takes more than a few lines has a module of its own; `Dialect` says what each does
    plain = staticmethod(plain)
    parse = staticmethod(parse)
    canonical = staticmethod(canonical)
    bare = staticmethod(bare)
    repair = staticmethod(repair.repair)
    validate = staticmethod(validate)
    usage = staticmethod(usage)
    refusal = staticmethod(refusal)
    tools = staticmethod(offered)
    tool_names = staticmethod(tool_names)
    call = staticmethod(call)
    result = staticmethod(result)

    def size(self, block: Block, count: Count) -> int:
        """Text by the counter; calls by name and arguments; media by pixels, pages and seconds."""
        if block.type in ("document", "image") or (block.type == "other" and not block.text):
            return part_tokens(block.wire, count)
        media = 0
        if block.media:
            media = sum(part_tokens(part, count) for part in parts_of(block.wire) if part.get("type") != "text")
        call = CALL + count(block.name) if block.name else 0
        return call + media + (count(block.text) if block.text else 0)

    def head(self, system: Any, tools: Any, count: Count) -> int:
        """The JSON of all tool definitions; system text is a message here, but one handed in beside them counts."""
        parts = [text_part(system)] if isinstance(system, str) else system or ()
        text = sum(part_tokens(part, count) for part in parts)
        return text + (count(json.dumps(tools, ensure_ascii=False)) if tools else 0)

    def render(self, message: Message, faces: Mapping[int, str | None]) -> Wire:
        """See `Dialect.render`; a result keeps its id, media become text, reasoning beside calls an empty text."""
        said = blocks_of(message.wire)
        return compose(message.wire, _faced((wire, faces.get(n, "")) for n, wire in enumerate(said)))

    def rebuild(self, message: Message, blocks: Sequence[Any], faces: Mapping[int, str | None]) -> Wire:
        """See `Dialect.rebuild`; removed thinking goes, also where half of a character in it was mended."""
        if None in faces.values():
            blocks = [wire for wire in blocks if not is_thought(wire)]
        faced = [(message.blocks[n].wire, text) for n, text in faces.items()]
        pairs = ((wire, next((text for said, text in faced if said == wire), "")) for wire in blocks)
        return compose(message.wire, _faced(pairs))

    def marked(self, wire: Wire, handed: Any) -> Wire:
        """A marker stays on its part; where parts were left out, on the nearest one; a string becomes a part for it."""
        copy: dict[str, Any] = {**plain(wire)}
        marks = markers(handed) if handed is not None else {}
        copy |= marks.pop(-1, {})
        parts = parts_of(copy)
        if marks and parts:
            for n, marker in marks.items():
                n = min(n, len(parts) - 1)
                parts[n] = {**parts[n], **marker}
            copy["content"] = parts
        return copy

    def user(self, parts: Sequence[Any]) -> Wire:
        """See `Dialect.user`; nothing but texts is one string, since some servers (DeepSeek's) take nothing else."""
        blocks = [text_part(part) if isinstance(part, str) else part for part in parts]
        return compose({"role": "user", "content": ""}, blocks)

    def carry(self, block: Block, text: str) -> list[Any]:
        """Text and results become text; images and other media, also those in a result, stay what they are."""
        words = text or block.text
        said = [text_part(words)] if words.strip() else []
        if text or not block.media:
            return said
        if block.type != "tool_result":
            return [block.wire]
        return [*said, *(part for part in block.wire["content"] if part.get("type") != "text")]

    def system(self, system: Any, texts: Sequence[str]) -> Any:
        """As it is: `instruction` makes messages of the texts."""
        return system

    def instruction(self, text: str) -> Wire:
        """A system message."""
        return {"role": "system", "content": text}

    def breaks_all(self, block: Block) -> bool:
        """Never: the caches hold strict prefixes, whatever stands behind them."""
        return False

    def tag(self, wire: Wire, text: str) -> Wire | None:
        """See `Dialect.tag`; to the kernel a result is a message of the user."""
        content = None if _is_deaf(wire) else tagged(wire.get("content"), text, result=wire["role"] in RESULTS)
        return None if content is None else {**wire, "content": content}

    def untag(self, wire: Wire, pattern: re.Pattern[str]) -> tuple[Wire, str] | None:
        """See `Dialect.untag`."""
        found = None if _is_deaf(wire) else untagged(wire.get("content"), pattern, result=wire["role"] in RESULTS)
        return found and ({**wire, "content": found[0]}, found[1])

    def evicting(self, messages: Sequence[Any], deletions: Mapping[int, Sequence[str]]) -> list[Any]:
        """As they are: no server of this format deletes from its cache."""
        return list(messages)

    def without_edits(self, message: Any) -> Any:
        """As it is."""
        return message

    def extra(self, features: Mapping[str, Any]) -> dict[str, Any]:
        """None."""
        return {}


def _is_deaf(wire: Wire) -> bool:
    """Whether a message is not of the user's voice."""
    return wire["role"] in ("assistant", "developer", "system")


def _faced(blocks: Iterable[tuple[Wire, str | None]]) -> list[Wire]:
    """Wire blocks with their faces: empty, the block itself; None, nothing."""
    return [_shown(wire, face) if face else wire for wire, face in blocks if face is not None]


def _shown(wire: Wire, text: str) -> Wire:
    if is_message(wire):
        return {**wire, "content": text}
    if "function_call" in wire:
        return {"function_call": {**wire["function_call"], "arguments": text}}
    if "tool_call" in wire:
        entry = wire["tool_call"]
        kind, key = ("function", "arguments") if entry.get("function") else ("custom", "input")
        return {"tool_call": {**entry, kind: {**entry[kind], key: text}}}
    return {**wire, "text": text} if wire.get("type") == "text" else text_part(text)
