"""The rules that messages must keep: pairs of calls and results, roles, texts, the end."""

from __future__ import annotations

from collections.abc import Sequence

from trimtab.testing.provider.endpoint import Refused
from trimtab.testing.provider.messages.fields import SERVER_CALLS, SERVER_RESULTS
from trimtab.testing.provider.messages.parse import Block, Prompt, Turn
from trimtab.testing.provider.settings import Settings

__all__ = ["check"]


def check(prompt: Prompt, settings: Settings) -> None:
    """Raise `Refused` with the vendor's complaint at the first rule broken.

    A request that continues a server-side ``thread`` holds new messages only: calls and results are not paired there.
    """
    _texts(prompt)
    turns = prompt.turns
    _systems(turns)
    if settings.strict_first and turns[0].role != "user" and turns[0].blocks[0].type != "compaction":
        raise Refused(400, 'first message must use the "user" role', where="messages")
    if "thread" not in prompt.body:
        _pairs(turns, settings)
        _named(prompt)
    if "compaction" not in prompt.body:
        _end(turns[-1], settings)


def _texts(prompt: Prompt) -> None:
    for index, message in enumerate(prompt.messages):
        last = index == len(prompt.messages) - 1
        if not message.blocks and not (last and message.role == "assistant"):
            text = "all messages must have non-empty content except for the optional final assistant message"
            raise Refused(400, text, where=message.path)
        for block in message.of("text"):
            text = str(block.data.get("text", ""))
            if not text:
                raise Refused(400, "text content blocks must be non-empty", where="messages")
            if not text.strip():
                raise Refused(400, "text content blocks must contain non-whitespace text", where="messages")


def _systems(turns: Sequence[Turn]) -> None:
    """A system message follows a user turn, or a server tool's result, and an answer or nothing follows it."""
    for index, turn in enumerate(turns):
        if turn.role != "system":
            continue
        before = turns[index - 1] if index else None
        after = turns[index + 1] if index + 1 < len(turns) else None
        server = before is not None and bool(before.blocks) and before.blocks[-1].type in SERVER_RESULTS
        if before is None or (before.role == "assistant" and not server):
            message = "a system message must follow a user message or a server tool result, and cannot be first"
            raise Refused(400, message, where=turn.path)
        if after is not None and after.role != "assistant":
            raise Refused(400, "a system message must precede an assistant message or end the list", where=turn.path)


def _pairs(turns: Sequence[Turn], settings: Settings) -> None:
    """Each call is answered in the next turn, each result has its call in the turn before, results come first."""
    seen: set[str] = set()
    calls: list[str] = []
    for index, turn in enumerate(turns):
        following = turns[index + 1] if index + 1 < len(turns) else None
        if turn.role == "user":
            _results(turn, calls)
        calls = [str(block.data.get("id")) for block in turn.of("tool_use")]
        answered = {block.data.get("tool_use_id") for block in following.of("tool_result")} if following else set()
        if missing := [id for id in calls if id not in answered]:
            message = (
                f"`tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(missing)}. "
                "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
            )
            raise Refused(400, message, where=turn.path)
        if settings.strict_ids and (twice := [id for id in calls if id in seen or calls.count(id) > 1]):
            raise Refused(400, f"`tool_use` ids must be unique: {', '.join(twice)}", where=turn.path)
        seen.update(calls)
        if turn.role == "assistant":
            _server_tools(turn, following)


def _results(turn: Turn, calls: Sequence[str]) -> None:
    answered: set[str] = set()
    other = False
    for block in turn.blocks:
        other = other or block.type not in ("tool_result", "cache_edits")
        if block.type != "tool_result":
            continue
        id = str(block.data.get("tool_use_id"))
        if id not in calls:
            message = (
                f"unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a "
                "corresponding `tool_use` block in the previous message."
            )
            raise Refused(400, message, where=block.path)
        if id in answered:
            message = f"each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"
            raise Refused(400, message, where=block.path)
        if other:
            raise Refused(400, "`tool_result` blocks must come first in the content of a message", where=block.path)
        answered.add(id)


def _server_tools(turn: Turn, following: Turn | None) -> None:
    """Server tools pair by id inside the turn; calls may wait at the end, and then only results may follow."""
    waiting: dict[str, Block] = {}
    for block in turn.blocks:
        if block.type in SERVER_CALLS:
            waiting[str(block.data.get("id"))] = block
        elif block.type in SERVER_RESULTS and not waiting.pop(str(block.data.get("tool_use_id")), None):
            id = block.data.get("tool_use_id")
            message = f"unexpected `tool_use_id` found in `{block.type}` blocks: {id}"
            raise Refused(400, message, where=block.path)
    if not waiting or following is None:
        return
    id, block = next(iter(waiting.items()))
    if not any(turn.of("tool_use")):
        name = block.data.get("name")
        message = f"`{name}` tool use with id `{id}` was found without a corresponding result block"
        raise Refused(400, message, where=block.path)
    for other in following.blocks:
        if other.type != "tool_result":
            raise Refused(400, f"only tool results may follow while `{id}` waits for its result", where=other.path)


def _named(prompt: Prompt) -> None:
    """A tool called in history, or a server tool that waits, is in ``tools``, or was added in a system message."""
    added = [block.data.get("tool") or {} for block in prompt.blocks if block.type == "tool_addition"]
    names = {tool.get("name") for tool in (*prompt.tools, *added)}
    answered = {block.data.get("tool_use_id") for block in prompt.blocks if block.type in SERVER_RESULTS}
    for block in prompt.blocks:
        waiting = block.type == "server_tool_use" and block.data.get("id") not in answered
        if not (waiting or block.type == "tool_use") or block.data.get("toolset_name"):
            continue
        if not names:
            message = "Requests which include `tool_use` or `tool_result` blocks must define tools"
            raise Refused(400, message, where=block.path)
        if block.data.get("name") not in names:
            raise Refused(400, f"tool `{block.data.get('name')}` was called but is not in `tools`", where=block.path)


def _end(turn: Turn, settings: Settings) -> None:
    if turn.role != "assistant":
        return
    last = turn.blocks[-1] if turn.blocks else None
    if last is not None and last.type in SERVER_CALLS | SERVER_RESULTS | {"compaction"}:
        return  # the server goes on with its own turn
    if not settings.prefill:
        message = (
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
        raise Refused(400, message)
    if last is not None and last.type == "text" and str(last.data["text"]) != str(last.data["text"]).rstrip():
        raise Refused(400, "final assistant content cannot end with trailing whitespace", where="messages")
