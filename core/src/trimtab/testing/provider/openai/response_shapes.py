"""A response as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trimtab.testing.provider.openai.prefixes import Hit

__all__ = ["response_json", "response_usage", "shown_items"]

SEAL = "reasoning.encrypted_content"
_REPEATED: dict[str, Any] = {
    "background": False,
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "truncation": "disabled",
}
"""Fields of the request that a response repeats, with what they are where the request has none."""


def response_json(id: str, body: Mapping[str, Any], created: float, **fields: Any) -> dict[str, Any]:
    """The response to ``body``; ``fields`` are what came of it."""
    asked = {name: default if body.get(name) is None else body[name] for name, default in _REPEATED.items()}
    head = {"id": id, "object": "response", "created_at": int(created), "model": body["model"]}
    return {**head, "error": None, "incomplete_details": None, "output": [], "usage": None, **asked, **fields}


def response_usage(tokens: int, hit: Hit, output: int, reasoning: int) -> dict[str, Any]:
    """The usage of a request of ``tokens``."""
    return {
        "input_tokens": tokens,
        "input_tokens_details": {"cached_tokens": hit.read, "cache_write_tokens": hit.written},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": tokens + output,
    }


def shown_items(output: Sequence[Mapping[str, Any]], body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Output items as the caller gets them: reasoning without its seal unless the request includes that."""
    sealed = SEAL in (body.get("include") or ())
    return [
        {name: value for name, value in item.items() if sealed or name != "encrypted_content"}
        if item["type"] == "reasoning"
        else dict(item)
        for item in output
    ]
