"""What the provider is: its sizes, its cache, which rules it keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

__all__ = ["Settings"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """The provider's settings; each one has a default that behaves as a recent model of the vendor's does.

    Points on which sources disagree are switches, and lenient by default.
    """

    window: int = 200_000
    """Tokens that input and output together may have. More input is a 400."""
    max_output: int = 64_000
    """The largest ``max_tokens`` that a request may ask for."""
    overflow: Literal["stop_reason", "400"] = "stop_reason"
    """Where input fits, but not with ``max_tokens``: an answer that stops at the window, or a 400."""
    bytes_limit: int = 32 * 1024 * 1024
    """Bytes of a request's body; more is a 413."""
    rate_limit: int = 0
    """Requests a minute, by the provider's clock; more is a 429. 0 is no limit."""
    models: tuple[str, ...] = ("claude-opus-4-6", "claude-haiku-4-5", "gpt-5.6-sol")
    """What the Models APIs list. Requests may name any model."""

    count: Callable[[str], int] | None = None
    """Tokens of a text; None: `trimtab.testing.provider.tokens.estimate`."""
    media_tokens: int = 1_500
    """Tokens of an image, or of a document that is not text."""

    minimum: int = 1_024
    """Tokens of the smallest prefix that is cached at all."""
    step: int = 128
    """Where caching is automatic (OpenAI's APIs): tokens read from the cache are a multiple of this."""
    ttl: float = 600.0
    """Where caching is automatic: seconds that a prefix stays cached after its last use."""
    lookback: int = 20
    """Blocks that one ``cache_control`` breakpoint looks back for an entry, its own block included."""
    breakpoints: int = 4
    """``cache_control`` breakpoints that a request may have."""
    cache_edits: bool | str = False
    """``cache_edits`` in Messages: refused, accepted, or accepted with this value in the ``anthropic-beta`` header."""

    context_management: bool = True
    """Whether ``context_management`` (``clear_tool_uses``, ``clear_thinking``) is accepted on the beta endpoint."""
    compaction: bool = True
    """Whether on-demand compaction (``compaction: {"type": "summarize"}``, and OpenAI's) is accepted."""

    prefix_check: bool = False
    """Whether a thinking block is valid only behind exactly what preceded it when it was made."""
    foreign_thinking: bool = True
    """Whether a model accepts another model's thinking. (Unsettled: vendors say yes, users report 400s.)"""
    strict_round: bool = False
    """Whether an open tool round must send back thinking even where all of it was removed. (Unsettled.)"""
    strict_first: bool = False
    """Whether the first message must be the user's. (Unsettled.)"""
    strict_ids: bool = False
    """Whether two calls may not have one id. (Unsettled.)"""
    prefill: bool = False
    """Whether the last message may be the assistant's, as a beginning of the answer."""

    silent_overflow: Literal["", "accept", "length"] = ""
    """Too much input is answered all the same: with usage above the window, or by a ``length`` stop without output."""
    stream_overflow: Literal["event", "failed", "400"] = "event"
    """How a stream of Responses refuses too much input: an ``error`` event, ``response.failed``, or a 400 before it."""
    empty_calls: bool = False
    """Whether ``tool_calls: []`` passes."""
    thinking_back: Literal["", "deepseek", "kimi"] = ""
    """Whether answers with calls must bring their ``reasoning_content`` back, and in whose words it is missed."""
