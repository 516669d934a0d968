"""The strict check of an Anthropic Messages list: rules A1–A13, roles, block shapes and lone surrogates.

A1 calls are answered in the next message · A2 results have their call there · A3 results come first · A4 ids
are unique · A5 neighbours of one role are one turn · A6 the first message is the user's · A7 no blank text ·
A8 how the last message may end · A9 server calls and results pair up · A10 what must stay with waiting server
calls and search results · A11 called tools exist · A12 results repeat their toolset · A13 limits ·
cache_edits: deletions of results stand in their place and refer to something.
Not checked, because only the server can see it: that opaque content is unchanged, that fallback blocks keep
their place, how many pages a PDF has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trimtab.dialects.anthropic.pairs import Pairs
from trimtab.dialects.anthropic.references import References
from trimtab.dialects.anthropic.shapes import SERVER_CALLS, blank, check_block, is_server_result
from trimtab.dialects.checks import Violation, broken, is_list

__all__ = ["Violation", "validate"]

MESSAGES = 100_000
IMAGES = 600
IMAGES_SMALL = 100
"""A13: messages a request; images a request, and on models with a window of 200k tokens."""


def validate(
    messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] | None = None
) -> list[Violation]:
    """List all violations in ``messages``, in linear time; A11 is checked only where ``tools`` are given.

    Those with ``certain`` False (unsettled between sources, or dependent on the model) are no ground to
    refuse a request.
    """
    walk = _Walk({str(tool.get("name")) for tool in tools} if tools is not None else None)
    if not messages:
        walk.add("shape", "messages", "at least one message is needed")
    if len(messages) > MESSAGES:
        walk.add("A13", "messages", f"{len(messages)} messages; at most {MESSAGES}")
    for index, message in enumerate(messages):
        walk.message(f"messages[{index}]", message, last=index == len(messages) - 1)
    walk.end(f"messages[{len(messages) - 1}]")
    return walk.found


class _Walk:
    """One pass over the list."""

    def __init__(self, tools: set[str] | None) -> None:
        self.found: list[Violation] = []
        self.pairs = Pairs(tools)
        self.references = References()
        self.role = ""
        self.tail: Mapping[str, Any] = {}
        """The last block so far; a string counts as its text block."""
        self.images = 0

    def add(self, rule: str, where: str, what: str, certain: bool = True) -> None:
        self.found.append(Violation(rule, where, what, certain))

    def message(self, where: str, message: Any, last: bool) -> None:
        role: Any = message.get("role") if isinstance(message, Mapping) else None
        content: Any = message.get("content") if role else None
        if role not in ("assistant", "system", "user"):
            self.add("role", where, "a message is an object of role user, assistant or system")
            return
        self.order(where, role, content)
        if self.role and role != self.role:
            self.found += self.pairs.turn_ends(self.role)
        self.role = role
        where += ".content"
        if content == "" or (is_list(content) and not content):
            self.tail = {}
            # only a last assistant message may be empty, on models that take a prefill
            self.add("A7", where, "content is empty", certain=not (last and role == "assistant"))
        elif isinstance(content, str):
            self.text(where, content)
        elif is_list(content):
            for index, block in enumerate(content):
                self.block(f"{where}[{index}]", block)
            self.found += self.references.message(content, where)
        else:
            self.add("shape", where, "content is a string or a list of blocks")

    def order(self, where: str, role: str, content: Any) -> None:
        """Check A6, and that system messages stand behind a user turn or a server result, before no user."""
        served = is_server_result(str(self.tail.get("type")))
        if not self.role:
            head = content[0] if is_list(content) and content else None
            compacted = isinstance(head, Mapping) and head.get("type") == "compaction"
            if role == "system":
                self.add("role", where, "a system message cannot be the first")
            elif role == "assistant" and not compacted:
                self.add("A6", where, "the list starts with an assistant message", certain=False)
        elif role == "user" and self.role == "system":
            self.add("role", where, "a user message cannot follow a system message")
        elif role == "system" and self.role == "assistant" and not served:
            self.add("role", where, "a system message cannot follow this assistant message")

    def text(self, where: str, content: str) -> None:
        self.tail = {"type": "text", "text": content}
        self.pairs.text(where)
        if blank(content):
            self.add("A7", where, "text is blank")
        if broken(content):
            self.add("surrogate", where, "a string holds a lone surrogate")

    def block(self, where: str, block: Any) -> None:
        self.found += check_block(block, self.role, where)
        if not isinstance(block, Mapping):
            return
        self.tail = block
        self.found += self.pairs.block(block, self.role, where)
        inner = block.get("content") if block.get("type") == "tool_result" else None
        for part in (block, *inner) if isinstance(inner, list | tuple) else (block,):
            self.images += isinstance(part, Mapping) and part.get("type") == "image"

    def end(self, where: str) -> None:
        """Check what only the last message (A1, A8) or the whole list (A13) shows."""
        self.found += self.pairs.turn_ends(self.role, last=True)
        type, text = str(self.tail.get("type")), self.tail.get("text")
        if self.role == "assistant":
            if type == "text" and isinstance(text, str) and text != text.rstrip():
                self.add("A8", where, "a last assistant message ends in white space")
            paused = type in SERVER_CALLS or is_server_result(type)
            if not paused:
                self.add("A8", where, "a last assistant message is a prefill", certain=False)
        if self.images > IMAGES:
            self.add("A13", "messages", f"{self.images} images; at most {IMAGES}")
        elif self.images > IMAGES_SMALL:
            what = f"{self.images} images; at most {IMAGES_SMALL} on models with a window of 200k"
            self.add("A13", "messages", what, certain=False)
