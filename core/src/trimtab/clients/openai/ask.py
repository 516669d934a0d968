"""The asker with an OpenAI client, for OpenAI itself and every server that speaks Chat Completions.

A question with a text of its own is one user message. One that is ``shared`` goes on behind the session's request, in
the API of that request: Responses where its messages are items of that API (`is_responses`), else Chat Completions. All
are streamed, for progress.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from trimtab.ask import Answer, Ask
from trimtab.clients.asking import LIMIT, TIMEOUT, Asking, Progress, Question
from trimtab.clients.openai.hear import Chat, Responses
from trimtab.clients.sessions import merged
from trimtab.dialects.wires import field_of, fields_or_none
from trimtab.errors import AskFailed, Overflow
from trimtab.models import find
from trimtab.request import Request

if TYPE_CHECKING:
    import openai

__all__ = ["MAX_TOKENS", "OpenAIAsker", "is_responses"]

MAX_TOKENS = 16_000
"""Tokens that an answer behind a request may have at least, thinking included, whatever that allows itself: chosen, as
for Anthropic."""
BOUNDS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
"""Parameters that bound an answer."""

RESPONSES = {"include", "input", "instructions", "max_output_tokens", "reasoning", "text", "truncation"}
"""Parameters that only Responses has (the SDK's, 3.57)."""
PARTS = {"input_file", "input_image", "input_text", "output_text"}
"""Types of content parts that only Responses has."""
OURS = {"audio", "background", "logprobs", "messages", "modalities", "n", "prediction", "stop", "stream"}
OURS |= {"stream_options", "top_logprobs", "truncation"}
"""Parameters that a question does not take over; none of them is part of what is cached."""


class OpenAIAsker(Asking):
    """Answers with ``client``, an `openai.OpenAI` or `openai.AsyncOpenAI` (then for `aprepare`), whatever its base URL.

    A question of its own goes to the profile's ``ask.model``, else to ``model``, else to the session's. It is asked
    with ``parameters``: further arguments of the call, as ``max_completion_tokens`` or ``reasoning_effort``; unless
    they bound the answer the server does. A shared one goes to the model of the request that it follows, with that
    one's parameters. ``schemas``: the server takes ``response_format: json_schema``; else a schema that an answer
    should follow stands in the prompt only. The others: see `Asking`.

    Raises `AskFailed`: for an error of the provider (the cause), no answer in time, an answer that is cut off, a
    refusal, a tool call.
    """

    def __init__(
        self,
        client: openai.OpenAI | openai.AsyncOpenAI,
        model: str | None = None,
        *,
        parameters: Mapping[str, Any] | None = None,
        schemas: bool = False,
        timeout: float = TIMEOUT,
        limit: int = LIMIT,
        progress: Callable[[Progress], object] | None = None,
    ) -> None:
        asynchronous = hasattr(client, "__aenter__")
        super().__init__(model, asynchronous=asynchronous, timeout=timeout, limit=limit, progress=progress)
        self.client: Any = client
        self.parameters = dict(parameters or {})
        self.schemas = schemas

    def answer(self, question: Question) -> Any:
        """The `Answer`, or a coroutine of it."""
        body = self._body(question.ask)
        ear: Chat | Responses = Responses() if "input" in body else Chat()
        body |= {"stream": True, "timeout": question.left}
        create = self.client.responses.create if "input" in body else self.client.chat.completions.create
        known = inspect.signature(create).parameters  # what the SDK does not know, only its servers do
        if "extra_body" in known and (rest := {name: body.pop(name) for name in list(body) if name not in known}):
            body["extra_body"] = {**fields_or_none(body.get("extra_body")), **rest}
        return (
            self._aread(question, ear, create, body) if self.asynchronous else self._read(question, ear, create, body)
        )

    def _body(self, ask: Ask) -> dict[str, Any]:
        """The request of a question."""
        if ask.native:
            raise AskFailed("this API has no summary of the provider's own")
        said = {"role": "user", "content": ask.prompt}
        if ask.shared and ask.request is not None:
            body = _forked(ask.request, said)
            return {**body, "model": body.get("model") or self.named(ask)}
        body = {**self.parameters, "model": self.named(ask), "messages": [said]}
        if ask.schema is not None and self.schemas:
            form = {"name": ask.purpose, "schema": dict(ask.schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return {**body, "stream_options": {"include_usage": True}}

    @staticmethod
    def _read(question: Question, ear: Chat | Responses, create: Any, body: dict[str, Any]) -> Answer:
        with create(**body) as events:
            for event in events:
                question.came(ear.hear(event))
        return _answered(ear)

    @staticmethod
    async def _aread(question: Question, ear: Chat | Responses, create: Any, body: dict[str, Any]) -> Answer:
        async with await create(**body) as events:
            async for event in events:
                question.came(ear.hear(event))
        return _answered(ear)


def _answered(ear: Chat | Responses) -> Answer:
    """The answer; a failure tells what it took all the same."""
    try:
        return ear.answer()
    except AskFailed as failed:
        failed.usage = ear.usage
        raise


def is_responses(request: Request) -> bool:
    """Whether a request is one of Responses: by the ``type`` of items or parts, its system text, or its parameters.

    A message of Chat Completions has no type, and its system text is a message.
    """
    if request.system or not RESPONSES.isdisjoint(request.parameters):
        return True
    contents = (field_of(message, "content") for message in request.messages)
    parts = (part for content in contents if isinstance(content, list | tuple) for part in content)
    typed = any(field_of(message, "type") for message in request.messages)
    return typed or any(field_of(part, "type") in PARTS for part in parts)


def _forked(request: Request, said: Mapping[str, Any]) -> dict[str, Any]:
    """The body of the same request with a further message; raises `AskFailed`.

    A forced call of a tool is lifted, for no cache knows it. A forced form of the answer is a part of what is cached:
    behind it there is no text to be had.
    """
    body = {name: value for name, value in merged(request.parameters, request.extra).items() if name not in OURS}
    form = body.get("response_format") or fields_or_none(body.get("text")).get("format")
    if fields_or_none(form).get("type", "text") != "text":
        failed = AskFailed("the request forces the form of its answer: ask about it as a text")
        failed.overflow = Overflow(0.0, 0.0)  # that is what a stage does then
        raise failed
    body |= {"tools": request.tools} if request.tools else {}
    for name in ("function_call", "tool_choice"):
        if _forced(body.get(name)):
            body[name] = "none"
    if known := find(str(body.get("model"))):
        least = min(MAX_TOKENS, known.max_output)
        body |= {name: max(least, body[name]) for name in BOUNDS if isinstance(body.get(name), int)}
    messages = [*request.messages, said]
    if is_responses(request):
        return {**body, "input": messages, **({"instructions": request.system} if request.system else {})}
    return {**body, "messages": messages, "stream_options": {"include_usage": True}}


def _forced(choice: Any) -> bool:
    """Whether this choice of tools leaves the model none."""
    fields = fields_or_none(choice)
    if fields.get("type") == "allowed_tools":
        choice = fields.get("mode") or fields_or_none(fields.get("allowed_tools")).get("mode")
        fields = {}
    return choice == "required" or bool(fields)
