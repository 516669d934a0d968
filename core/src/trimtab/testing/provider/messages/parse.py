"""A request of the Messages API, taken apart: blocks with their places, and what the model is shown of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from trimtab.testing.provider.endpoint import Asked, Refused
from trimtab.testing.provider.messages.errors import extra
from trimtab.testing.provider.messages.fields import BETA, BLOCKS, COUNTED, MESSAGE, REQUEST, VOICE
from trimtab.testing.provider.settings import Settings

__all__ = ["Block", "Prompt", "Turn", "parse", "same"]

Data = Mapping[str, Any]


@dataclass(slots=True)
class Block:
    """One content block as sent (``data``) and as the model is shown it (``shown``; None: not at all)."""

    path: str
    role: str
    data: Data
    shown: Data | None
    deleted: bool = False
    """Whether it was deleted from the cache: it weighs nothing, and yet nothing behind it changes."""

    @property
    def type(self) -> str:
        """The block's type."""
        return str(self.data["type"])


@dataclass(frozen=True, slots=True)
class Turn:
    """Neighbouring messages of one role, which the API takes as one; ``path`` is the first one's."""

    role: str
    path: str
    blocks: Sequence[Block]

    def of(self, *types: str) -> Iterator[Block]:
        """Its blocks of these types."""
        return (block for block in self.blocks if block.type in types)


@dataclass(slots=True)
class Prompt:
    """A request; ``betas`` is what its ``anthropic-beta`` header asks for."""

    body: Data
    betas: frozenset[str]
    started: float
    tools: list[Data] = field(default_factory=list)
    system: list[Data] = field(default_factory=list)
    messages: list[Turn] = field(default_factory=list)
    """As sent, not yet merged."""

    @property
    def model(self) -> str:
        """The model's name."""
        return str(self.body["model"])

    @property
    def blocks(self) -> list[Block]:
        """All content blocks of the messages, in order."""
        return [block for message in self.messages for block in message.blocks]

    @property
    def turns(self) -> list[Turn]:
        """The messages, neighbours of one role merged."""
        groups = (list(group) for _, group in groupby(self.messages, key=lambda message: message.role))
        return [Turn(g[0].role, g[0].path, [block for message in g for block in message.blocks]) for g in groups]


def parse(asked: Asked, settings: Settings) -> Prompt:
    """Take a request apart; raises `Refused` for fields and types that the API does not know."""
    body = asked.body
    betas = frozenset(name.strip() for name in asked.headers.get("anthropic-beta", "").split(",") if name.strip())
    beta = bool(betas) or asked.named("beta") == "true"  # the SDK tells beta requests by the header alone
    counting = asked.api == "count_tokens"
    for name in body:
        if name not in (COUNTED if counting else REQUEST | BETA) or (name in BETA and not beta):
            raise extra(name)
    for name in ("model", "messages") if counting else ("model", "messages", "max_tokens"):
        if name not in body:
            raise Refused(400, "Field required", where=name)
    if not isinstance(body["messages"], list) or not body["messages"]:
        raise Refused(400, "at least one message is required", where="messages")
    prompt = Prompt(body, betas, asked.started)
    prompt.tools = list(body.get("tools") or [])
    prompt.system = _system(body.get("system"))
    prompt.messages = [_message(index, message, settings) for index, message in enumerate(body["messages"])]
    return prompt


def _system(system: Any) -> list[Data]:
    if not system:
        return []
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else list(system)
    for index, block in enumerate(blocks):
        _known(f"system.{index}", block, BLOCKS["text"])
        if not str(block.get("text", "")):
            raise Refused(400, "text content blocks must be non-empty", where="system")
    return blocks


def _message(index: int, message: Any, settings: Settings) -> Turn:
    path = f"messages.{index}"
    role = message.get("role") if isinstance(message, Mapping) else None
    if role not in MESSAGE:
        raise Refused(400, "Input should be 'user', 'assistant' or 'system'", where=f"{path}.role")
    _known(path, message, MESSAGE[role])
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise Refused(400, "Input should be a valid string or list", where=f"{path}.content")
    return Turn(role, path, [_block(f"{path}.content.{j}", role, block, settings) for j, block in enumerate(content)])


def _block(path: str, role: str, block: Any, settings: Settings) -> Block:
    kind = block.get("type") if isinstance(block, Mapping) else None
    editing = bool(settings.cache_edits)
    if kind == "cache_edits" and editing and role == "user":
        _known(path, block, frozenset({"type", "edits"}))
    elif kind not in VOICE[role]:
        expected = ", ".join(f"'{name}'" for name in sorted(VOICE[role]))
        message = f"Input tag '{kind}' found using 'type' does not match any of the expected tags: {expected}"
        raise Refused(400, message, where=path)
    else:
        more = frozenset({"cache_reference"}) if kind == "tool_result" and editing else frozenset()
        _known(f"{path}.{kind}", block, BLOCKS[kind] | more)
        for j, inner in enumerate(block["content"] if kind == "tool_result" and _listed(block) else ()):
            tag = inner.get("type") if isinstance(inner, Mapping) else None
            _known(f"{path}.tool_result.content.{j}.{tag}", inner, BLOCKS.get(str(tag), frozenset()))
    return Block(path, role, block, block)


def _listed(block: Data) -> bool:
    return isinstance(block.get("content"), list)


def _known(path: str, value: Any, fields: frozenset[str]) -> None:
    if not isinstance(value, Mapping):
        raise Refused(400, "Input should be a valid dictionary", where=path)
    for name in value:
        if name not in fields:
            raise extra(f"{path}.{name}")


def same(block: Data) -> Data:
    """A block for comparison: without cache markers and references, fields that are null, and spellings of one text."""
    bare = {
        name: value
        for name, value in sorted(block.items())
        if value is not None and name not in ("cache_control", "cache_reference")
    }
    content = bare.get("content")
    if bare.get("type") == "tool_result":
        inner = [{"type": "text", "text": content}] if isinstance(content, str) else (content or [])
        bare["content"] = [same(part) for part in inner if isinstance(part, Mapping)]
    return bare
