"""A message as the API's stream of events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trimtab.testing.provider.endpoint import sse

__all__ = ["frames"]

CHUNK = 40
"""Characters of one delta; chosen."""
Event = dict[str, Any]


def frames(message: Mapping[str, Any]) -> list[bytes]:
    """The events of a whole message, as bytes."""
    return [sse(event, event["type"]) for event in _events(message)]


def _events(message: Mapping[str, Any]) -> Iterator[Event]:
    usage = message["usage"]
    early = {name: value for name, value in usage.items() if name != "iterations"}
    early["output_tokens"] = min(1, usage["output_tokens"])
    start = {name: value for name, value in message.items() if name != "context_management"}
    yield {"type": "message_start", "message": {**start, "content": [], "stop_reason": None, "usage": early}}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        started, deltas = _block(block)
        yield {"type": "content_block_start", "index": index, "content_block": started}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": message["stop_sequence"]},
        "usage": _last(usage),
        **{name: message[name] for name in ("context_management",) if name in message},
    }
    yield {"type": "message_stop"}


def _block(block: Mapping[str, Any]) -> tuple[Event, list[Event]]:
    """What a block starts as, and the deltas that make it whole; a compaction block starts whole."""
    kind = block["type"]
    if kind == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": text} for text in _cut(block["text"])]
    if kind == "thinking":
        deltas: list[Event] = [{"type": "thinking_delta", "thinking": text} for text in _cut(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {**block, "thinking": "", "signature": ""}, deltas
    if kind == "tool_use":
        parts = ["", *_cut(json.dumps(block["input"], ensure_ascii=False))]
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": text} for text in parts]
    return dict(block), []


def _cut(text: str) -> list[str]:
    return [text[start : start + CHUNK] for start in range(0, len(text), CHUNK)]


def _last(usage: Mapping[str, Any]) -> Event:
    """The cumulative usage at the end; of deletions it says 0, as the API does, whatever the start said."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens", "iterations")
    deleted = {"cache_deleted_input_tokens": 0} if "cache_deleted_input_tokens" in usage else {}
    return {**{name: usage[name] for name in names if name in usage}, **deleted}
