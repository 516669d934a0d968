"""Prompt caching by breakpoints: what a request reads, what it writes, what it pays for.

Not modelled: the breakpoints that the server sets by itself behind results of server tools, and models that strip
earlier thinking.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from trimtab.testing.provider.cache import Entries
from trimtab.testing.provider.messages.markers import TTL, markers
from trimtab.testing.provider.messages.parse import Block, Prompt, same
from trimtab.testing.provider.settings import Settings
from trimtab.testing.provider.tokens import FRAME, Tokens

__all__ = ["Bill", "Cached", "pieces", "total"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One unit of a request, a tool, a system block or a content block: the key of all up to it, and its tokens."""

    key: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Bill:
    """A request's input tokens: read from the cache, written to it for 5 minutes or an hour, and the rest."""

    read: int
    short: int
    long: int
    fresh: int

    def usage(self) -> dict[str, Any]:
        """The input side of the API's usage."""
        return {
            "input_tokens": self.fresh,
            "cache_creation_input_tokens": self.short + self.long,
            "cache_read_input_tokens": self.read,
            "cache_creation": {"ephemeral_5m_input_tokens": self.short, "ephemeral_1h_input_tokens": self.long},
        }


def pieces(prompt: Prompt, tokens: Tokens, weigh: Callable[[Block], int]) -> list[Piece]:
    """All of a request in the cache's order; a block that the model is not shown changes nothing and weighs nothing."""
    citing = any((block.data.get("citations") or {}).get("enabled") for block in prompt.blocks)
    key = prompt.model
    found: list[Piece] = []
    for tool in prompt.tools:
        key = _behind(key, same(tool))
        found.append(Piece(key, tokens.schema(same(tool))))
    key = _behind(key, [prompt.body.get("speed"), citing])
    for block in prompt.system:
        key = _behind(key, same(block))
        found.append(Piece(key, tokens.value(block)))
    key = _behind(key, _messages_key(prompt))
    for message in prompt.messages:
        frame = FRAME
        for unit in message.blocks:
            key = key if unit.shown is None else _behind(key, [message.role, same(unit.shown)])
            found.append(Piece(key, weigh(unit) + frame))
            frame = 0
    return found


def _behind(key: str, value: Any) -> str:
    """The key behind one more unit. A block's own fields are in a fixed order; deeper ones count as they were sent."""
    text = json.dumps(value, ensure_ascii=False)
    return hashlib.sha256((key + text).encode("utf-8", "surrogatepass")).hexdigest()


def _messages_key(prompt: Prompt) -> Any:
    """What loses the messages when it changes, and nothing above them."""
    body = prompt.body
    thinking = body.get("thinking") or {}
    return [
        body.get("tool_choice"),
        {name: thinking.get(name) for name in ("type", "budget_tokens")},
        (body.get("output_config") or {}).get("effort"),
        sum(_images(block.shown) for block in prompt.blocks if block.shown),
    ]


def _images(block: Mapping[str, Any]) -> int:
    content = block.get("content")
    inner = content if isinstance(content, list) else []
    return (block.get("type") == "image") + sum(_images(part) for part in inner if isinstance(part, Mapping))


def total(all_pieces: Sequence[Piece]) -> int:
    """Tokens of the whole request."""
    return sum(piece.tokens for piece in all_pieces)


class Cached:
    """One request before the cache: `bill` is what it reads and pays; `write` stores it, from the first byte on."""

    def __init__(self, prompt: Prompt, units: Sequence[Piece], entries: Entries, settings: Settings) -> None:
        self._entries = entries
        self._started = prompt.started
        self._keys = [piece.key for piece in units]
        self._sums = list(accumulate(piece.tokens for piece in units))
        self._points = {
            position: ttl
            for position, ttl in markers(prompt, settings.breakpoints).items()
            if self._sums[position] >= settings.minimum
        }
        self._hit = self._found(settings.lookback)
        self.bill = self._bill(self._sums[-1] if self._sums else 0)

    def _found(self, lookback: int) -> int | None:
        """The position of the longest entry that one of the breakpoints sees."""
        for point in sorted(self._points, reverse=True):
            for position in range(point, max(-1, point - lookback), -1):
                if self._entries.get(self._keys[position], self._started):
                    return position
        return None

    def _bill(self, size: int) -> Bill:
        read = 0 if self._hit is None else self._sums[self._hit]
        behind = [position for position in self._points if self._hit is None or position > self._hit]
        lasting = [position for position in behind if self._points[position] == TTL["1h"]]
        long = max((self._sums[position] - read for position in lasting), default=0)
        short = max((self._sums[position] - read for position in behind), default=0) - long
        return Bill(read, short, long, size - read - short - long)

    def write(self) -> None:
        """Renew what was read and store an entry at each breakpoint; the time counts from the request's start."""
        if self._hit is not None:
            self._entries.use(self._keys[self._hit], self._started)
        for position, ttl in self._points.items():
            self._entries.write(self._keys[position], self._sums[position], ttl, self._started)
