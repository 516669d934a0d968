"""Tools that are offered beside the caller's, calls of them as they come, results as they go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trimtab.conversation import Wire
from trimtab.dialect import Call, Tool
from trimtab.dialects.wires import fields_or_none

__all__ = ["call", "offered", "result", "tool_names"]


def tool_names(tools: Any) -> tuple[str, ...]:
    """See `Dialect.tool_names`; sets of tools of a server have none here."""
    listed = map(fields_or_none, tools if isinstance(tools, (list, tuple)) else ())
    return tuple(name for tool in listed if isinstance(name := tool.get("name"), str))


def offered(tools: Any, added: Sequence[Tool]) -> Any:
    """See `Dialect.tools`."""
    known = tool_names(tools)
    new = [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
        for tool in added
        if tool.name not in known
    ]
    return [*(tools or ()), *new] if new else tools


def call(block: Any) -> Call | None:
    """See `Dialect.call`; calls that the provider runs itself are none."""
    fields = fields_or_none(block)
    id, name, said = fields.get("id"), fields.get("name"), fields.get("input")
    if fields.get("type") != "tool_use" or not isinstance(id, str) or not isinstance(name, str):
        return None
    return Call(id, name, said if isinstance(said, Mapping) else {})


def result(call: str, text: str, error: bool) -> Wire:
    """See `Dialect.result`; a block of the next user message."""
    failed = {"is_error": True} if error else {}
    return {"type": "tool_result", "tool_use_id": call, "content": text, **failed}
