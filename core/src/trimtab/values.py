"""Sizes, durations and shares as people write them, as types for options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from trimtab.errors import ProfileError

__all__ = ["Amount", "Duration", "Size", "Window", "amount", "duration", "size", "window"]
SMALLEST = 1_000  # tokens; a window below holds no conversation, and 0 is a slip
SIZES = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}


def _number(value: Any, units: Mapping[str, int], what: str, *, whole: bool = False) -> Decimal:
    match = re.fullmatch(r"(\d[\d_]*(?:\.\d+)?) ?([a-z]?)", str(value).lower())
    number = Decimal(match[1].replace("_", "")) * units[match[2]] if match and match[2] in units else None
    if number is None or isinstance(value, bool) or (whole and number % 1):
        raise ValueError(f"{value!r} is not {what}")
    return number


def size(value: Any) -> int:
    """Read a count such as ``24_000``, ``20k`` or ``1.5m`` (k = 1,000, m = 1,000,000); raises ValueError."""
    return int(_number(value, SIZES, "a size; write a whole number such as 24_000, 20k or 1.5m", whole=True))


def window(value: Any) -> int:
    """Read the size of a window, at least 1,000 tokens; raises ValueError."""
    number = size(value)
    if number < SMALLEST:
        raise ValueError(f"{value!r} is not a window; write at least {SMALLEST:,} tokens, as 200k")
    return number


def duration(value: Any) -> float:
    """Read seconds, or a text such as ``5s``, ``60m``, ``2h`` or ``1d``; raises ValueError."""
    return float(_number(value, SECONDS, "a duration; write 5s, 60m, 2h or 1d"))


def amount(value: Any, words: Iterable[str] = ()) -> int | float:
    """Read tokens (a size above 1, int) or a share (above 0 up to 1, float); errors list ``words`` too."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1:
        return float(value)
    try:
        return size(value)
    except ValueError:
        what = f"{value!r} is neither tokens, as 20k, nor a share, as 0.9"
        error = ProfileError(what, given=str(value), available=words, label="or a level")
        raise ValueError(str(error)) from None


_TEXT = {"type": ["number", "string"], "minimum": 0, "pattern": "^[0-9][0-9_.]* ?[A-Za-z]?$"}
Size = Annotated[int, BeforeValidator(size), WithJsonSchema(_TEXT)]
Window = Annotated[int, BeforeValidator(window), WithJsonSchema({**_TEXT, "minimum": SMALLEST})]
Duration = Annotated[float, BeforeValidator(duration), WithJsonSchema(_TEXT)]
Amount = Annotated[int | float, BeforeValidator(amount), WithJsonSchema(_TEXT)]
