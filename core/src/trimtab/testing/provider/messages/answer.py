"""From a reply to the API's message: content blocks within the limits, the reason to stop, usage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trimtab.testing.provider.messages.parse import Prompt
from trimtab.testing.provider.messages.thinking import State, Thinking
from trimtab.testing.provider.script import Part, Reply, Text, Think, Use
from trimtab.testing.provider.tokens import Tokens

__all__ = ["Answer", "message", "within"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said: content blocks, output tokens, and why it stopped."""

    content: Sequence[dict[str, Any]]
    tokens: int
    stop: str


def weight(part: Part, tokens: Tokens) -> int:
    """Output tokens of a part."""
    return tokens.value([part.name, part.input]) if isinstance(part, Use) else tokens.text(part.text)


def within(reply: Reply, tokens: Tokens, room: int, most: int) -> tuple[list[Part], int, str]:
    """The parts that fit, their tokens, and the reason to stop.

    ``most`` is the request's ``max_tokens``, ``room`` what the window leaves; what goes beyond is cut off.
    """
    limit = min(room, most)
    parts: list[Part] = []
    used = 0
    for part in reply.parts:
        size = weight(part, tokens)
        if used + size <= limit:
            parts.append(part)
            used += size
            continue
        if isinstance(part, Text) and limit > used:
            parts.append(Text(part.text[: len(part.text) * (limit - used) // size]))
        return parts, limit, "max_tokens" if most <= room else "model_context_window_exceeded"
    return parts, used, "tool_use" if any(isinstance(part, Use) for part in parts) else "end_turn"


def said(
    parts: Sequence[Part], prompt: Prompt, thinking: Thinking, state: State, before: Sequence[str], number: int
) -> list[dict[str, Any]]:
    """The content blocks; thinking is signed for the place it stands at."""
    content: list[dict[str, Any]] = []
    seen = list(before)
    omitted = (prompt.body.get("thinking") or {}).get("display") == "omitted"
    for index, part in enumerate(parts):
        if isinstance(part, Think):
            shown = "" if omitted else part.text
            signature = thinking.sign(part.text, shown, prompt.model, state, seen, number)
            seen.append(signature)
            content.append({"type": "thinking", "thinking": shown, "signature": signature})
            continue
        if isinstance(part, Text):
            block: dict[str, Any] = {"type": "text", "text": part.text}
        else:
            id = part.id or f"toolu_{number:06d}_{index}"
            thinking.called(id, number)
            block = {"type": "tool_use", "id": id, "name": part.name, "input": dict(part.input)}
        if not isinstance(part, Text) or part.text:
            content.append(block)
            state = state.then("assistant", block)
    return content


def message(prompt: Prompt, answer: Answer, usage: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The whole message as JSON."""
    return {
        "id": f"msg_{number:06d}",
        "type": "message",
        "role": "assistant",
        "model": prompt.model,
        "content": list(answer.content),
        "stop_reason": answer.stop,
        "stop_sequence": None,
        "usage": dict(usage),
    }
