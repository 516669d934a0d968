"""GET /v1/models and /v1/models/{id}."""

from __future__ import annotations

from typing import Any

from trimtab.testing.provider.endpoint import Asked, Given
from trimtab.testing.provider.openai.errors import refused
from trimtab.testing.provider.server import FakeProvider

__all__ = ["Models"]


class Models:
    """The endpoints of one provider."""

    def __init__(self, provider: FakeProvider) -> None:
        self._models = provider.settings.models
        self._created = int(provider.clock.now())

    async def list(self, asked: Asked) -> Given:
        """All models."""
        return Given({"object": "list", "data": [self._model(id) for id in self._models]})

    async def retrieve(self, asked: Asked) -> Given:
        """One model; raises `Refused` 404."""
        id = asked.named("id")
        if id not in self._models:
            message = f"The model '{id}' does not exist or you do not have access to it."
            raise refused(message, "model", "model_not_found", status=404)
        return Given(self._model(id))

    def _model(self, id: str) -> dict[str, Any]:
        return {"id": id, "object": "model", "created": self._created, "owned_by": "provider"}
