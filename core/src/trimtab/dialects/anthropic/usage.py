"""What the provider reports of a request: its size, what was cached, deleted and cleared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from trimtab.dialect import Usage
from trimtab.dialects.wires import fields_or_none

__all__ = ["usage"]

_CACHED = ("cache_read_input_tokens", "cache_creation_input_tokens")


def usage(response: Any) -> Usage | None:
    """The three input fields and the output; of several iterations the last message counts.

    What is deleted is cumulative, and some places of a response say 0 where another tells it: the largest counts. What
    was cleared stands beside the usage.
    """
    response = fields_or_none(response)
    whole = fields_or_none(response.get("usage", response))
    messages = [step for step in _entries(whole, "iterations") if step.get("type") == "message"]
    last = messages[-1] if messages else whole
    read, written, fresh, output = (_tokens(last.get(name)) for name in (*_CACHED, "input_tokens", "output_tokens"))
    if read + written + fresh <= 0:
        return None
    applied = _entries(fields_or_none(response.get("context_management")), "applied_edits")
    return Usage(
        read,
        written,
        fresh,
        output,
        str(response.get("model") or ""),
        split=any(name in last for name in _CACHED),
        deleted=max(_tokens(place.get("cache_deleted_input_tokens")) for place in (whole, *messages)),
        cleared=sum(_tokens(edit.get("cleared_input_tokens")) for edit in applied),
    )


def _entries(fields: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    entries = fields.get(name)
    return [fields_or_none(entry) for entry in entries] if isinstance(entries, list) else []


def _tokens(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and 0 < value < math.inf else 0.0
