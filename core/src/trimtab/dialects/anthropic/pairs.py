"""Calls and their results across the turns of an Anthropic Messages list: rules A1–A4 and A9–A12."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trimtab.dialects.anthropic.shapes import SERVER_CALLS, is_server_result
from trimtab.dialects.checks import Violation

__all__ = ["Pairs"]


@dataclass(slots=True)
class Pairs:
    """What is open at one point of the list; neighbours of one role are one turn."""

    tools: set[str] | None
    """Names of the request's tools, or None where they are not known."""
    calls: dict[str, tuple[str, Any]] = field(default_factory=dict)
    """Client calls of the newest assistant turn: id to place and toolset."""
    answered: set[str] = field(default_factory=set)
    """Ids that the results of this user turn name."""
    waiting: dict[str, str] = field(default_factory=dict)
    """Server calls without a result yet: id to place. They may wait over user turns of only results."""
    served: set[str] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)
    other: str = ""
    """Place of the first content of this turn that is no tool_result."""

    def text(self, where: str) -> None:
        """Take content that is a string."""
        self.other = self.other or where

    def block(self, block: Mapping[str, Any], role: str, where: str) -> Iterator[Violation]:
        """Take the next block of the list."""
        type = str(block.get("type"))
        if type == "tool_result":
            yield from self._result(str(block.get("tool_use_id")), block, role, where)
            return
        self.other = self.other or where
        if type == "tool_use" or type in SERVER_CALLS:
            id = str(block.get("id"))
            if id in self.ids:
                yield Violation("A4", where, f"call id {id!r} occurs twice", certain=False)
            self.ids.add(id)
            if type in SERVER_CALLS:
                self.waiting[id] = where
                return
            self.calls[id] = where, block.get("toolset_name")
            if self.tools is not None and "toolset_name" not in block and block.get("name") not in self.tools:
                yield Violation("A11", where, f"tool {block.get('name')!r} was called but is not in tools")
        elif is_server_result(type):
            yield from self._server_result(str(block.get("tool_use_id")), where)

    def _result(self, call: str, block: Mapping[str, Any], role: str, where: str) -> Iterator[Violation]:
        if self.other and role == "user":
            yield Violation("A3", where, f"a tool_result stands behind other content ({self.other})")
        if role != "user" or call not in self.calls:
            yield Violation("A2", where, f"no call {call!r} in the message before")
            return
        toolset = self.calls[call][1]
        if call in self.answered:
            yield Violation("A4", where, f"call {call!r} is answered twice", certain=False)
        elif toolset != block.get("toolset_name"):
            yield Violation("A12", where, f"the result must repeat toolset_name {toolset!r}")
        self.answered.add(call)

    def _server_result(self, call: str, where: str) -> Iterator[Violation]:
        if self.waiting.pop(call, None) is not None:
            self.served.add(call)
        elif call in self.served:
            yield Violation("A4", where, f"server call {call!r} is answered twice", certain=False)
        else:
            yield Violation("A9", where, f"no server call {call!r} before its result")

    def turn_ends(self, role: str, last: bool = False) -> Iterator[Violation]:
        """End the turn of ``role``; calls are due in the next turn, so a user or system turn settles them."""
        if role != "assistant" or last:
            for call, (where, _) in self.calls.items():
                if call not in self.answered:
                    yield Violation("A1", where, f"call {call!r} has no result in the next message")
            self.calls = {}
        if role == "user" and self.other:
            for call, where in self.waiting.items():
                if self.answered:
                    yield Violation("A10", self.other, f"only tool results may follow while server call {call!r} waits")
                else:
                    yield Violation("A9", where, f"server call {call!r} has no result in its turn")
            self.waiting = {}
        self.answered = set()
        self.other = ""
