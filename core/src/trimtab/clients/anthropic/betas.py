"""Beta features: the header that asks for them, where the caller may ask for some of his own.

The SDK 2.14 sends ``client.messages`` and ``client.beta.messages`` to the same address: what makes a request a beta one
is the header alone, so parameters of beta features work with both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from anthropic._base_client import BaseClient

__all__ = ["asked", "asking_for"]

_NAME = "anthropic-beta"


def asked(headers: Mapping[str, Any], call_next: Any) -> list[str]:
    """The features that a request asks for by its own headers, else by those of its client."""
    for layer in (headers, getattr(_client(call_next), "default_headers", {})):
        for name, value in layer.items():
            if name.lower() == _NAME:  # what is no text takes the header away
                return [one.strip() for one in value.split(",") if one.strip()] if isinstance(value, str) else []
    return []


def asking_for(headers: Mapping[str, Any], betas: Iterable[str]) -> dict[str, Any]:
    """The headers with these features in the place of others."""
    rest = {name: value for name, value in headers.items() if name.lower() != _NAME}
    return {**rest, _NAME: ",".join(betas)}


def _client(call_next: Any) -> BaseClient[Any, Any] | None:
    """The client whose chain of middleware this is the rest of.

    A request's own header replaces the client's, and nothing else tells a middleware what that is. The SDK's own
    functions are followed first: other middleware may hold other clients.
    """
    held, seen = deque([call_next]), set[int]()
    while held:
        one = held.popleft()
        if isinstance(one, BaseClient):
            return one
        if id(one) in seen:
            continue
        seen.add(id(one))
        first = _sdks(one)
        for cell in getattr(one, "__closure__", None) or ():
            with suppress(ValueError):  # nothing is in it yet
                inner = cell.cell_contents
                (held.appendleft if first and (_sdks(inner) or isinstance(inner, BaseClient)) else held.append)(inner)
    return None


def _sdks(one: Any) -> bool:
    return getattr(one, "__module__", None) == BaseClient.__module__
