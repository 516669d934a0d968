"""What chat servers report of a request, under the names that each of them has for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from trimtab.dialect import Usage
from trimtab.dialects.wires import fields_or_none

__all__ = ["counted", "usage"]

READ = ("cached_tokens", "prompt_cache_hit_tokens")
"""Tokens read from the cache: OpenAI (in ``prompt_tokens_details``), Kimi and others beside it; DeepSeek."""
WRITTEN = ("cache_write_tokens",)
"""Tokens written: OpenAI from GPT-5.6 on. Proxies report zero for servers that do not tell, so zero tells nothing."""
MISSED = ("prompt_cache_miss_tokens",)


def usage(response: Any) -> Usage | None:
    """The usage of a response (mapping or SDK object), or a bare usage mapping; None where there is none."""
    return counted(fields_or_none(response), "prompt_tokens", "completion_tokens")


def counted(response: Mapping[str, Any], prompt: str, completion: str) -> Usage | None:
    """The same, with the names of the fields that hold the input and the output.

    The input includes what was read. Automatic caches store each prompt, though few servers say so: unless it
    is told what was written, all that was not read was. As fresh it would tell the cache model that nothing of it is
    held, and the next request would be edited as if it were cold.
    """
    found = fields_or_none(response.get("usage", response))
    places = (found, fields_or_none(found.get(f"{prompt}_details")))
    read, missed = _largest(places, READ), _largest(places, MISSED)
    written = _largest(places, WRITTEN)
    total = _largest((found,), (prompt,)) or (read or 0.0) + (missed or 0.0)
    if total <= 0:
        return None
    output = _largest((found,), (completion,)) or 0.0
    model = str(response.get("model") or "")
    if read is None and written is None:
        return Usage(0.0, 0.0, total, output, model, split=False)
    read = min(read or 0.0, total)
    written = min(written or total, total - read)
    return Usage(read, written, total - read - written, output, model)


def _largest(places: tuple[Mapping[str, Any], ...], names: tuple[str, ...]) -> float | None:
    """The largest number of tokens under any of these names: proxies fill one with zero and another with the truth."""
    values = [place[name] for place in places for name in names if name in place]
    return max((float(value) for value in values if _is_count(value)), default=None)


def _is_count(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf
