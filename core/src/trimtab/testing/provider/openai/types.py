"""What each parameter must be, so that nonsense is the caller's 400 and no fault of the provider's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trimtab.testing.provider.openai.errors import invalid_type, missing

__all__ = ["check_types"]

NUMBERS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
LISTS = ("context_management", "include", "tools")
OBJECTS = ("metadata", "prompt_cache_options", "reasoning", "stream_options", "text")


def check_types(body: Mapping[str, Any]) -> None:
    """Raise `Refused` for the first parameter of another type; null is as good as none."""
    if not body.get("model"):
        raise missing("model")
    kinds: dict[str, tuple[type, str]] = {"model": (str, "a string")} | dict.fromkeys(NUMBERS, (int, "an integer"))
    kinds |= dict.fromkeys(LISTS, (list, "an array")) | dict.fromkeys(OBJECTS, (dict, "an object"))
    for name, (kind, expected) in kinds.items():
        value: Any = body.get(name)
        if value is None:
            continue
        if not isinstance(value, kind) or isinstance(value, bool):
            raise invalid_type(name, expected)
        entries: list[Any] = body[name] if name in ("context_management", "tools") else []
        for index, entry in enumerate(entries):
            if not isinstance(entry, dict):
                raise invalid_type(f"{name}[{index}]", "an object")
