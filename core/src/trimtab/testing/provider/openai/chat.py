"""POST /v1/chat/completions."""

from __future__ import annotations

import asyncio

from trimtab.testing.provider.endpoint import Asked, Given
from trimtab.testing.provider.openai.chat_rules import check_chat
from trimtab.testing.provider.openai.chat_shapes import chat_frames, chat_message, chat_usage
from trimtab.testing.provider.openai.prefixes import has_breakpoints, use_cache
from trimtab.testing.provider.openai.sizes import check_chat_size, check_output, room
from trimtab.testing.provider.openai.talk import custom_tools, fitted, last_results, last_text
from trimtab.testing.provider.openai.types import check_types
from trimtab.testing.provider.openai.units import chat_units, total
from trimtab.testing.provider.server import FakeProvider

__all__ = ["Chat"]


class Chat:
    """The endpoint of one provider."""

    def __init__(self, provider: FakeProvider) -> None:
        self._provider = provider
        self._settings = provider.settings

    async def create(self, asked: Asked) -> Given:
        """Answer one request; raises `Refused`."""
        body, settings, provider = asked.body, self._settings, self._provider
        check_types(body)
        messages = body.get("messages")
        check_chat(messages, empty_calls=settings.empty_calls, thinking=settings.thinking_back)
        assert isinstance(messages, list)
        check_output(body, settings)
        units = chat_units(body, provider.tokens)
        tokens = total(units)
        check_chat_size(body, tokens, settings)
        reply = provider.reply(asked, last_text(messages), last_results(messages))
        hit = use_cache(provider.entries, settings, body, units, asked.started)
        said = fitted(reply, room(body, tokens, settings), provider.tokens)
        message = chat_message(said.parts, provider.number, custom_tools(body))
        stop = "length" if said.cut else "tool_calls" if "tool_calls" in message else "stop"
        usage = chat_usage(tokens, hit, said, has_breakpoints(body["model"])) | dict(reply.usage or {})
        completion = {
            "id": f"chatcmpl-{provider.number:06d}",
            "object": "chat.completion",
            "created": int(asked.started),
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reply.stop or stop}],
            "usage": usage,
            "service_tier": "default",
            "system_fingerprint": None,
        }
        with_usage = bool((body.get("stream_options") or {}).get("include_usage"))
        frames = chat_frames(completion, with_usage) if body.get("stream") else None
        await asyncio.sleep(reply.delay)
        return Given(completion, usage, hit.billed(tokens, said.output), frames, reply.cut)
