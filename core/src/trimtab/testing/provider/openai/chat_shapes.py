"""A chat answer as JSON, and as the chunks of a stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trimtab.testing.provider.endpoint import sse
from trimtab.testing.provider.openai.prefixes import Hit
from trimtab.testing.provider.openai.talk import Said, arguments, pieces
from trimtab.testing.provider.script import Part, Text, Think, Use

__all__ = ["chat_frames", "chat_message", "chat_usage"]


def chat_message(parts: Sequence[Part], seed: int, custom: set[str]) -> dict[str, Any]:
    """The assistant's message; ``seed`` makes the ids of calls, ``custom`` has the names of custom tools."""
    text = "".join(part.text for part in parts if isinstance(part, Text))
    thought = "".join(part.text for part in parts if isinstance(part, Think))
    calls = [
        _call(part, f"call_{seed:06d}{number:02d}", part.name in custom)
        for number, part in enumerate(part for part in parts if isinstance(part, Use))
    ]
    message: dict[str, Any] = {"role": "assistant", "content": text or None, "refusal": None, "annotations": []}
    if not text and not calls:
        message["content"] = ""
    if thought:
        message["reasoning_content"] = thought
    if calls:
        message["tool_calls"] = calls
    return message


def _call(use: Use, id: str, custom: bool) -> dict[str, Any]:
    kind, field = ("custom", "input") if custom else ("function", "arguments")
    return {"id": use.id or id, "type": kind, kind: {"name": use.name, field: arguments(use.input, custom)}}


def chat_usage(tokens: int, hit: Hit, said: Said, told: bool) -> dict[str, Any]:
    """The usage; ``told``: whether the model tells what it wrote to the cache."""
    details = {"cached_tokens": hit.read, "audio_tokens": 0}
    return {
        "prompt_tokens": tokens,
        "completion_tokens": said.output,
        "total_tokens": tokens + said.output,
        "prompt_tokens_details": {**details, "cache_write_tokens": hit.written} if told else details,
        "completion_tokens_details": {"reasoning_tokens": said.reasoning, "audio_tokens": 0},
    }


def chat_frames(completion: Mapping[str, Any], with_usage: bool) -> list[bytes]:
    """A completion as the events of its stream; the usage comes in a chunk of its own where the caller wants it."""
    choice = completion["choices"][0]
    head = {
        "id": completion["id"],
        "object": "chat.completion.chunk",
        "created": completion["created"],
        "model": completion["model"],
        "service_tier": "default",
        "system_fingerprint": None,
    }
    extra = {"usage": None} if with_usage else {}

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        entry = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return sse({**head, "choices": [entry], **extra})

    frames = [chunk(delta) for delta in _deltas(choice["message"])]
    frames.append(chunk({}, choice["finish_reason"]))
    if with_usage:
        frames.append(sse({**head, "choices": [], "usage": completion["usage"]}))
    return [*frames, sse("[DONE]")]


def _deltas(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": None if message.get("tool_calls") else "", "refusal": None}
    for piece in pieces(message.get("reasoning_content", "")):
        yield {"reasoning_content": piece}
    for piece in pieces(message["content"] or ""):
        yield {"content": piece}
    for index, call in enumerate(message.get("tool_calls", ())):
        kind = call["type"]
        field = "input" if kind == "custom" else "arguments"
        start = {"index": index, "id": call["id"], "type": kind, kind: {"name": call[kind]["name"], field: ""}}
        yield {"tool_calls": [start]}
        for piece in pieces(call[kind][field]):
            yield {"tool_calls": [{"index": index, kind: {field: piece}}]}
