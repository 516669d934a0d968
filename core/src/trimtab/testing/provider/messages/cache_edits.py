"""``cache_edits``: results that the client has the server delete from its cache.

Undocumented by the vendor; the wire format and its placement rules are those described publicly. Off by default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trimtab.testing.provider.endpoint import Refused
from trimtab.testing.provider.messages.errors import extra
from trimtab.testing.provider.messages.parse import Block, Prompt, Turn
from trimtab.testing.provider.settings import Settings

__all__ = ["apply"]

BLOCK = "cache_edits"
REFERENCE = "cache_reference"


def apply(prompt: Prompt, settings: Settings, weigh: Callable[[Block], int]) -> int | None:
    """Delete what the request says; returns the tokens deleted so far, None where there are no deletions.

    Raises `Refused` without the header that the settings name, and where a placement rule is broken.
    """
    edits = [block for block in prompt.blocks if block.type == BLOCK]
    referable = {str(block.data[REFERENCE]): block for block in prompt.blocks if REFERENCE in block.data}
    if not edits and not referable:
        return None
    header = settings.cache_edits
    if isinstance(header, str) and header not in prompt.betas:
        if edits:
            unknown = f"Input tag '{BLOCK}' found using 'type' does not match any of the expected tags"
            raise Refused(400, unknown, where=edits[0].path)
        raise extra(f"{next(iter(referable.values())).path}.tool_result.{REFERENCE}")
    _referable(prompt, referable)
    deleted: dict[str, Block] = {}
    for message in prompt.messages:
        for block in message.of(BLOCK):
            _placed(message, block)
            for name in _named(block):
                if name in deleted:
                    raise Refused(400, f"{name} is deleted twice", where=block.path)
                if name not in referable:
                    raise Refused(400, f"no tool_result before it has the {REFERENCE} {name}", where=block.path)
                deleted[name] = referable[name]
    freed = 0
    for block in deleted.values():
        freed += weigh(block)
        block.deleted = True
    return freed if edits else None


def _named(block: Block) -> list[str]:
    """The references that one block deletes."""
    edits: list[Mapping[str, Any]] = block.data.get("edits") or []
    if not edits:
        raise Refused(400, "edits must not be empty", where=block.path)
    for edit in edits:
        if edit.get("type") != "delete" or not isinstance(edit.get(REFERENCE), str):
            raise Refused(400, f"an edit is {{'type': 'delete', '{REFERENCE}': …}}", where=block.path)
    return [str(edit[REFERENCE]) for edit in edits]


def _placed(message: Turn, block: Block) -> None:
    """Right behind the last tool result, or, where there is none, before the last block; never at the end."""
    at = next(index for index, other in enumerate(message.blocks) if other is block)
    results = [index for index, other in enumerate(message.blocks) if other.type == "tool_result"]
    wanted = results[-1] + 1 if results else len(message.blocks) - 2
    if at != wanted or at == len(message.blocks) - 1:
        where = "right after the last tool_result" if results else "before the last block"
        raise Refused(400, f"{BLOCK} belongs {where}, and not at the end of the content", where=block.path)


def _referable(prompt: Prompt, referable: Mapping[str, Block]) -> None:
    """One marker in the messages; results strictly before its message may be referred to, by their call's id."""
    marked = [message for message in prompt.messages if any("cache_control" in block.data for block in message.blocks)]
    count = sum("cache_control" in block.data for block in prompt.blocks)
    if count != 1 or marked[0] not in prompt.messages[-2:]:
        message = f"{BLOCK} needs exactly one cache_control in the messages, on the last or the one before it"
        raise Refused(400, message, where="messages")
    before = prompt.messages[: prompt.messages.index(marked[0])]
    known = {block.path for message in before for block in message.blocks}
    for name, block in referable.items():
        if block.path not in known or name != block.data.get("tool_use_id"):
            message = f"{REFERENCE} is the tool_use_id of a result before the marked message"
            raise Refused(400, message, where=block.path)
