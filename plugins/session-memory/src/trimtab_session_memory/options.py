"""The keys of `session-memory` in a profile."""

from __future__ import annotations

from pydantic import Field
from trimtab import StageOptions
from trimtab.values import Size

__all__ = ["MemoryOptions"]


class MemoryOptions(StageOptions):
    """When the memory is brought up to date. Tokens are scaled down on windows below 200k."""

    first: Size = 10_000
    """Tokens that the conversation must have before the first time."""
    tokens: Size = 5_000
    """Tokens that must have come since the last time, and"""
    calls: int = Field(3, ge=0)
    """tool calls that must have come since; or the last answer called no tool."""
    every: int | None = Field(None, ge=1)
    """Rounds since the last time, instead of ``tokens`` and ``calls``."""
