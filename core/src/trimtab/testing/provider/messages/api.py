"""The endpoints of the Messages API, and the order in which a request is judged and answered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from trimtab.testing.provider.endpoint import Asked, Given, Refused
from trimtab.testing.provider.messages import cache_edits, compaction, edits, errors, models, rules
from trimtab.testing.provider.messages.answer import Answer, message, said, within
from trimtab.testing.provider.messages.cache import Bill, Cached, Piece, pieces, total
from trimtab.testing.provider.messages.compaction import Compactions
from trimtab.testing.provider.messages.parse import Block, Prompt, parse, same
from trimtab.testing.provider.messages.stream import frames
from trimtab.testing.provider.messages.thinking import BINDING, State, Thinking, start
from trimtab.testing.provider.script import Reply
from trimtab.testing.provider.served import Billed

if TYPE_CHECKING:
    from trimtab.testing.provider.server import FakeProvider

__all__ = ["routes"]


def routes(provider: FakeProvider) -> list[Route]:
    """The endpoints that one provider serves."""
    api = _Messages(provider)

    async def listed(asked: Asked) -> Given:
        return models.listed(asked, provider.settings)

    async def one(asked: Asked) -> Given:
        return models.one(asked, provider.settings)

    def route(path: str, name: str, handle: Any, method: str = "POST") -> Route:
        return Route(path, provider.endpoint(name, handle, errors.body), methods=[method])

    return [
        route("/v1/messages", "messages", api.create),
        route("/v1/messages/count_tokens", "count_tokens", api.count),
        route("/v1/models", "models", listed, "GET"),
        route("/v1/models/{id}", "models", one, "GET"),
    ]


@dataclass(slots=True)
class _Judged:
    """A request that keeps all rules: its units as the model is shown them, and where its conversation stands."""

    prompt: Prompt
    units: Sequence[Piece]
    base: State
    end: State
    thoughts: Sequence[str]
    dropped: Sequence[dict[str, str]]
    applied: list[dict[str, Any]] | None
    deleted: int | None
    original: int


class _Messages:
    """What one provider remembers for this API."""

    def __init__(self, provider: FakeProvider) -> None:
        self._provider = provider
        self._settings = provider.settings
        self._tokens = provider.tokens
        self._thinking = Thinking(provider.settings)
        self._compactions = Compactions(provider.settings)

    async def create(self, asked: Asked) -> Given:
        """``POST /v1/messages``."""
        prompt = parse(asked, self._settings)
        compacting = compaction.asked(prompt, self._settings)
        judged = self._judged(prompt)
        cached = Cached(prompt, judged.units, self._provider.entries, self._settings)
        room = self._room(prompt, total(judged.units))
        text, results = _last(prompt)
        warming = prompt.body["max_tokens"] == 0
        reply = Reply([]) if warming else self._provider.reply(asked, text, results, compacting=compacting)
        number = self._provider.number
        await asyncio.sleep(reply.delay)
        cached.write()
        make = self._summary if compacting else self._answer
        answer, usage, billed = make(judged, reply, cached.bill, room, number)
        if reply.stop:
            answer = Answer(answer.content, answer.tokens, reply.stop)
        body = message(prompt, answer, {**usage, **(reply.usage or {})}, number) | self._reported(judged)
        streamed = frames(body) if prompt.body.get("stream") else None
        return Given(body, body["usage"], billed, streamed, reply.cut)

    async def count(self, asked: Asked) -> Given:
        """``POST /v1/messages/count_tokens``."""
        judged = self._judged(parse(asked, self._settings))
        body: dict[str, Any] = {"input_tokens": total(judged.units)}
        if judged.applied is not None:
            body["context_management"] = {"original_input_tokens": judged.original}
        return Given(body)

    def _judged(self, prompt: Prompt) -> _Judged:
        """Check all rules and make the server's own edits; raises `Refused`."""
        rules.check(prompt, self._settings)
        base = start(prompt)
        dropped, end, thoughts = self._thinking.check(prompt, self._compactions.start(prompt, base))
        managed = prompt.body.get("context_management") is not None
        original = total(pieces(prompt, self._tokens, self._weigh)) if managed else 0
        applied = edits.apply(prompt, self._settings, self._weigh, original)
        deleted = cache_edits.apply(prompt, self._settings, self._weigh)
        units = pieces(prompt, self._tokens, self._weigh)
        return _Judged(prompt, units, base, end, thoughts, dropped, applied, deleted, original)

    def _weigh(self, block: Block) -> int:
        if block.shown is None or block.deleted or block.type == "cache_edits":
            return 0
        full = self._thinking.full(block)
        return self._tokens.value(same(block.shown)) if full is None else self._tokens.text(full)

    def _room(self, prompt: Prompt, size: int) -> int:
        """The tokens that the window leaves for the answer; raises `Refused` where the request is too large."""
        settings, asked = self._settings, prompt.body["max_tokens"]
        if asked > settings.max_output:
            allowed = f"{settings.max_output}, which is the maximum allowed number of output tokens for {prompt.model}"
            raise Refused(400, f"{asked} > {allowed}", where="max_tokens")
        if size > settings.window:
            raise Refused(400, f"prompt is too long: {size} tokens > {settings.window} maximum")
        if size + asked > settings.window and settings.overflow == "400":
            sizes = f"{size} + {asked} > {settings.window}"
            raise Refused(400, f"input length and `max_tokens` exceed context limit: {sizes}")
        return settings.window - size

    def _answer(
        self, judged: _Judged, reply: Reply, bill: Bill, room: int, number: int
    ) -> tuple[Answer, dict[str, Any], Billed]:
        parts, used, stop = within(reply, self._tokens, room, judged.prompt.body["max_tokens"])
        content = said(parts, judged.prompt, self._thinking, judged.end, judged.thoughts, number)
        deleted = {} if judged.deleted is None else {"cache_deleted_input_tokens": judged.deleted}
        usage = {**bill.usage(), **deleted, "output_tokens": used, "service_tier": "standard"}
        return Answer(content, used, stop), usage, Billed(bill.read, bill.short + bill.long, bill.fresh, used)

    def _summary(
        self, judged: _Judged, reply: Reply, bill: Bill, room: int, number: int
    ) -> tuple[Answer, dict[str, Any], Billed]:
        """A compaction block alone; without a summary nothing at all. Its cost is in the iterations."""
        _, used, stop = within(reply, self._tokens, room, judged.prompt.body["max_tokens"])
        failed = stop != "end_turn" or not reply.spoken.strip()
        block = [] if failed else [self._compactions.make(reply.spoken, judged.base, judged.end)]
        iteration = {"type": "compaction", **bill.usage(), "output_tokens": used}
        zero = {name: 0 for name, value in bill.usage().items() if isinstance(value, int)}
        usage = {**zero, "output_tokens": 0, "iterations": [iteration], "service_tier": "standard"}
        billed = Billed(bill.read, bill.short + bill.long, bill.fresh, used)
        return Answer(block, used, stop if failed else "compaction"), usage, billed

    @staticmethod
    def _reported(judged: _Judged) -> dict[str, Any]:
        """What the server did to the request, where it was asked to say so."""
        report: dict[str, Any] = {}
        if judged.applied is not None:
            report["context_management"] = {"applied_edits": judged.applied}
        if BINDING in judged.prompt.betas:
            report["input_transformations"] = list(judged.dropped)
        return report


def _last(prompt: Prompt) -> tuple[str, list[str]]:
    """The last text in the user's voice, and the texts of the results in the last message."""
    texts = (block.data["text"] for message in reversed(prompt.messages) if message.role == "user"
             for block in reversed(list(message.of("text"))))  # fmt: skip
    results = [_text(block.data.get("content")) for block in prompt.turns[-1].of("tool_result")]
    return next(texts, ""), results


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content or [] if part.get("type") == "text")
