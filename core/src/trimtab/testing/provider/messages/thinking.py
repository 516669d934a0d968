"""Thinking blocks: their signatures, what they are bound to, and what comes back."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trimtab.testing.provider.cache import digest
from trimtab.testing.provider.endpoint import Refused
from trimtab.testing.provider.messages.errors import extra
from trimtab.testing.provider.messages.parse import Block, Prompt, same
from trimtab.testing.provider.settings import Settings

__all__ = ["BINDING", "State", "Thinking", "binding", "start"]

BINDING = "thinking-binding-controls-2026-08-01"
TYPES = ("thinking", "redacted_thinking")
INVALID = "Invalid `signature` in `thinking` block"
MOVED = (
    f"{INVALID}. The block is bound to a different conversation. Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
LATEST = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
    "These blocks must remain as they were in the original response."
)
LEGACY = "When `thinking` is enabled, a final `assistant` message must start with a thinking block."
OVERHEAD = 200
"""Bytes that a signature has beside the encrypted thinking; chosen."""


@dataclass(frozen=True, slots=True)
class State:
    """Where a conversation stands: a hash of all that thinking is bound to so far, and whose turn came last."""

    key: str
    role: str = ""

    def then(self, role: str, block: Mapping[str, Any]) -> State:
        """The state behind one more block; thinking, deletions from the cache and compaction blocks do not count."""
        if block["type"] in (*TYPES, "cache_edits", "compaction"):
            return self
        return State(digest([self.key, role, same(block)]), role)


@dataclass(frozen=True, slots=True)
class Thought:
    """What the provider knows of a block it made: what it sent, what was thought, and what came before it."""

    sent: str
    full: str
    model: str
    key: str
    """The state before it."""
    before: tuple[str, ...]
    """Signatures of the thinking that the model was shown before it."""
    response: int


def binding(prompt: Prompt) -> bool:
    """Whether mismatching thinking is to be dropped; raises `Refused` where the request may not say so."""
    asked = prompt.body.get("thinking") or {}
    if "block_binding" not in asked:
        return False
    if BINDING not in prompt.betas or asked.get("type") == "disabled":
        raise extra(f"thinking.{asked.get('type')}.block_binding")
    behaviour = (asked["block_binding"] or {}).get("prefix_mismatch_behavior") or "error"
    if behaviour not in ("error", "drop_block"):
        where = "thinking.block_binding.prefix_mismatch_behavior"
        raise Refused(400, "Input should be 'error' or 'drop_block'", where=where)
    return bool(behaviour == "drop_block")


class Thinking:
    """All thinking that this provider made, by signature."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._made: dict[str, Thought] = {}
        self._calls: dict[str, int] = {}

    def full(self, block: Block) -> str | None:
        """What was thought in a block, also where the answer did not show it; None for any other block."""
        made = self._made.get(_signature(block.data)) if block.type in TYPES else None
        return made.full if made else None

    def sign(self, text: str, shown: str, model: str, state: State, before: Sequence[str], response: int) -> str:
        """A new signature; as long as the thinking it carries encrypted."""
        seed = digest([text, model, state.key, list(before), response, len(self._made)])
        size = len(text.encode()) + OVERHEAD
        signature = b64encode(hashlib.shake_256(seed.encode()).digest(size)).decode()
        self._made[signature] = Thought(shown, text, model, state.key, tuple(before), response)
        return signature

    def called(self, id: str, response: int) -> None:
        """Remember which response made a call."""
        self._calls[id] = response

    def check(self, prompt: Prompt, start: State) -> tuple[list[dict[str, str]], State, list[str]]:
        """Judge all thinking of a request, from the state that ``start`` is before its first message.

        Returns what was dropped (entries of ``input_transformations``), the state at the end and the signatures that
        the model is shown. Raises `Refused` for altered, foreign, partly removed or wrongly bound blocks.
        """
        drop = binding(prompt)
        self._latest(prompt)
        dropped: list[dict[str, str]] = []
        kept: list[str] = []
        state = start
        for block in prompt.blocks:
            if block.type not in TYPES:
                state = state.then(block.role, block.data)
                continue
            signature = _signature(block.data)
            bound = self._whole(prompt, block)
            if not self._settings.prefix_check or self._fits(bound, state, kept):
                kept.append(signature)
                continue
            if not drop:
                raise Refused(400, MOVED, where=block.path)
            block.shown = None
            dropped.append({"type": "thinking_dropped", "path": block.path, "reason": "prefix_binding_mismatch"})
        return dropped, state, kept

    def _whole(self, prompt: Prompt, block: Block) -> Thought:
        made = self._made.get(_signature(block.data))
        if made is None or block.data.get("thinking", made.sent) != made.sent:
            raise Refused(400, INVALID, where=block.path)
        if made.model != prompt.model and not self._settings.foreign_thinking:
            raise Refused(400, INVALID, where=block.path)
        return made

    @staticmethod
    def _fits(bound: Thought, state: State, kept: Sequence[str]) -> bool:
        """The state before it is the same, and of the thinking before it an unbroken run up to it is left."""
        run = bound.before[len(bound.before) - len(kept) :] if kept else ()
        return bound.key == state.key and len(kept) <= len(bound.before) and run == tuple(kept)

    def _latest(self, prompt: Prompt) -> None:
        """The latest answer's thinking is there whole, in order; or not at all, unless a setting says otherwise."""
        turns = [turn for turn in prompt.turns if turn.role == "assistant"]
        if not turns or not turns[-1].blocks:
            return
        blocks = turns[-1].blocks
        there = [_signature(block.data) for block in blocks if block.type in TYPES]
        responses = {self._made[sig].response for sig in there if sig in self._made}
        calls = (str(block.data.get("id")) for block in blocks if block.type == "tool_use")
        open_round = {self._calls[id] for id in calls if id in self._calls}
        wanted = self._of(responses | open_round if self._settings.strict_round else responses)
        if wanted != [sig for sig in there if sig in self._made]:
            place = next((block.path for block in blocks if block.type in TYPES), turns[-1].path)
            raise Refused(400, LATEST, where=place)
        legacy = (prompt.body.get("thinking") or {}).get("type") == "enabled"
        if legacy and self._of(open_round) and blocks[0].type not in TYPES:
            message = f"Expected `thinking` or `redacted_thinking`, but found `{blocks[0].type}`. {LEGACY}"
            raise Refused(400, message, where=f"{blocks[0].path}.type")

    def _of(self, responses: set[int]) -> list[str]:
        """The signatures of all thinking that these responses had, in order."""
        return [signature for signature, made in self._made.items() if made.response in responses]


def start(prompt: Prompt) -> State:
    """The state before the first message: system and tools; tools that are not loaded yet do not count."""
    tools: Iterable[Any] = (same(tool) for tool in prompt.tools if not tool.get("defer_loading"))
    return State(digest([[same(block) for block in prompt.system], list(tools)]))


def _signature(block: Mapping[str, Any]) -> str:
    return str(block.get("signature") or block.get("data"))
