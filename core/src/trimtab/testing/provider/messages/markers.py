"""``cache_control`` markers: where they may stand, and which breakpoints they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trimtab.testing.provider.endpoint import Refused
from trimtab.testing.provider.messages.errors import EXTRA
from trimtab.testing.provider.messages.parse import Block, Prompt

__all__ = ["TTL", "markers"]

TTL = {"5m": 300.0, "1h": 3600.0}
"""Seconds that an entry lives, by the marker's word; without one 5m."""


def markers(prompt: Prompt, most: int) -> dict[int, float]:
    """Position (of tools, system blocks and message blocks, counted through) of each breakpoint, with its seconds.

    Raises `Refused` above ``most`` breakpoints, for a marker that is malformed or where none can be, and for a longer
    time behind a shorter.
    """
    found: dict[int, float] = {}
    explicit = 0
    places = list(_places(prompt))
    for position, (path, value) in enumerate(places):
        inner = _inner(path, value)
        for where, marker, block in [(path, value.get("cache_control"), value), *inner]:
            if marker is None:
                continue
            explicit += 1
            if block.get("type") == "text" and not block.get("text"):
                raise Refused(400, "cache_control cannot be set for empty text blocks", where=where)
            found[position] = max(found.get(position, 0.0), _seconds(where, marker))
    if explicit > most:
        raise Refused(400, f"A maximum of {most} blocks with cache_control may be provided. Found {explicit}.")
    automatic = prompt.body.get("cache_control")
    if automatic is not None:
        _automatic(prompt, _seconds("cache_control", automatic), found, full=explicit == most)
    _ordered(found, places)
    return found


def _places(prompt: Prompt) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from ((f"tools.{index}", tool) for index, tool in enumerate(prompt.tools))
    yield from ((f"system.{index}", block) for index, block in enumerate(prompt.system))
    yield from ((block.path, block.data) for block in prompt.blocks)


def _inner(path: str, value: Mapping[str, Any]) -> list[tuple[str, Any, Mapping[str, Any]]]:
    """Markers on the parts of a tool result: breakpoints at the result's end."""
    content = value.get("content")
    if value.get("type") != "tool_result" or not isinstance(content, list):
        return []
    return [(f"{path}.content.{j}", part.get("cache_control"), part) for j, part in enumerate(content)]


def _seconds(path: str, marker: Any) -> float:
    if not isinstance(marker, Mapping) or marker.get("type") != "ephemeral":
        raise Refused(400, "Input tag does not match the expected tag 'ephemeral'", where=f"{path}.cache_control")
    for name in marker:
        if name not in ("type", "ttl"):
            raise Refused(400, EXTRA, where=f"{path}.cache_control.ephemeral.{name}")
    ttl = marker.get("ttl") or "5m"
    if ttl not in TTL:
        raise Refused(400, "Input should be '5m' or '1h'", where=f"{path}.cache_control.ephemeral.ttl")
    return TTL[ttl]


def _cacheable(block: Block) -> bool:
    return block.type not in ("thinking", "redacted_thinking", "cache_edits")


def _automatic(prompt: Prompt, seconds: float, found: dict[int, float], *, full: bool) -> None:
    """The automatic breakpoint stands on the last block that can have one."""
    offset = len(prompt.tools) + len(prompt.system)
    last = next((i for i, block in reversed(list(enumerate(prompt.blocks))) if _cacheable(block)), None)
    position = offset - 1 if last is None else offset + last
    if found.get(position, seconds) != seconds:
        message = "the last block has a cache_control of another ttl than the request's automatic one"
        raise Refused(400, message, where="cache_control")
    if full and position not in found:
        raise Refused(400, "automatic caching needs one of the breakpoints, and all are used", where="cache_control")
    if position >= 0:
        found[position] = seconds


def _ordered(found: Mapping[int, float], places: Sequence[tuple[str, Any]]) -> None:
    shortest = max(TTL.values())
    for position in sorted(found):
        if found[position] > shortest:
            message = (
                "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "
                "Blocks are processed in the order `tools`, `system`, `messages`."
            )
            raise Refused(400, message, where=f"{places[position][0]}.cache_control.ttl")
        shortest = found[position]
