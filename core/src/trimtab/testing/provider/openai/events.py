"""A response as the events of its stream, each with its name and its number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trimtab.testing.provider.endpoint import sse
from trimtab.testing.provider.openai.talk import pieces

__all__ = ["failed_frames", "response_frames"]

Event = tuple[str, dict[str, Any]]
_CALLS = {
    "function_call": ("arguments", "response.function_call_arguments"),
    "custom_tool_call": ("input", "response.custom_tool_call_input"),
}


def response_frames(response: Mapping[str, Any]) -> list[bytes]:
    """The whole stream of an answer."""
    events = _begun(response)
    for index, item in enumerate(response["output"]):
        events += _item(item, {"output_index": index}, {"output_index": index, "item_id": item["id"]})
    events.append((f"response.{response['status']}", {"response": response}))
    return _frames(events)


def failed_frames(response: Mapping[str, Any], told: bool) -> list[bytes]:
    """A stream without an answer; ``told``: it ends with ``response.failed``, else with its beginning."""
    end = [("response.failed", {"response": response})]
    return _frames(_begun(response) + (end if told else []))


def _begun(response: Mapping[str, Any]) -> list[Event]:
    begun = {
        **response,
        "status": "in_progress",
        "output": [],
        "usage": None,
        "completed_at": None,
        "error": None,
        "incomplete_details": None,
    }
    return [("response.created", {"response": begun}), ("response.in_progress", {"response": begun})]


def _frames(events: list[Event]) -> list[bytes]:
    return [
        sse({"type": kind, "sequence_number": number, **fields}, kind) for number, (kind, fields) in enumerate(events)
    ]


def _item(item: Mapping[str, Any], place: Mapping[str, Any], at: Mapping[str, Any]) -> Iterator[Event]:
    """All events of one item: ``place`` tells its index, ``at`` its index and id."""
    kind = item["type"]
    empty = {**item, "status": "in_progress"} if "status" in item else dict(item)
    bare: dict[str, dict[str, Any]] = {"message": {"content": []}, "reasoning": {"summary": []}}
    empty |= bare.get(kind, {_CALLS[kind][0]: ""} if kind in _CALLS else {})
    yield "response.output_item.added", {**place, "item": empty}
    if kind == "message":
        yield from _text(item["content"][0], {**at, "content_index": 0})
    elif kind == "reasoning":
        for number, part in enumerate(item["summary"]):
            yield from _summary(part, {**at, "summary_index": number})
    elif kind == "compaction":
        yield "response.compaction.compacting", {**at}
    else:
        field, name = _CALLS[kind]
        for piece in pieces(item[field]):
            yield f"{name}.delta", {**at, "delta": piece}
        yield f"{name}.done", {**at, field: item[field], "name": item["name"]}
    yield "response.output_item.done", {**place, "item": item}


def _text(part: Mapping[str, Any], at: Mapping[str, Any]) -> Iterator[Event]:
    yield "response.content_part.added", {**at, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
        yield "response.output_text.delta", {**at, "delta": piece, "logprobs": []}
    yield "response.output_text.done", {**at, "text": part["text"], "logprobs": []}
    yield "response.content_part.done", {**at, "part": part}


def _summary(part: Mapping[str, Any], at: Mapping[str, Any]) -> Iterator[Event]:
    yield "response.reasoning_summary_part.added", {**at, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
        yield "response.reasoning_summary_text.delta", {**at, "delta": piece}
    yield "response.reasoning_summary_text.done", {**at, "text": part["text"]}
    yield "response.reasoning_summary_part.done", {**at, "part": part}
