"""Tools that are offered beside the caller's, calls of them as they come, results as they go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trimtab.conversation import Wire
from trimtab.dialect import Call, Tool
from trimtab.dialects.openai.parse import arguments
from trimtab.dialects.openai.wire import call_of
from trimtab.dialects.wires import fields_or_none

__all__ = ["call", "offered", "result", "tool_names"]

FAILED = "Error: "
"""How the text of a result begins that is an error: the format has no field for it."""


def tool_names(tools: Any) -> tuple[str, ...]:
    """See `Dialect.tool_names`."""
    listed = map(fields_or_none, tools if isinstance(tools, (list, tuple)) else ())
    defined = (fields_or_none(tool.get("function") or tool.get("custom")) for tool in listed)
    return tuple(name for tool in defined if isinstance(name := tool.get("name"), str))


def offered(tools: Any, added: Sequence[Tool]) -> Any:
    """See `Dialect.tools`."""
    known = tool_names(tools)
    new = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)},
        }
        for tool in added
        if tool.name not in known
    ]
    return [*(tools or ()), *new] if new else tools


def call(block: Any) -> Call | None:
    """See `Dialect.call`; takes an entry of ``tool_calls``. Arguments that are no JSON object are empty."""
    found = call_of({"tool_call": fields_or_none(block)})
    if found is None or not all(found[:2]):
        return None
    id, name, said = found
    return Call(id, name, arguments(said))


def result(call: str, text: str, error: bool) -> Wire:
    """See `Dialect.result`; a message of role tool."""
    return {"role": "tool", "tool_call_id": call, "content": FAILED + text if error else text}
