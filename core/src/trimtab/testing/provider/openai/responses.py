"""POST /v1/responses, /v1/responses/compact and /v1/responses/input_tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from trimtab.testing.provider.endpoint import Asked, Given
from trimtab.testing.provider.openai.context import Context, context_of, is_user
from trimtab.testing.provider.openai.errors import invalid_value, refused
from trimtab.testing.provider.openai.events import failed_frames, response_frames
from trimtab.testing.provider.openai.items import bound_to, compaction_item, output_items
from trimtab.testing.provider.openai.prefixes import use_cache
from trimtab.testing.provider.openai.response_shapes import response_json, response_usage, shown_items
from trimtab.testing.provider.openai.sizes import OVERFLOW, check_output, input_limit, room, too_long
from trimtab.testing.provider.openai.store import Store
from trimtab.testing.provider.openai.talk import custom_tools, fitted, last_results, last_text
from trimtab.testing.provider.openai.types import check_types
from trimtab.testing.provider.openai.units import item_units
from trimtab.testing.provider.script import Cut, Fail, Reply
from trimtab.testing.provider.server import FakeProvider

__all__ = ["Responses"]

SHARE = 20
"""A compaction weighs one part in so many of what it stands for; chosen."""


class Responses:
    """The endpoints of one provider."""

    def __init__(self, provider: FakeProvider) -> None:
        self._provider = provider
        self._settings = provider.settings
        self._store = Store()
        self._compactions = 0

    async def create(self, asked: Asked) -> Given:
        """Answer one request; raises `Refused`."""
        body, settings, provider = asked.body, self._settings, self._provider
        check_types(body)
        check_output(body, settings)
        threshold = self._threshold(body)
        items = self._store.read(body)
        context = context_of(body, items, settings, provider.tokens)
        if body.get("truncation") == "auto":
            context.truncate(input_limit(settings))
        if context.tokens > input_limit(settings) and not settings.silent_overflow:
            return self._too_long(asked)
        reply = provider.reply(asked, last_text(items), last_results(items))
        given = self._answer(asked, items, context, reply, threshold)
        await asyncio.sleep(reply.delay)
        return given

    def _answer(
        self, asked: Asked, items: list[Mapping[str, Any]], context: Context, reply: Reply, threshold: int | None
    ) -> Given:
        body, provider = asked.body, self._provider
        tokens, seed = context.tokens, provider.number
        hit = use_cache(provider.entries, self._settings, body, context.read, asked.started)
        output = [self._compacted(tokens, keeps_users=False)] if threshold and tokens >= threshold else []
        prefix = bound_to(context.head + item_units(output, provider.tokens)) if output else context.prefix
        said = fitted(reply, room(body, tokens, self._settings), provider.tokens)
        made = {"model": body["model"], "seed": seed, "custom": custom_tools(body), "tokens": provider.tokens}
        spent = said.output + (tokens // SHARE if output else 0)
        output += output_items(said.parts, prefix, **made)
        usage = response_usage(tokens, hit, spent, said.reasoning) | dict(reply.usage or {})
        status = reply.stop or ("incomplete" if said.cut else "completed")
        response = response_json(
            f"resp_{seed:06d}",
            body,
            asked.started,
            status=status,
            incomplete_details={"reason": "max_output_tokens"} if status == "incomplete" else None,
            completed_at=int(provider.clock.now()) if status == "completed" else None,
            output=shown_items(output, body),
            usage=usage,
            input_transformations=context.removed,
        )
        self._store.add(response["id"], items, output, body.get("store") is not False)
        frames = response_frames(response) if body.get("stream") else None
        return Given(response, usage, hit.billed(tokens, spent), frames, reply.cut)

    def _too_long(self, asked: Asked) -> Given:
        """How too much input is refused: in the stream, where one was asked for, or by a 400."""
        way, error = self._settings.stream_overflow, too_long()
        if not asked.body.get("stream") or way == "400":
            raise error
        told = {"code": OVERFLOW, "message": error.message}
        id = f"resp_{self._provider.number:06d}x"
        response = response_json(id, asked.body, asked.started, status="failed", error=told)
        frames = failed_frames(response, told=way == "failed")
        fail = Fail(400, error.message, error.type, OVERFLOW)
        return Given(response, None, frames=frames, cut=Cut(len(frames), fail) if way == "event" else None)

    def _threshold(self, body: Mapping[str, Any]) -> int | None:
        """Tokens from which on a request is compacted by the provider; None: never."""
        entries = body.get("context_management")
        if entries is not None and not self._settings.compaction:
            raise refused("Unknown parameter: 'context_management'.", "context_management", "unknown_parameter")
        for index, entry in enumerate(entries or ()):
            if entry.get("type") != "compaction":
                raise invalid_value(entry.get("type"), ("compaction",), f"context_management[{index}].type")
        return next((entry.get("compact_threshold") for entry in entries or ()), None)

    def _compacted(self, tokens: int, keeps_users: bool) -> dict[str, Any]:
        self._compactions += 1
        return compaction_item(self._compactions, tokens // SHARE, keeps_users)

    async def compact(self, asked: Asked) -> Given:
        """Compact a conversation: all messages of the user, and one item for everything else."""
        body, provider = asked.body, self._provider
        if not self._settings.compaction:
            raise refused(f"Invalid URL (POST {asked.path})", status=404)
        check_types(body)
        context = context_of(body, self._store.read(body), self._settings, provider.tokens)
        tokens = context.tokens
        if tokens > input_limit(self._settings):
            raise too_long()
        hit = use_cache(provider.entries, self._settings, body, context.read, asked.started)
        item = self._compacted(tokens, keeps_users=True)
        usage = response_usage(tokens, hit, tokens // SHARE, 0)
        compacted = {
            "id": f"resp_{item['id']}",
            "object": "response.compaction",
            "created_at": int(asked.started),
            "output": [*map(_user_item, filter(is_user, context.items)), item],
            "usage": usage,
        }
        return Given(compacted, usage, hit.billed(tokens, tokens // SHARE))

    async def input_tokens(self, asked: Asked) -> Given:
        """Count a request without answering it."""
        items = self._store.read(asked.body)
        context = context_of(asked.body, items, self._settings, self._provider.tokens)
        return Given({"object": "response.input_tokens", "input_tokens": context.tokens})


def _user_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """A user's message as an output item."""
    content = item["content"]
    parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
    return {**item, "type": "message", "status": "completed", "content": parts}
