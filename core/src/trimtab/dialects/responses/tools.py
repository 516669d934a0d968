"""Tools that are offered beside the caller's, calls of them as they come, results as they go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trimtab.conversation import Wire
from trimtab.dialect import Call, Tool
from trimtab.dialects.openai.parse import arguments
from trimtab.dialects.openai.tools import FAILED
from trimtab.dialects.responses.items import answered_by
from trimtab.dialects.wires import fields_or_none

__all__ = ["call", "offered", "result", "tool_names"]


def tool_names(tools: Any) -> tuple[str, ...]:
    """See `Dialect.tool_names`; of what the provider runs there is none."""
    listed = map(fields_or_none, tools if isinstance(tools, (list, tuple)) else ())
    return tuple(name for tool in listed if isinstance(name := tool.get("name"), str))


def offered(tools: Any, added: Sequence[Tool]) -> Any:
    """See `Dialect.tools`; not strict, for a stage's schema may have optional arguments."""
    known = tool_names(tools)
    new = [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.schema),
            "strict": False,
        }
        for tool in added
        if tool.name not in known
    ]
    return [*(tools or ()), *new] if new else tools


def call(block: Any) -> Call | None:
    """See `Dialect.call`; takes an item of the output. Arguments that are no JSON object are empty."""
    item = fields_or_none(block)
    name, id = item.get("name"), answered_by(item)
    if item.get("type") != "function_call" or not isinstance(name, str) or not name or not id:
        return None
    return Call(id, name, arguments(item.get("arguments")))


def result(call: str, text: str, error: bool) -> Wire:
    """See `Dialect.result`."""
    return {"type": "function_call_output", "call_id": call, "output": FAILED + text if error else text}
