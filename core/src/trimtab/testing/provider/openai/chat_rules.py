"""What Chat Completions refuses in ``messages``: rules C1–C3, roles, contents, and thinking that must come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trimtab.testing.provider.openai.errors import empty_array, invalid_type, invalid_value, missing, refused

__all__ = ["check_chat"]

PARTS: dict[str, tuple[str, ...]] = {
    "assistant": ("text", "refusal"),
    "developer": ("text",),
    "function": ("text",),
    "system": ("text",),
    "tool": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
}
"""The types of content parts that each role may have."""


def check_chat(messages: Any, *, empty_calls: bool, thinking: str) -> None:
    """Raise `Refused` for the first fault of ``messages``.

    ``empty_calls``: whether ``tool_calls: []`` passes (C3). ``thinking``: "deepseek" or "kimi" where each answer with
    calls must bring its ``reasoning_content`` back, an empty one included; else "".
    """
    if not isinstance(messages, list):
        raise missing("messages")
    if not messages:
        raise empty_array("messages")
    for index, message in enumerate(messages):
        role = message.get("role") if isinstance(message, Mapping) else None
        if role not in PARTS:
            raise invalid_value(role, tuple(PARTS), f"messages[{index}].role")
        _check_calls(message, index, empty_calls)
        _check_content(message, role, index)
    _check_pairs(messages)
    if thinking:
        _check_thinking(messages, thinking)


def _check_calls(message: Mapping[str, Any], index: int, empty: bool) -> None:
    param = f"messages[{index}].tool_calls"
    calls = message.get("tool_calls")
    if calls is None or message["role"] != "assistant":
        return
    if not isinstance(calls, list):
        raise invalid_type(param, "an array")
    if not calls and not empty:
        raise empty_array(param)
    for number, call in enumerate(calls):
        place = f"{param}[{number}]"
        fields = call if isinstance(call, Mapping) else {}
        kind = fields.get("type")
        if kind not in ("function", "custom"):
            raise invalid_value(kind, ("function", "custom"), f"{place}.type")
        inner = fields.get(kind)
        needed = {"id": fields, "name": inner, "input" if kind == "custom" else "arguments": inner}
        for name, holder in needed.items():
            if not isinstance(holder, Mapping) or not isinstance(holder.get(name), str):
                where = f"{place}.{name}" if name == "id" else f"{place}.{kind}.{name}"
                raise missing(where)


def _check_content(message: Mapping[str, Any], role: str, index: int) -> None:
    content, param = message.get("content"), f"messages[{index}].content"
    if content is None:
        if role == "assistant" and (message.keys() & {"tool_calls", "refusal", "audio", "function_call"}):
            return
        raise refused("Invalid value for 'content': expected a string, got null.", f"messages.[{index}].content")
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise invalid_type(param, "one of a string or array of objects")
    for number, part in enumerate(content):
        place = f"{param}[{number}]"
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind not in PARTS[role]:
            raise invalid_value(kind, PARTS[role], place)
        if kind == "text" and not isinstance(part.get("text"), str):
            raise missing(f"{place}.text")


def _check_pairs(messages: Sequence[Mapping[str, Any]]) -> None:
    """C1 and C2: the results of an answer's calls stand directly behind it, one for each."""
    waiting: list[str] = []
    known: set[str] = set()
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in known:
                raise refused(
                    "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
                    f"messages.[{index}].role",
                )
            waiting = [id for id in waiting if id != message["tool_call_id"]]
            continue
        _all_answered(waiting, index)
        calls = message.get("tool_calls") or () if message["role"] == "assistant" else ()
        waiting = [call["id"] for call in calls]
        known = set(waiting)
    _all_answered(waiting, len(messages))


def _all_answered(waiting: Sequence[str], index: int) -> None:
    if waiting:
        raise refused(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            "'tool_call_id'. The following tool_call_ids did not have response messages: " + ", ".join(waiting),
            f"messages.[{index}].role",
        )


def _check_thinking(messages: Sequence[Mapping[str, Any]], provider: str) -> None:
    for index, message in enumerate(messages):
        if message["role"] == "assistant" and message.get("tool_calls") and message.get("reasoning_content") is None:
            if provider == "kimi":
                raise refused(
                    "thinking is enabled but reasoning_content is missing in assistant tool call message "
                    f"at index {index}"
                )
            raise refused("The `reasoning_content` in the thinking mode must be passed back to the API.")
