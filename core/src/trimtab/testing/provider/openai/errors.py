"""How OpenAI refuses a request: a status and a body ``{"error": {"message", "type", "param", "code"}}``."""

from __future__ import annotations

from typing import Any

from trimtab.testing.provider.endpoint import Refused

__all__ = ["empty_array", "error_body", "invalid_type", "invalid_value", "missing", "refused"]


def refused(message: str, param: str | None = None, code: str | None = None, status: int = 400) -> Refused:
    """A refusal that names the field which is wrong."""
    return Refused(status, message, code=code, where=param)


def missing(param: str) -> Refused:
    """A field that must be there is not."""
    return refused(f"Missing required parameter: '{param}'.", param, "missing_required_parameter")


def invalid_type(param: str, expected: str) -> Refused:
    """A field holds a value of another type."""
    return refused(f"Invalid type for '{param}': expected {expected}.", param, "invalid_type")


def invalid_value(value: Any, allowed: tuple[str, ...], param: str) -> Refused:
    """A field holds none of the words that it takes."""
    choice = ", ".join(f"'{word}'" for word in allowed)
    return refused(f"Invalid value: '{value}'. Supported values are: {choice}.", param, "invalid_value")


def empty_array(param: str) -> Refused:
    """A list must not be empty."""
    message = "Expected an array with minimum length 1, but got an empty array instead."
    return refused(f"Invalid '{param}': empty array. {message}", param, "empty_array")


def error_body(error: Refused, id: str) -> dict[str, Any]:
    """The body of a refusal; the request's ``id`` goes in a header only."""
    rate = error.status == 429 and error.type == "rate_limit_error"  # the server's own words are Anthropic's
    kind, code = ("requests", "rate_limit_exceeded") if rate else (error.type, error.code)
    return {"error": {"message": error.message, "type": kind, "param": error.where, "code": code}}
