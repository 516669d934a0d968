"""The strict check of a list of chat messages: rules C1–C3, roles, shapes and lone surrogates.

C1 an answer with calls is followed directly by one result for each · C2 a result has its call in the answer before
it · C3 an empty list of calls · empty: a message that says nothing. Compatible servers differ: what only some of them
refuse is not certain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trimtab.dialects.checks import Violation, broken, is_list

__all__ = ["validate"]

ROLES = frozenset({"assistant", "developer", "function", "system", "tool", "user"})
_PARTS = {
    "assistant": {"refusal", "text"},
    "developer": {"text"},
    "function": {"text"},
    "system": {"text"},
    "tool": {"text"},
    "user": {"file", "image_url", "input_audio", "text"},
}
"""Types of parts that OpenAI takes from each role; other servers know more."""


def validate(messages: Sequence[Mapping[str, Any]]) -> list[Violation]:
    """List all violations in ``messages``, in linear time; those with ``certain`` False are no ground to refuse."""
    if not messages:
        return [Violation("shape", "messages", "at least one message is needed")]
    found: list[Violation] = []
    waiting: dict[str, str] = {}
    answered: set[str] = set()
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        role = message.get("role") if isinstance(message, Mapping) else None
        if role not in ROLES:
            found.append(Violation("role", where, f"a message is an object of role {', '.join(sorted(ROLES))}"))
            continue
        if role == "tool":
            found += _paired(message.get("tool_call_id"), waiting, answered, where)
        else:
            found += _unanswered(waiting)
            waiting, answered = {}, set()
        found += _content(message, where)
        if role == "assistant":
            for id, place, violation in _calls(message.get("tool_calls"), where):
                found += violation
                if id:
                    waiting[id] = place
        if broken(message):
            found.append(Violation("surrogate", where, "a string holds a lone surrogate"))
    return found + list(_unanswered(waiting))


def _paired(id: Any, waiting: dict[str, str], answered: set[str], where: str) -> Iterator[Violation]:
    """Check C2, and note the answer."""
    if not isinstance(id, str):
        yield Violation("shape", f"{where}.tool_call_id", "a tool message needs tool_call_id (a string)")
    elif id in answered:
        yield Violation("C2", where, f"call {id!r} is answered twice", certain=False)
    elif waiting.pop(id, None) is None:
        yield Violation("C2", where, f"no call {id!r} in the answer before")
    else:
        answered.add(id)


def _unanswered(waiting: Mapping[str, str]) -> Iterator[Violation]:
    for id, where in waiting.items():
        yield Violation("C1", where, f"call {id!r} has no result directly behind its answer")


def _calls(calls: Any, where: str) -> Iterator[tuple[str, str, list[Violation]]]:
    """For each call its id, its place and what is wrong with it."""
    where += ".tool_calls"
    if calls is not None and not is_list(calls):
        yield "", where, [Violation("shape", where, "tool_calls is a list")]
        return
    if calls is not None and not calls:
        yield "", where, [Violation("C3", where, "the list of calls is empty", certain=False)]
    ids: set[str] = set()
    for index, call in enumerate(calls or ()):
        place = f"{where}[{index}]"
        entry = call if isinstance(call, Mapping) else {}
        id, kind = entry.get("id"), entry.get("type", "function")
        function = entry.get(kind) if isinstance(kind, str) else None
        fields = function if isinstance(function, Mapping) else {}
        wrong = []
        if not isinstance(id, str) or not id:
            wrong.append(Violation("shape", f"{place}.id", "a call needs an id"))
        elif id in ids:
            wrong.append(Violation("C1", place, f"call id {id!r} occurs twice", certain=False))
        if not isinstance(fields.get("name"), str) or not fields["name"]:
            wrong.append(Violation("shape", place, "a call needs the name of its tool"))
        if not isinstance(fields.get("input" if kind == "custom" else "arguments"), str):
            wrong.append(Violation("shape", place, "arguments are a text", certain=False))
        ids.add(str(id))
        yield id if isinstance(id, str) else "", place, wrong


def _content(message: Mapping[str, Any], where: str) -> Iterator[Violation]:
    role, content = message["role"], message.get("content")
    silent = role == "assistant" and any(map(message.get, ("audio", "function_call", "refusal", "tool_calls")))
    where += ".content"
    if content is None or (is_list(content) and not content):
        if not silent:
            yield Violation("empty", where, f"a message of {role} needs a content")
        elif content is not None:
            yield Violation("empty", where, "the list of parts is empty", certain=False)
    elif isinstance(content, str):
        if not content.strip() and not silent and role in ("assistant", "user"):
            yield Violation("empty", where, "the text is blank", certain=False)
    elif is_list(content):
        for index, part in enumerate(content):
            yield from _part(part, role, f"{where}[{index}]")
    else:
        yield Violation("shape", where, "content is a string or a list of parts")


def _part(part: Any, role: str, where: str) -> Iterator[Violation]:
    kind = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(kind, str):
        yield Violation("shape", where, "a part is an object with a type")
    elif kind not in _PARTS[role]:
        yield Violation("role", where, f"a {kind} part in a message of {role}", certain=False)
    elif kind in ("refusal", "text") and not isinstance(part.get(kind), str):
        yield Violation("shape", where, f"a {kind} part needs {kind} (a string)")
