"""The strict check of a list of items: rules R1 and R3, shapes and lone surrogates.

R1 behind reasoning stands what it led to, at least something of the model's · R3 a call has its output behind it, an
output its call before it. Which items came with which reasoning (R2) no list tells: that is kept by leaving rounds
whole. Where an item is only referred to, what it is cannot be known here, so nothing behind it is certain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trimtab.dialects.checks import Violation, broken, is_list
from trimtab.dialects.responses.items import ANSWERED, OUTPUTS, TEXTUAL, answered_by, kind_of, role_of

__all__ = ["validate"]

ROLES = frozenset({"assistant", "developer", "system", "user"})
_PARTS = {
    "assistant": {"output_text", "refusal"},
    "user": {"input_file", "input_image", "input_text"},
}
"""Types of parts that the API takes from each role; developers and the system say what users may."""

_FIELDS: dict[str, tuple[str, ...]] = {
    "compaction": ("encrypted_content",),
    "custom_tool_call": ("call_id", "name", "input"),
    "custom_tool_call_output": ("call_id",),
    "function_call": ("call_id", "name", "arguments"),
    "function_call_output": ("call_id",),
    "item_reference": ("id",),
}
"""Fields that must be strings."""


def validate(messages: Sequence[Mapping[str, Any]]) -> list[Violation]:
    """List all violations in ``messages``, in linear time; those with ``certain`` False are no ground to refuse."""
    found: list[Violation] = []
    waiting: dict[str, str] = {}
    answered: set[str] = set()
    referred = False
    for index, item in enumerate(messages):
        where = f"input[{index}]"
        wrong = list(_shape(item, where))
        found += wrong
        if wrong and wrong[0].rule == "role":
            continue
        kind, id = kind_of(item), answered_by(item)
        referred |= kind == "item_reference"
        if kind == "reasoning" and not _leads(messages[index + 1 : index + 2]):
            found.append(Violation("R1", where, "reasoning without the item that it led to"))
        if kind in ANSWERED:
            if id in waiting or id in answered:
                found.append(Violation("R3", where, f"call id {id!r} occurs twice", certain=False))
            waiting[id] = where
        elif kind in OUTPUTS:
            if id in answered:
                found.append(Violation("R3", where, f"call {id!r} is answered twice", certain=False))
            elif waiting.pop(id, None) is None:
                found.append(Violation("R3", where, f"no call {id!r} before its output", certain=not referred))
            answered.add(id)
        if broken(item):
            found.append(Violation("surrogate", where, "a string holds a lone surrogate"))
    return found + [Violation("R3", where, f"call {id!r} has no output") for id, where in waiting.items()]


def _leads(following: Sequence[Any]) -> bool:
    """Whether what stands behind reasoning may be what it led to; a compaction stands for all before it."""
    behind = following[0] if following else None
    return isinstance(behind, Mapping) and (role_of(behind) == "assistant" or kind_of(behind) == "compaction")


def _shape(item: Any, where: str) -> Iterator[Violation]:
    if not isinstance(item, Mapping) or not (isinstance(item.get("type"), str) or "role" in item or "id" in item):
        yield Violation("role", where, "an item is an object with a type or a role")
        return
    kind = kind_of(item)
    if kind == "message":
        if item.get("role") not in ROLES:
            yield Violation("role", where, f"a message is of role {', '.join(sorted(ROLES))}")
            return
        yield from _content(item, where)
    for name in _FIELDS.get(kind, ()):
        if not isinstance(item.get(name), str):
            yield Violation("shape", f"{where}.{name}", f"{kind} needs {name} (a string)")
    if kind in TEXTUAL and not (isinstance(item.get("output"), str) or is_list(item.get("output"))):
        yield Violation("shape", f"{where}.output", f"{kind} needs an output (a string or a list of parts)")
    if kind == "reasoning" and not is_list(item.get("summary")):
        yield Violation("shape", f"{where}.summary", "reasoning needs a summary (a list)")


def _content(item: Mapping[str, Any], where: str) -> Iterator[Violation]:
    content: Any = item.get("content")
    allowed = _PARTS.get(item["role"], _PARTS["user"])
    if isinstance(content, str):
        return
    if not is_list(content):
        yield Violation("shape", f"{where}.content", "content is a string or a list of parts")
        return
    for index, part in enumerate(content):
        place, kind = f"{where}.content[{index}]", part.get("type") if isinstance(part, Mapping) else None
        if not isinstance(kind, str):
            yield Violation("shape", place, "a part is an object with a type")
        elif kind not in allowed:
            yield Violation("role", place, f"a {kind} part in a message of {item['role']}", certain=False)
        elif kind.endswith("_text") and not isinstance(part.get("text"), str):
            yield Violation("shape", place, f"a {kind} part needs text (a string)")
