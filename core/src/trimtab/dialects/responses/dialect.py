"""The dialect object: rendering, sizes and cost facts of OpenAI's Responses API."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trimtab.conversation import Block, Message, Wire
from trimtab.dialect import Count
from trimtab.dialects.openai.parse import bare
from trimtab.dialects.refusals import refusal
from trimtab.dialects.responses.items import (
    CALLS,
    RESULTS,
    TEXTS,
    TEXTUAL,
    blocks_of,
    compose,
    fresh,
    kind_of,
    parts_of,
    role_of,
    text_part,
)
from trimtab.dialects.responses.parse import canonical, field_with_parts, markers, parse, plain
from trimtab.dialects.responses.repair import repair
from trimtab.dialects.responses.sizes import block_tokens
from trimtab.dialects.responses.tools import call, offered, result, tool_names
from trimtab.dialects.responses.usage import usage
from trimtab.dialects.responses.validate import validate
from trimtab.dialects.tags import tagged, untagged

__all__ = ["Responses"]


class Responses:
    """OpenAI Responses: an answer is a row of items, each output an item of its own, to the kernel one of the user.

    What the provider runs itself, reasoning, and items of types that nobody here knows pass through, and go only with
    the whole round that they stand in. An item that an edit or a repair changes loses its id: under that the provider
    knows the unchanged one.
    """

    name = "responses"
    # roles need not alternate; but two answers that an edit makes neighbours would become one round to the provider
    apart = frozenset({(None, "assistant"), ("assistant", "assistant")})
    features: frozenset[str] = frozenset()

    # what takes more than a few lines has a module of its own; `Dialect` says what each does
    plain = staticmethod(plain)
    parse = staticmethod(parse)
    canonical = staticmethod(canonical)
    bare = staticmethod(bare)
    repair = staticmethod(repair)
    validate = staticmethod(validate)
    usage = staticmethod(usage)
    refusal = staticmethod(refusal)
    size = staticmethod(block_tokens)
    tools = staticmethod(offered)
    tool_names = staticmethod(tool_names)
    call = staticmethod(call)
    result = staticmethod(result)

    def head(self, system: Any, tools: Any, count: Count) -> int:
        """The instructions, and the JSON of all tool definitions."""
        text = system if isinstance(system, str) else json.dumps(system or "", ensure_ascii=False)
        return (count(text) if system else 0) + (count(json.dumps(tools, ensure_ascii=False)) if tools else 0)

    def render(self, message: Message, faces: Mapping[int, str | None]) -> Wire:
        """See `Dialect.render`; a call and an output keep what pairs them, media become text."""
        said = blocks_of(message.wire)
        return compose(message.wire, _faced((wire, faces.get(n, "")) for n, wire in enumerate(said)))

    def rebuild(self, message: Message, blocks: Sequence[Any], faces: Mapping[int, str | None]) -> Wire:
        """See `Dialect.rebuild`."""
        faced = [(message.blocks[n].wire, text) for n, text in faces.items()]
        pairs = ((wire, next((text for said, text in faced if said == wire), "")) for wire in blocks)
        return compose(message.wire, _faced(pairs))

    def marked(self, wire: Wire, handed: Any) -> Wire:
        """A marker stays on its part; where parts were left out, on the nearest one; a string becomes a part for it."""
        copy: dict[str, Any] = {**plain(wire)}
        marks, field = markers(handed) if handed is not None else {}, field_with_parts(copy)
        parts = parts_of(copy, field) if marks else []
        for n, marker in marks.items() if parts else ():
            n = min(n, len(parts) - 1)
            parts[n] = {**parts[n], **marker}
            copy[field] = parts
        return copy

    def user(self, parts: Sequence[Any]) -> Wire:
        """See `Dialect.user`; a single text is a string, and the texts of `carry` become what the API calls them."""
        if len(parts) == 1 and isinstance(parts[0], str):
            return {"role": "user", "content": parts[0]}
        texts = (part if isinstance(part, str) else part["text"] if part["type"] == "text" else None for part in parts)
        blocks = [part if text is None else text_part(text) for part, text in zip(parts, texts, strict=True)]
        return {"role": "user", "content": blocks}

    def carry(self, block: Block, text: str) -> list[Any]:
        """Text and outputs become text; images and other media, also those in an output, stay what they are."""
        words = text or block.text
        said = [{"type": "text", "text": words}] if words.strip() else []
        if text or not block.media:
            return said
        if block.type != "tool_result":
            return [block.wire]
        return [*said, *(part for part in block.wire["output"] if part.get("type") not in TEXTS)]

    def system(self, system: Any, texts: Sequence[str]) -> Any:
        """The instructions with texts appended."""
        return "\n\n".join([*([system] if system else []), *texts]) if texts else system

    def instruction(self, text: str) -> None:
        """None: instructions are a parameter."""
        return

    def breaks_all(self, block: Block) -> bool:
        """Never: the caches hold strict prefixes, whatever stands behind them."""
        return False

    def tag(self, wire: Wire, text: str) -> Wire | None:
        """See `Dialect.tag`; to the kernel an output is a message of the user."""
        if (field := _speaking(wire)) is None:
            return None
        content = tagged(wire.get(field), text, result=field == "output", type="input_text")
        return None if content is None else {**fresh(wire), field: content}

    def untag(self, wire: Wire, pattern: re.Pattern[str]) -> tuple[Wire, str] | None:
        """See `Dialect.untag`."""
        if (field := _speaking(wire)) is None:
            return None
        found = untagged(wire.get(field), pattern, result=field == "output", type="input_text")
        return found and ({**wire, field: found[0]}, found[1])

    def evicting(self, messages: Sequence[Any], deletions: Mapping[int, Sequence[str]]) -> list[Any]:
        """As they are: the provider deletes nothing from its cache."""
        return list(messages)

    def without_edits(self, message: Any) -> Any:
        """As it is."""
        return message

    def extra(self, features: Mapping[str, Any]) -> dict[str, Any]:
        """None."""
        return {}


def _speaking(wire: Wire) -> str | None:
    """The field with the text of an item of the user's voice; None of any other item."""
    kind = kind_of(wire)
    if kind == "message":
        return "content" if role_of(wire) == "user" else None
    return "output" if kind in TEXTUAL else None


def _faced(blocks: Iterable[tuple[Wire, str | None]]) -> list[Wire]:
    """Wire blocks with their faces: empty, the block itself; None, nothing."""
    return [_shown(wire, face) if face else wire for wire, face in blocks if face is not None]


def _shown(wire: Wire, text: str) -> Wire:
    kind = kind_of(wire)
    if kind in CALLS:
        return {**fresh(wire), CALLS[kind]: _arguments(kind, wire, text)}
    if kind == "shell_call_output":
        chunks = wire.get("output")
        outcome = chunks[0].get("outcome") if isinstance(chunks, list) and chunks else None
        ended = outcome or {"type": "exit", "exit_code": 0}
        return {**fresh(wire), "output": [{"stdout": text, "stderr": "", "outcome": ended}]}
    if kind in RESULTS:
        return {**fresh(wire), "output": text}
    return {"type": kind, "text": text} if kind in TEXTS else text_part(text)


def _arguments(kind: str, wire: Wire, text: str) -> Any:
    """Other arguments as the call has them: as JSON, as free text, or as an action whose values keep their types."""
    if kind == "function_call":
        return text
    said = json.loads(text)
    if kind == "custom_tool_call":
        given = said["input"]
        return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    old = wire[CALLS[kind]]
    return {**old, **{key: new for key, new in said.items() if key != "type" and type(new) is type(old[key])}}
