"""The items of ``input``: who said one, what it calls or answers, its wire blocks, and items made of wire blocks.

The wire blocks of a message are its content parts, a string being one text part. Any other item is one wire block, the
item itself. So is, in a repair, a message that stands in the place of another item.

An answer is several items in a row, which to the kernel are one round. What a model thought (``reasoning``) and what it
led to refuse to go without each other (R1, R2), so reasoning is an opaque part of its round and goes only with all of
it. That holds where an agent appends all that a response put out, and the outputs behind it: put between the calls of
one response, they make rounds of them.

A ``compaction`` of the provider stands for all before it, which the provider may ignore. To the kernel it is system
text: nothing folds, drops or changes it, nor runs across it. An edit in front of it is possible, and frees nothing that
the provider still reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trimtab.conversation import Role, Wire

__all__ = [
    "ANSWERED",
    "CALLS",
    "OUTPUTS",
    "RESULTS",
    "TEXTS",
    "TEXTUAL",
    "answered_by",
    "blocks_of",
    "call_of",
    "compose",
    "fresh",
    "kind_of",
    "parts_of",
    "role_of",
    "text_part",
]

CALLS = {
    "apply_patch_call": "operation",
    "custom_tool_call": "input",
    "function_call": "arguments",
    "local_shell_call": "action",
    "shell_call": "action",
}
"""Calls that the agent answers, and the field that holds their arguments."""

RESULTS = frozenset(f"{call}_output" for call in CALLS)
"""What answers them, with text in ``output``."""

TEXTUAL = frozenset({"custom_tool_call_output", "function_call_output"})
"""Those of them whose ``output`` is a string or a list of content parts, and must be there."""

ANSWERED = frozenset({*CALLS, "computer_call"})
OUTPUTS = frozenset({*RESULTS, "computer_call_output"})
"""Calls that wait for an output, and outputs that need a call (R3)."""

TEXTS = frozenset({"input_text", "output_text", "text"})
"""Types of content parts that are text."""

_ROLES: dict[str, Role] = {"assistant": "assistant", "developer": "system", "system": "system"}
_SYSTEM = {"additional_tools", "compaction", "compaction_trigger", "configuration_update"}
"""Items that change how the conversation goes on: they stay where they are."""


def kind_of(item: Wire) -> str:
    """The type of an item; a message and a reference may lack it."""
    return str(item.get("type") or ("message" if "role" in item else "item_reference"))


def role_of(item: Wire) -> Role:
    """Whose an item is. Outputs are the user's, but for those of what the provider runs; all else is the model's."""
    kind = kind_of(item)
    if kind == "message":
        return _ROLES.get(item["role"], "user")
    if kind in _SYSTEM:
        return "system"
    served = kind == "program_output" or item.get("execution") == "server"
    return "user" if kind == "mcp_approval_response" or (kind.endswith("_output") and not served) else "assistant"


def answered_by(item: Wire) -> str:
    """The id by which a call and its output know each other; "" where an item has none."""
    kind = kind_of(item)
    key = {
        "local_shell_call_output": "id",
        "mcp_approval_request": "id",
        "mcp_approval_response": "approval_request_id",
    }
    id = item.get("call_id") or item.get(key.get(kind, ""))
    return id if isinstance(id, str) else ""


def call_of(item: Wire) -> tuple[str, Any] | None:
    """The tool and the arguments of a call that the agent answers; None of any other item."""
    field = CALLS.get(kind_of(item))
    return field and (str(item.get("name") or kind_of(item).removesuffix("_call")), item.get(field))  # type: ignore[return-value]


def text_part(text: str, role: str = "user") -> dict[str, Any]:
    """A text as a content part of a message of this role."""
    return {"type": "output_text" if role == "assistant" else "input_text", "text": text}


def parts_of(item: Wire, field: str = "content") -> list[Any]:
    """The content (or output) of an item as parts; an empty string is none."""
    content = item.get(field)
    if isinstance(content, str):
        return [text_part(content, str(item.get("role")))] if content else []
    return list(content or ())


def blocks_of(item: Wire) -> list[Any]:
    """The wire blocks of a plain item."""
    return parts_of(item) if kind_of(item) == "message" else [item]


KEPT = {
    "apply_patch_call": "status",
    "apply_patch_call_output": "status",
    "local_shell_call_output": "id",
    "reasoning": "id",
}
"""What an item needs; what reasoning led to needs it by its id (R2)."""


def fresh(item: Wire) -> dict[str, Any]:
    """An item to be changed: without the id under which the provider knows the unchanged one (R4), and its status."""
    gone = {"id", "status"} - {KEPT.get(kind_of(item), "")}
    return {key: value for key, value in item.items() if key not in gone}


def compose(said: Wire, blocks: Sequence[Any]) -> Wire:
    """The item with these wire blocks instead of its own; content that was a string stays one where it can."""
    if whole := next((block for block in blocks if "role" in block or kind_of(said) != "message"), None):
        return dict(whole)
    if list(blocks) == parts_of(said):
        return dict(said)
    item = fresh(said)
    text = isinstance(said.get("content"), str) and all(block.keys() == {"type", "text"} for block in blocks)
    item["content"] = "\n\n".join(block["text"] for block in blocks) if text else list(blocks)
    return item
