"""The provider's own token counts: deterministic, and not trimtab's counter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import ceil
from typing import Any

from trimtab.testing.provider.settings import Settings

__all__ = ["Tokens", "estimate"]

CHARACTERS = 3.6
"""Characters per token; chosen, between those measured on agent traffic (2.6 to 3.4) and on prose (4.5)."""
FRAME = 4
"""Tokens around each message; chosen."""
MEDIA = ("image", "input_image", "image_url", "input_audio", "input_file", "file")


def estimate(text: str) -> int:
    """Tokens of a text: its characters divided by 3.6, rounded up."""
    return ceil(len(text) / CHARACTERS)


class Tokens:
    """Counts JSON values by their texts."""

    def __init__(self, settings: Settings) -> None:
        self.text = settings.count or estimate
        self._media = settings.media_tokens

    def value(self, value: Any) -> int:
        """Tokens of a block, a tool or any other JSON value: its texts are counted, media have a fixed size.

        Of a mapping the keys ``type``, ``id`` and ``cache_control`` are framing and cost nothing.
        """
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, list | tuple):
            return sum(map(self.value, value))
        return 0 if value is None else 1

    def _mapping(self, value: Mapping[str, Any]) -> int:
        kind = value.get("type")
        source = value.get("source")
        if kind in MEDIA or (kind == "document" and isinstance(source, Mapping) and source.get("type") != "text"):
            return self._media
        free = ("type", "id", "cache_control", "signature", "encrypted_content")
        return sum(self.value(item) for key, item in value.items() if key not in free)

    def schema(self, tool: Any) -> int:
        """Tokens of a tool's definition: of its JSON text."""
        return self.text(json.dumps(tool, ensure_ascii=False, sort_keys=True))

    def message(self, message: Mapping[str, Any]) -> int:
        """Tokens of a message with its frame."""
        return FRAME + sum(self.value(item) for key, item in message.items() if key != "role")
