"""Compaction on demand: a request that asks for a summary, and the signed block that stands for what it closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trimtab.testing.provider.cache import digest
from trimtab.testing.provider.endpoint import Refused
from trimtab.testing.provider.messages.errors import extra
from trimtab.testing.provider.messages.parse import Block, Prompt
from trimtab.testing.provider.messages.thinking import State
from trimtab.testing.provider.settings import Settings

__all__ = ["HEADER", "Compactions", "asked"]

HEADER = "compact-2026-09-04"
INSTRUCTIONS = 16_384
"""Characters that ``instructions`` may have."""


def asked(prompt: Prompt, settings: Settings) -> bool:
    """Whether a request asks for a summary; raises `Refused` where it may not."""
    said = prompt.body.get("compaction")
    if said is None:
        return False
    if not settings.compaction or HEADER not in prompt.betas:
        raise extra("compaction")
    if said.get("type") != "summarize":
        raise Refused(400, "Input tag does not match the expected tag 'summarize'", where="compaction")
    for name in said:
        if name not in ("type", "instructions"):
            raise extra(f"compaction.summarize.{name}")
    if len(said.get("instructions") or "") > INSTRUCTIONS:
        message = f"String should have at most {INSTRUCTIONS} characters"
        raise Refused(400, message, where="compaction.summarize.instructions")
    for name, there in _excluded(prompt.body).items():
        if there:
            raise Refused(400, f"`compaction` cannot be combined with `{name}`", where="compaction")
    _summarisable(prompt)
    return True


def _excluded(body: Mapping[str, Any]) -> dict[str, bool]:
    config = body.get("output_config") or {}
    return {
        "context_management": body.get("context_management") is not None,
        "stop_sequences": bool(body.get("stop_sequences")),
        "output_config.format": config.get("format") is not None,
        "output_config.task_budget.remaining": (config.get("task_budget") or {}).get("remaining") is not None,
        "tool_choice": (body.get("tool_choice") or {}).get("type") in ("any", "tool"),
    }


def _summarisable(prompt: Prompt) -> None:
    last = prompt.messages[-1]
    if last.role == "assistant" and any(last.of("tool_use")):
        message = "the last assistant turn has tool calls without results"
        raise Refused(400, message, code="compaction_incomplete_turn", where="messages")
    if all(message.role == "system" or not message.blocks for message in prompt.messages):
        message = "there is nothing to summarize"
        raise Refused(400, message, code="compaction_nothing_to_summarize", where="messages")


@dataclass(frozen=True, slots=True)
class Closed:
    """What a compaction block stands for: its text, and the state at the start and the end of what it closed."""

    content: str
    base: State
    end: State


class Compactions:
    """All compaction blocks that this provider made, by signature."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._made: dict[str, Closed] = {}

    def make(self, content: str, base: State, end: State) -> dict[str, Any]:
        """A signed block that stands for everything from ``base`` to ``end``."""
        signature = f"cmp_{digest([content, end.key, len(self._made)])}"
        self._made[signature] = Closed(content, base, end)
        return {"type": "compaction", "content": content, "signature": signature}

    def start(self, prompt: Prompt, base: State) -> State:
        """The state before what follows a request's compaction block (``base`` where it has none).

        Raises `Refused` where the block is misplaced, one of several, altered, or not accepted at all.
        """
        blocks = [block for block in prompt.blocks if block.type == "compaction"]
        if not blocks:
            return base
        if not self._settings.compaction or HEADER not in prompt.betas:
            message = "Input tag 'compaction' found using 'type' does not match any of the expected tags"
            raise Refused(400, message, where=blocks[0].path)
        for block in blocks:
            if block.data.get("content") is None:
                block.shown = None  # a compaction that failed has no effect
        live = [block for block in blocks if block.shown is not None]
        if len(live) > 1:
            message = "more than one compaction block with content"
            raise Refused(400, message, code="compaction_block_ambiguous", where=live[1].path)
        return self._resumed(prompt, live[0], base) if live else base

    def _resumed(self, prompt: Prompt, block: Block, base: State) -> State:
        if block.path != "messages.0.content.0" or block.role == "system":
            message = "a compaction block must be the first block of the conversation"
            raise Refused(400, message, code="compaction_block_misplaced", where=block.path)
        closed = self._made.get(str(block.data.get("signature")))
        if closed is None:
            message = "the signature of the compaction block does not verify"
            raise Refused(400, message, code="compaction_signature_invalid", where=block.path)
        if block.data["content"] != closed.content:
            message = "the content of the compaction block is not what was signed"
            raise Refused(400, message, code="compaction_content_mismatch", where=block.path)
        following = next((other for other in prompt.blocks if other.type != "compaction"), None)
        kept = following is not None and following.role not in (closed.end.role, "system")
        return closed.end if kept and closed.base == base else State(digest(["broken", block.data["signature"]]))
