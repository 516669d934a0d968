"""The two endpoints that take a conversation: where it stands in a request, and what their streams say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from trimtab.dialects.wires import field_of, fields_or_none
from trimtab.request import Request

__all__ = ["ENDPOINTS", "ChatEar", "Ear", "Endpoint", "ResponsesEar"]


class Ear(Protocol):
    """Follows one stream."""

    said: bool
    """Whether any of the answer came, and not only its frame."""
    ended: bool
    """Whether the last event tells all there is to observe."""

    @property
    def answer(self) -> Any:
        """What is to be observed, as far as it was told."""

    def hear(self, event: Any) -> Any:
        """Take in an event; the body of the error where it says that the request failed, else None."""


class Endpoint(Protocol):
    """One endpoint's shape of a request."""

    kind: str
    """The dialect."""
    uncounted: bool
    """Whether its streams tell their usage only where they are asked to."""

    def conversation(self, body: Mapping[str, Any]) -> tuple[Any, Any]:
        """Messages and system text; messages that are no list, or empty, are none of ours."""

    def changes(self, body: Mapping[str, Any], request: Request) -> dict[str, Any]:
        """The fields that say what the request says."""

    def ear(self) -> Ear:
        """For a stream of this endpoint."""


class ChatEar:
    """Of Chat Completions: usage comes in a chunk of its own where it was asked for, else beside the last words."""

    def __init__(self) -> None:
        self.said = self.ended = False
        self._told: dict[str, Any] = {}
        self._finish: Any = None

    @property
    def answer(self) -> Any:
        """Model and usage; where nothing was said also how it ended, for that may be the sign of an overflow."""
        if self.said or not self._finish:
            return self._told
        empty = {"finish_reason": self._finish, "message": {"role": "assistant", "content": None}}
        return {**self._told, "choices": [empty]}

    def hear(self, event: Any) -> Any:
        """See `Ear`; a refusal is no chunk here, the SDK raises it."""
        choices, usage = field_of(event, "choices") or (), field_of(event, "usage")
        if usage:
            self._told = {"model": field_of(event, "model"), "usage": usage}
        for choice in choices:
            self._finish = field_of(choice, "finish_reason") or self._finish
            self.said = self.said or any(_words(field_of(choice, "delta")))
        self.ended = bool(usage) and not choices
        return None


class ResponsesEar:
    """Of Responses: the last event holds the whole response."""

    def __init__(self) -> None:
        self.said = self.ended = False
        self.answer: Any = {}

    def hear(self, event: Any) -> Any:
        """See `Ear`."""
        kind, response = field_of(event, "type"), field_of(event, "response")
        if kind == "error":
            return fields_or_none(event)
        if kind == "response.failed":
            return fields_or_none(field_of(response, "error")) or {"message": "the response failed"}
        if kind in ("response.completed", "response.incomplete"):
            self.answer, self.ended = response, True
        elif kind not in ("response.created", "response.in_progress"):
            self.said = True
        return None


class _Chat:
    kind, uncounted = "openai", True
    ear = ChatEar

    def conversation(self, body: Mapping[str, Any]) -> tuple[Any, Any]:
        return body.get("messages"), None

    def changes(self, body: Mapping[str, Any], request: Request) -> dict[str, Any]:
        return {"messages": request.messages}


class _Responses:
    kind, uncounted = "responses", False
    ear = ResponsesEar

    def conversation(self, body: Mapping[str, Any]) -> tuple[Any, Any]:
        if body.get("previous_response_id") or body.get("conversation"):
            return None, None  # the server holds the rest of it
        said = body.get("input")
        return [{"role": "user", "content": said}] if isinstance(said, str) else said, body.get("instructions")

    def changes(self, body: Mapping[str, Any], request: Request) -> dict[str, Any]:
        messages, system = self.conversation(body)
        changes: dict[str, Any] = {} if request.messages == messages else {"input": request.messages}
        return changes if request.system == system else {**changes, "instructions": request.system}


ENDPOINTS: dict[str, Endpoint] = {"/chat/completions": _Chat(), "/responses": _Responses()}
"""By their path behind the base URL."""


def _words(delta: Any) -> Iterator[Any]:
    """What a chunk adds, also in fields that only some servers have (``reasoning_content``)."""
    return (value for name, value in fields_or_none(delta).items() if name != "role")
