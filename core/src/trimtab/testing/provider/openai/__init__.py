"""OpenAI's Chat Completions and Responses."""

from __future__ import annotations

from starlette.routing import Match, Route
from starlette.types import Scope

from trimtab.testing.provider.openai.chat import Chat
from trimtab.testing.provider.openai.errors import error_body
from trimtab.testing.provider.openai.models import Models
from trimtab.testing.provider.openai.responses import Responses
from trimtab.testing.provider.server import FakeProvider

__all__ = ["routes"]


def routes(provider: FakeProvider) -> list[Route]:
    """All endpoints below ``/v1``."""
    chat, responses, models = Chat(provider), Responses(provider), Models(provider)
    posts = {
        "/v1/chat/completions": ("chat", chat.create),
        "/v1/responses": ("responses", responses.create),
        "/v1/responses/compact": ("compact", responses.compact),
        "/v1/responses/input_tokens": ("input_tokens", responses.input_tokens),
    }
    gets = {"/v1/models": models.list, "/v1/models/{id}": models.retrieve}
    found = [
        Route(path, provider.endpoint(api, handle, error_body), methods=["POST"])
        for path, (api, handle) in posts.items()
    ]
    return found + [_Shared(path, provider.endpoint("models", handle, error_body)) for path, handle in gets.items()]


class _Shared(Route):
    """A route of a path that Anthropic has too, whose clients send a header of their own."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a request is meant for this route."""
        if any(name == b"anthropic-version" for name, _ in scope.get("headers", ())):
            return Match.NONE, {}
        return super().matches(scope)
