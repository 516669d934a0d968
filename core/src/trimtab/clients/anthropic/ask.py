"""The asker with an Anthropic client: a text of its own, a fork of the session's request, or the provider's summary.

Three kinds of question. One with a text of its own is one user message. One that is ``shared`` goes on behind the
session's request, so that the provider reads that from its cache. One that is ``native`` has the provider summarise the
request's messages. All are streamed: that shows progress, and a stream may take long.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from trimtab.ask import Answer, Ask
from trimtab.clients.anthropic.fork import forked, native
from trimtab.clients.asking import LIMIT, TIMEOUT, Asking, Progress, Question
from trimtab.dialect import Usage
from trimtab.errors import AskFailed, Overflow
from trimtab.models import find

if TYPE_CHECKING:
    import anthropic

__all__ = ["MAX_TOKENS", "AnthropicAsker"]

MAX_TOKENS = 16_000
"""Tokens that an answer may have, thinking included: chosen, room for a summary of 10,000 in the model's own count."""
CUT = {
    "max_tokens": "the answer was cut off: more than its max_tokens",
    "model_context_window_exceeded": "the answer was cut off: the model's window is full",
    "pause_turn": "the answer was cut off: the provider paused it",
    "refusal": "the model refused",
    "tool_use": "the model called a tool instead of answering",
}
"""What a stop reason says that is not the end of an answer."""


class AnthropicAsker(Asking):
    """Answers with ``client``, an `anthropic.Anthropic` or `anthropic.AsyncAnthropic` (then for `aprepare`).

    A question of its own goes to the profile's ``ask.model``, else to ``model``, else to the session's. A shared or
    native one goes to the model of the request that it follows. ``max_tokens``: tokens that an answer may have;
    never more than the model asked can write, where trimtab knows it. The others: see `Asking`.

    Raises `AskFailed`: for an error of the provider (the cause), no answer in time, an answer that is cut off, a
    refusal, a tool call.
    """

    def __init__(
        self,
        client: anthropic.Anthropic | anthropic.AsyncAnthropic,
        model: str | None = None,
        *,
        max_tokens: int = MAX_TOKENS,
        timeout: float = TIMEOUT,
        limit: int = LIMIT,
        progress: Callable[[Progress], object] | None = None,
    ) -> None:
        asynchronous = hasattr(client, "__aenter__")
        super().__init__(model, asynchronous=asynchronous, timeout=timeout, limit=limit, progress=progress)
        self.client: Any = client
        self.max_tokens = max_tokens

    def answer(self, question: Question) -> Any:
        """The `Answer`, or a coroutine of it."""
        body = self._body(question.ask)
        betas = body.pop("betas", None)
        messages = self.client.beta.messages if betas else self.client.messages
        known = inspect.signature(messages.stream).parameters
        rest = {name: body.pop(name) for name in list(body) if name not in known}
        body |= {"extra_body": rest or None, "timeout": question.left} | ({"betas": betas} if betas else {})
        stream = messages.stream(**body)
        return self._aread(question, stream) if self.asynchronous else self._read(question, stream)

    def _body(self, ask: Ask) -> dict[str, Any]:
        """The request of a question."""
        if (ask.shared or ask.native) and ask.request is not None:
            body = native(ask.request, ask.prompt) if ask.native else forked(ask.request, ask.prompt)
        else:
            body = {"messages": [{"role": "user", "content": ask.prompt}]}
            if ask.schema is not None:
                body["output_config"] = {"format": {"type": "json_schema", "schema": dict(ask.schema)}}
        body["model"] = body.get("model") or self.named(ask)
        body["max_tokens"] = self._most(body["model"], body.get("max_tokens"))
        return body

    def _most(self, model: str, told: int | None) -> int:
        """What of `max_tokens` that model can write; of an unknown one, what its own request asked for (H47)."""
        known = find(model)
        if known is None:
            return told or self.max_tokens
        return min(max(told or 0, self.max_tokens), known.max_output)

    def _read(self, question: Question, stream: Any) -> Answer:
        with stream as events:
            for event in events:
                question.came(_text(event))
            return _answered(question.ask, events.get_final_message())

    async def _aread(self, question: Question, stream: Any) -> Answer:
        async with stream as events:
            async for event in events:
                question.came(_text(event))
            return _answered(question.ask, await events.get_final_message())


def _text(event: Any) -> str:
    """The piece of answer in an event of the SDK's stream."""
    return str(event.text) if event.type == "text" else ""


def _answered(ask: Ask, message: Any) -> Answer:
    """The answer in a whole message; raises `AskFailed` where it is none (H75)."""
    usage, said = _spent(message), message.stop_reason
    if ask.native:
        block = next((one for one in message.content if one.type == "compaction" and one.content), None)
        if said == "compaction" and block is not None:
            return Answer(block.content, usage, block.model_dump(mode="json", exclude_none=True))
    elif said == "end_turn":
        return Answer("".join(one.text for one in message.content if one.type == "text"), usage)
    none = "the provider wrote no summary" if ask.native and said else "the answer did not come to its end"
    failed = AskFailed(f"{CUT.get(said, none)} (stop_reason {said})")
    failed.usage = usage
    if said == "model_context_window_exceeded":
        failed.overflow = Overflow(0.0, 0.0)
    raise failed


def _spent(message: Any) -> Usage:
    """All that was billed: of several iterations each, for the sums beside them leave summaries out."""
    steps: list[Mapping[str, Any]] = message.usage.to_dict().get("iterations") or [message.usage.to_dict()]
    names = ("cache_read_input_tokens", "cache_creation_input_tokens", "input_tokens", "output_tokens")
    read, written, fresh, output = (float(sum(step.get(name) or 0 for step in steps)) for name in names)
    return Usage(read, written, fresh, output, message.model)
