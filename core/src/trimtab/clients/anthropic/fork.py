"""Requests that go on behind another one, so that the provider reads that from its cache.

What a cached prefix depends on (tools, system text, thinking, effort, tool choice, betas, every byte of a message)
stays as it is; the facts are the vendor's documentation on prompt caching and compaction.
"""

from __future__ import annotations

from typing import Any

from trimtab.clients.anthropic.breakpoints import has_breakpoints, with_breakpoints
from trimtab.clients.sessions import merged
from trimtab.dialects.anthropic.cache_edits import without_edits
from trimtab.dialects.anthropic.features import HEADERS
from trimtab.dialects.wires import copied, field_of, fields_of, fields_or_none
from trimtab.errors import AskFailed, Overflow
from trimtab.request import Request

__all__ = ["INSTRUCTIONS", "forked", "native"]

INSTRUCTIONS = 16_384
"""Characters that the instructions for one may have: the vendor's limit."""
HOUR = 3_600.0
"""Seconds of the longer time to live."""
OURS = ("messages", "stream", "stop_sequences")
"""Parameters that a question does not take over; none of them is part of what is cached."""


def forked(request: Request, prompt: str) -> dict[str, Any]:
    """The body of the same request with ``prompt`` as a further user message; raises `AskFailed`.

    Where the request forces a call of a tool, or the form of its answer, there is no text to be had: to lift that would
    lose the cache.
    """
    body = _same(request)
    forced = fields_or_none(body.get("tool_choice")).get("type")
    form = fields_or_none(fields_or_none(body.get("output_config")).get("format") or body.get("output_format"))
    if forced in ("any", "tool") or form:
        what = "the form of its answer" if form else f"a call of a tool (tool_choice {forced})"
        failed = AskFailed(f"the request forces {what}: ask about it as a text")
        failed.overflow = Overflow(0.0, 0.0)  # that is what a stage does then
        raise failed
    at = len(body["messages"])
    while at and field_of(body["messages"][at - 1], "role") == "system":  # only an answer may follow those
        at -= 1
    body["messages"].insert(at, {"role": "user", "content": prompt})
    return body


def native(request: Request, prompt: str) -> dict[str, Any]:
    """The body that has the provider summarise the messages; a ``prompt`` stands for its own instructions.

    Raises `AskFailed` for one that is too long. What is refused together with a summary is left out.
    """
    if len(prompt) > INSTRUCTIONS:
        raise AskFailed(f"the instructions have {len(prompt):,} characters, the provider takes {INSTRUCTIONS:,}")
    body = _same(request)
    body["compaction"] = {"type": "summarize", **({"instructions": prompt} if prompt.strip() else {})}
    body["betas"] = list(dict.fromkeys([*(body.get("betas") or ()), HEADERS["compaction"]]))
    body.pop("context_management", None)
    if fields_or_none(body.get("tool_choice")).get("type") in ("any", "tool"):
        del body["tool_choice"]
    if output := copied(fields_or_none(body.pop("output_config", None))):
        output.pop("format", None)
        if budget := output.get("task_budget"):
            budget.pop("remaining", None)
        body["output_config"] = output
    return body


def _same(request: Request) -> dict[str, Any]:
    """The request's body, its messages in a list of our own, with a breakpoint where what is cached ends.

    That is read then, and nothing is written. Breakpoints that the caller set in messages stay where they are. Who sets
    none, and whose client tells no parameters, caches nothing.
    """
    body = merged(request.parameters, request.extra)
    for name in OURS:
        body.pop(name, None)
    body |= {name: part for name, part in (("system", request.system), ("tools", request.tools)) if part}
    body["messages"] = messages = list(request.messages)
    automatic = fields_or_none(body.pop("cache_control", None))
    end = _cached(request)
    if end and (automatic or (request.parameters and not has_breakpoints(body))):
        messages[end - 1] = _marked(messages[end - 1], HOUR if automatic.get("ttl") == "1h" else 0.0)
    return body


def _cached(request: Request) -> int:
    """Behind how many messages the provider stored a prefix: all of a request that went out, else up to the answer.

    Beside evictions the last message carries the only breakpoint.
    """
    messages = request.messages
    at = len(messages)
    if request.report.keys or any(without_edits(message) is not message for message in messages):
        return at  # a request that a pass reported on has gone out
    while at and field_of(messages[at - 1], "role") != "assistant":
        at -= 1
    while at and field_of(messages[at - 1], "role") == "assistant":
        at -= 1
    return at


def _marked(message: Any, ttl: float) -> Any:
    """A copy of a message with a breakpoint at its end."""
    content = field_of(message, "content")
    blocks = content if isinstance(content, str) else [fields_of(block) for block in content or ()]
    made = {**fields_of(message), "content": blocks}
    return with_breakpoints({"messages": [made]}, ttl=ttl, ends=[1])["messages"][0]
