"""What a script is told of a request, and how much of its answer fits."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trimtab.testing.provider.script import Part, Reply, Text, Think
from trimtab.testing.provider.tokens import Tokens

__all__ = ["Said", "arguments", "custom_tools", "fitted", "last_results", "last_text", "pieces", "text_of"]

PIECE = 24
"""Characters of one delta of a stream; chosen."""


def text_of(content: Any) -> str:
    """The text of a message's content or of a result: a string, or the texts of its parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str))


def last_text(entries: Sequence[Mapping[str, Any]]) -> str:
    """The last text in the user's voice, of messages or items."""
    texts = (text_of(entry.get("content")) for entry in reversed(entries) if entry.get("role") == "user")
    return next(filter(None, texts), "")


def last_results(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """The texts of the tool results at the end, in order."""
    found = []
    for entry in reversed(entries):
        if entry.get("role") == "tool":
            found.append(text_of(entry.get("content")))
        elif str(entry.get("type")).endswith("_call_output"):
            found.append(text_of(entry.get("output")))
        else:
            break
    return found[::-1]


def arguments(input: Mapping[str, Any], custom: bool) -> str:
    """A call's input as a text: JSON, or, of a custom tool, what stands under ``input``."""
    if custom and isinstance(input.get("input"), str):
        return str(input["input"])
    return json.dumps(input, ensure_ascii=False)


def custom_tools(body: Mapping[str, Any]) -> set[str]:
    """The names of the tools that take a text instead of JSON."""
    customs = (tool for tool in body.get("tools") or () if tool.get("type") == "custom")
    return {str((tool.get("custom") or tool).get("name")) for tool in customs}


def pieces(text: str) -> Iterable[str]:
    """A text in the pieces in which a stream brings it."""
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))


@dataclass(frozen=True, slots=True)
class Said:
    """The parts that fit, their tokens, those of them that are reasoning, and whether the answer was cut off."""

    parts: Sequence[Part]
    output: int
    reasoning: int
    cut: bool


def fitted(reply: Reply, room: int, tokens: Tokens) -> Said:
    """As much of a reply as fits in ``room`` tokens: whole parts, and of the text that does not fit its beginning."""
    parts: list[Part] = []
    output = reasoning = 0
    for part in reply.parts:
        weight = tokens.text(part.text if isinstance(part, Text | Think) else part.name + arguments(part.input, False))
        cut = output + weight > room
        if cut and isinstance(part, Text | Think):
            share = max(0, room - output) / weight
            part = type(part)(part.text[: int(len(part.text) * share)])
            weight = min(weight, max(0, room - output))
        if not cut or (isinstance(part, Text | Think) and part.text):
            parts.append(part)
            output += weight
            reasoning += weight if isinstance(part, Think) else 0
        if cut:
            return Said(parts, output, reasoning, True)
    return Said(parts, output, reasoning, False)
