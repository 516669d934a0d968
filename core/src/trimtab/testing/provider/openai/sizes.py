"""What fits: the window, the output, and how too much of either is answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trimtab.testing.provider.endpoint import Refused
from trimtab.testing.provider.openai.errors import refused
from trimtab.testing.provider.settings import Settings

__all__ = ["OVERFLOW", "check_chat_size", "check_output", "input_limit", "room", "too_long"]

OVERFLOW = "context_length_exceeded"
OUTPUTS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
"""The names under which requests limit their output."""


def asked_output(body: Mapping[str, Any]) -> tuple[str, int | None]:
    """The name and the tokens of the limit that a request sets for its output."""
    return next(((name, int(body[name])) for name in OUTPUTS if body.get(name) is not None), ("", None))


def check_output(body: Mapping[str, Any], settings: Settings) -> None:
    """Raise `Refused` where a request wants more output than the model can give."""
    name, asked = asked_output(body)
    if asked is not None and asked > settings.max_output:
        raise refused(
            f"{name} is too large: {asked}. This model supports at most {settings.max_output} completion tokens, "
            f"whereas you provided {asked}.",
            name,
            "invalid_value",
        )


def check_chat_size(body: Mapping[str, Any], tokens: int, settings: Settings) -> None:
    """Raise `Refused` where a chat request of ``tokens`` is too large for the window."""
    window, (_, output) = settings.window, asked_output(body)
    if tokens > window and not settings.silent_overflow:
        raise refused(
            f"This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} "
            "tokens. Please reduce the length of the messages.",
            "messages",
            OVERFLOW,
        )
    if settings.overflow == "400" and output is not None and tokens + output > window:
        raise refused(
            f"This model's maximum context length is {window} tokens. However, you requested {tokens + output} tokens "
            f"({tokens} in the messages, {output} in the completion). Please reduce the length of the messages or "
            "completion.",
            "messages",
            OVERFLOW,
        )


def input_limit(settings: Settings) -> int:
    """Tokens of input that Responses takes: the window without the largest output, where the window has room for it."""
    left = settings.window - settings.max_output
    return left if left > 0 else settings.window


def too_long() -> Refused:
    """How Responses refuses too much input; it tells no sizes."""
    message = "Your input exceeds the context window of this model. Please adjust your input and try again."
    return refused(message, "input", OVERFLOW)


def room(body: Mapping[str, Any], tokens: int, settings: Settings) -> int:
    """Tokens that the answer to a request of ``tokens`` may have."""
    if tokens > settings.window:
        return 0 if settings.silent_overflow == "length" else settings.max_output
    _, asked = asked_output(body)
    return min(settings.max_output if asked is None else asked, settings.window - tokens)
