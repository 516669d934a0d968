"""The switches of the OpenAI APIs, and of the many servers that are compatible with them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from trimtab.testing.provider.settings import Settings

__all__ = ["OpenAISettings", "with_switches"]


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenAISettings(Settings):
    """`Settings` with what only OpenAI's APIs have; the defaults behave as OpenAI does."""

    silent_overflow: Literal["", "accept", "length"] = ""
    """Too much input is answered all the same: with usage above the window, or by a ``length`` stop without output."""
    stream_overflow: Literal["event", "failed", "400"] = "event"
    """How a stream of Responses refuses too much input: an ``error`` event, ``response.failed``, or a 400 before it."""
    empty_calls: bool = False
    """Whether ``tool_calls: []`` passes."""
    thinking_back: Literal["", "deepseek", "kimi"] = ""
    """Whether answers with calls must bring their ``reasoning_content`` back, and in whose words it is missed."""


def with_switches(settings: Settings) -> OpenAISettings:
    """The same settings with all switches."""
    if isinstance(settings, OpenAISettings):
        return settings
    return OpenAISettings(**{field.name: getattr(settings, field.name) for field in fields(settings)})
