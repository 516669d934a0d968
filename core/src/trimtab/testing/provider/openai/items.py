"""A script's answer as the output items of a response."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from trimtab.testing.provider.cache import chain
from trimtab.testing.provider.openai.seals import sealed
from trimtab.testing.provider.openai.talk import arguments
from trimtab.testing.provider.openai.units import Unit, item_units
from trimtab.testing.provider.script import Part, Text, Think, Use
from trimtab.testing.provider.tokens import Tokens

__all__ = ["bound_to", "compaction_item", "output_items"]


def bound_to(units: Iterable[Unit], before: str = "") -> str:
    """What reasoning behind these units is bound to, where ``before`` is that of what stands before them."""
    return [before, *chain((unit.key for unit in units), before)][-1]


def output_items(
    parts: Sequence[Part], prefix: str, *, model: str, seed: int, custom: set[str], tokens: Tokens
) -> list[dict[str, Any]]:
    """One item for each part; reasoning is sealed, and bound to ``prefix`` and the parts before it."""
    items: list[dict[str, Any]] = []
    for number, part in enumerate(parts):
        id = f"{seed:06d}{number:02d}"
        if isinstance(part, Think):
            items.append(_reasoning(part, id, model, prefix, tokens.text(part.text)))
            continue
        item = _message(part, id) if isinstance(part, Text) else _call(part, id, part.name in custom)
        items.append(item)
        prefix = bound_to(item_units([item], tokens), prefix)
    return items


def _reasoning(part: Think, id: str, model: str, prefix: str, tokens: int) -> dict[str, Any]:
    id = f"rs_{id}"
    return {
        "id": id,
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": part.text}],
        "encrypted_content": sealed(tokens=tokens, prefix=prefix, model=model, id=id),
    }


def _message(part: Text, id: str) -> dict[str, Any]:
    text = {"type": "output_text", "text": part.text, "annotations": [], "logprobs": []}
    return {"id": f"msg_{id}", "type": "message", "status": "completed", "role": "assistant", "content": [text]}


def _call(part: Use, id: str, custom: bool) -> dict[str, Any]:
    call_id = part.id or f"call_{id}"
    text = arguments(part.input, custom)
    if custom:
        return {"id": f"ctc_{id}", "type": "custom_tool_call", "call_id": call_id, "name": part.name, "input": text}
    return {
        "id": f"fc_{id}",
        "type": "function_call",
        "status": "completed",
        "call_id": call_id,
        "name": part.name,
        "arguments": text,
    }


def compaction_item(seed: int, tokens: int, keeps_users: bool) -> dict[str, Any]:
    """A compaction that weighs ``tokens``; ``keeps_users``: whether user messages before it are still read."""
    seal = sealed(tokens=tokens, seed=seed, keeps_users=keeps_users)
    return {"id": f"cmp_{seed:06d}", "type": "compaction", "encrypted_content": seal}
