"""Writes a made-up exchange in one wire format: what was said is drawn by `talk`, how it is spelled is said here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = [
    "IMAGE",
    "WIRES",
    "Answer",
    "AnthropicWire",
    "Call",
    "Exchange",
    "OpenAIWire",
    "ResponsesWire",
    "Result",
    "Wire",
]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = object()
"""Stands for a picture among the parts of a message or a result."""

Message = dict[str, Any]
Parts = Sequence[Any]
"""Texts, and `IMAGE`."""


@dataclass(slots=True)
class Call:
    """One tool call."""

    id: str
    name: str
    input: Mapping[str, Any]


@dataclass(slots=True)
class Answer:
    """What the model answers."""

    serial: int
    thinking: str = ""
    redacted: bool = False
    text: str = ""
    searches: bool = False
    """Whether it calls a tool that the provider runs."""
    calls: list[Call] = field(default_factory=list)
    split: bool = False
    """Whether the agent keeps it as several messages, as some do."""


@dataclass(slots=True)
class Result:
    """What one call brought; ``parts`` None: the result has no content at all."""

    call: str
    parts: Parts | None
    error: bool = False


@dataclass(slots=True)
class Exchange:
    """An answer and what the agent says next: results, and behind them what the user says or the agent instructs."""

    answer: Answer
    results: list[Result]
    said: list[tuple[str, Parts]]
    """(role, parts): ``user``, ``system``, or ``with`` for words that go with the results."""
    apart: bool = False
    """Whether the results come in two messages."""
    flaw: int | None = None
    """Which rule is broken; None: none."""


class Wire(Protocol):
    """One format."""

    @property
    def system(self) -> str | None:
        """The system text beside the messages, where the format has it there."""

    def said(self, role: str, parts: Parts) -> Message:
        """A message of the user or of the agent (``system``)."""

    def exchange(self, exchange: Exchange) -> list[Message]:
        """The messages of one exchange."""

    def call(self, call: Call) -> dict[str, Any]:
        """A call as the model makes it."""

    def usage(self, read: float, written: float, fresh: float) -> dict[str, Any]:
        """A usage as the provider reports it, in tokens."""

    def marked(self, messages: Sequence[Any]) -> list[Any]:
        """The same history as a client sends it, with the format's cache markers."""

    def rewritten(self, message: Message, parts: Parts) -> None:
        """Change what a user message says, in place; its results stay."""

    def role(self, message: Message) -> str:
        """Whose a message is: ``assistant``, ``system``, ``user``, or ``tool`` where results are messages."""


def _texts(parts: Parts) -> list[Any]:
    return [{"type": "text", "text": part} for part in parts if part is not IMAGE]


class AnthropicWire:
    """Anthropic Messages."""

    system = "be good"

    def parts(self, parts: Parts) -> list[Any]:
        """Content blocks."""
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
        return [dict(image) if part is IMAGE else {"type": "text", "text": part} for part in parts]

    def said(self, role: str, parts: Parts) -> Message:
        """A single text is a string."""
        alone = len(parts) == 1 and parts[0] is not IMAGE
        return {"role": role, "content": parts[0] if alone else self.parts(parts)}

    def answer(self, answer: Answer) -> list[Any]:
        """The blocks of an answer, thinking first."""
        content: list[Any] = []
        if answer.thinking:
            content.append({"type": "thinking", "thinking": answer.thinking, "signature": f"sig{answer.serial}"})
        if answer.redacted:
            content.append({"type": "redacted_thinking", "data": f"data{answer.serial}"})
        content += self.parts([answer.text] if answer.text else [])
        if answer.searches:
            id = f"srvtoolu_{answer.serial}"
            content.append({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "x"}})
            content.append({"type": "web_search_tool_result", "tool_use_id": id, "content": []})
        for call in answer.calls:
            content.append(self.call(call))
        return content

    def call(self, call: Call) -> dict[str, Any]:
        """A block."""
        return {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.input)}

    def result(self, result: Result) -> dict[str, Any]:
        """A block; a single text is a string."""
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call}
        if result.parts is not None:
            alone = len(result.parts) == 1 and result.parts[0] is not IMAGE
            block["content"] = result.parts[0] if alone else self.parts(result.parts)
        return {**block, "is_error": True} if result.error else block

    def exchange(self, exchange: Exchange) -> list[Message]:
        """Results come first in the user message that follows."""
        content, results = self.answer(exchange.answer), [self.result(result) for result in exchange.results]
        if exchange.flaw is not None:
            self.spoil(exchange.flaw, exchange.answer.serial, content, results)
        cut = 1 if exchange.answer.split and len(content) > 1 else 0
        messages = [{"role": "assistant", "content": part} for part in (content[:cut], content[cut:]) if part]
        said = list(exchange.said)
        if results and said and said[0][0] == "with":
            results += self.parts(said.pop(0)[1])
        cut = 1 if exchange.apart and len(results) > 1 else 0
        messages += [{"role": "user", "content": part} for part in (results[:cut], results[cut:]) if part]
        return [*messages, *(self.said("user" if role == "with" else role, parts) for role, parts in said)]

    def spoil(self, flaw: int, serial: int, content: list[Any], results: list[Any]) -> None:
        """Break a rule: lost, doubled, foreign or late results, blank text, half characters, half server calls."""
        match flaw % 7:
            case 0 if results:
                del results[flaw % len(results) :]
            case 1 if results:
                results.append({**results[0]})
            case 2:
                results.append(self.result(Result("toolu_nowhere", ["lost"])))
            case 3:
                results.insert(0, {"type": "text", "text": "too early"})
            case 4:
                results.append({"type": "text", "text": ["", " \n", "half \ud83d"][flaw % 3]})
            case 5:
                content.insert(0, {"type": "text", "text": ["", "\n", "half \udc00"][flaw % 3]})
            case _:
                call = {"type": "server_tool_use", "id": f"srv_{serial}", "name": "web_search", "input": {}}
                result = {"type": "web_search_tool_result", "tool_use_id": f"srv_{serial}", "content": []}
                # beside client calls a server call may wait for its result, so there its lack is no flaw yet
                content.append(result if results or flaw % 2 else call)

    def usage(self, read: float, written: float, fresh: float) -> dict[str, Any]:
        """The three input fields."""
        return {"input_tokens": fresh, "cache_read_input_tokens": read, "cache_creation_input_tokens": written}

    def marked(self, messages: Sequence[Any]) -> list[Any]:
        """A cache marker on the last block of the last message."""
        copy: list[Any] = json.loads(json.dumps(list(messages)))
        if isinstance(copy[-1]["content"], str):
            copy[-1]["content"] = self.parts([copy[-1]["content"]])
        copy[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
        return copy

    def rewritten(self, message: Message, parts: Parts) -> None:
        """Results stay, in front."""
        said = [] if isinstance(message["content"], str) else message["content"]
        message["content"] = [*(block for block in said if block["type"] == "tool_result"), *self.parts(parts)]

    def role(self, message: Message) -> str:
        """As it says."""
        return str(message["role"])


class OpenAIWire:
    """OpenAI chat completions, with the ``reasoning_content`` of compatible servers."""

    system = None

    def said(self, role: str, parts: Parts) -> Message:
        """A single text is a string."""
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
        if len(parts) == 1 and parts[0] is not IMAGE:
            return {"role": role, "content": parts[0]}
        return {
            "role": role,
            "content": [dict(image) if part is IMAGE else {"type": "text", "text": part} for part in parts],
        }

    def answer(self, answer: Answer) -> Message:
        """One message; calls carry their arguments as JSON text."""
        message: Message = {"role": "assistant", "content": answer.text or None}
        if answer.thinking:
            message["reasoning_content"] = answer.thinking
        if answer.calls:
            message["tool_calls"] = [self.call(call) for call in answer.calls]
        elif not answer.text:
            message["content"] = "Done."
        return message

    def call(self, call: Call) -> dict[str, Any]:
        """Its arguments are JSON in a string."""
        function = {"name": call.name, "arguments": json.dumps(dict(call.input))}
        return {"id": call.id, "type": "function", "function": function}

    def result(self, result: Result) -> Message:
        """A message of its own; it holds text only, and has no mark for errors."""
        parts = _texts(result.parts or ())
        content: Any = parts if len(parts) > 1 else parts[0]["text"] if parts else ""
        return {
            "role": "tool",
            "tool_call_id": result.call,
            "content": f"Error: {content}" if result.error else content,
        }

    def exchange(self, exchange: Exchange) -> list[Message]:
        """One message for each result; pictures among them follow in a user message."""
        answer, results = self.answer(exchange.answer), [self.result(result) for result in exchange.results]
        if exchange.flaw is not None:
            self.spoil(exchange.flaw, answer, results)
        said = [("user" if role == "with" else role, parts) for role, parts in exchange.said]
        pictures = [IMAGE for result in exchange.results for part in result.parts or () if part is IMAGE]
        if pictures:
            said.insert(0, ("user", ["The picture:", *pictures]))
        return [answer, *results, *(self.said(role, parts) for role, parts in said)]

    def spoil(self, flaw: int, answer: Message, results: list[Message]) -> None:
        """Break a rule: lost, doubled, foreign, late or early results, half characters."""
        match flaw % 6:
            case 0 if results:
                del results[flaw % len(results) :]
            case 1 if results:
                results.append({**results[0]})
            case 2:
                results.append(self.result(Result("call_nowhere", ["lost"])))
            case 3 if results:
                results.insert(0, self.said("user", ["too early"]))
            case 4:
                results.append(self.said("user", ["half \ud83d"]))
            case _:
                answer["content"] = "half \udc00"

    def usage(self, read: float, written: float, fresh: float) -> dict[str, Any]:
        """What was read from the cache is a part of the prompt."""
        total = read + written + fresh
        return {"prompt_tokens": total, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": read}}

    def marked(self, messages: Sequence[Any]) -> list[Any]:
        """The format has none: an equal copy."""
        copy: list[Any] = json.loads(json.dumps(list(messages)))
        return copy

    def rewritten(self, message: Message, parts: Parts) -> None:
        """Other words."""
        message["content"] = self.said("user", parts)["content"]

    def role(self, message: Message) -> str:
        """As it says."""
        return str(message["role"])


class ResponsesWire:
    """OpenAI Responses: an answer is a row of items, each result an item."""

    system = "be good"

    def parts(self, parts: Parts) -> list[Any]:
        """Content parts of a user or of an output."""
        image = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{PNG}"}
        return [dict(image) if part is IMAGE else {"type": "input_text", "text": part} for part in parts]

    def said(self, role: str, parts: Parts) -> Message:
        """A single text is a string."""
        alone = len(parts) == 1 and parts[0] is not IMAGE
        return {"role": role, "content": parts[0] if alone else self.parts(parts)}

    def answer(self, answer: Answer) -> list[Message]:
        """Reasoning first, encrypted, with a summary where there are words; then what it led to, each with its id."""
        n = answer.serial
        items: list[Message] = []
        if answer.thinking:
            sealed = f"gAAA{n}-{'x' * (1_000 + 10 * len(answer.thinking))}"
            summary = [] if answer.redacted else [{"type": "summary_text", "text": answer.thinking}]
            items.append({"type": "reasoning", "id": f"rs_{n}", "summary": summary, "encrypted_content": sealed})
        if answer.searches:
            action = {"type": "search", "query": "x"}
            items.append({"type": "web_search_call", "id": f"ws_{n}", "status": "completed", "action": action})
        if answer.text or not (answer.calls or answer.searches):
            text = {"type": "output_text", "text": answer.text or "Done.", "annotations": []}
            message = {"type": "message", "id": f"msg_{n}", "status": "completed", "role": "assistant"}
            items.append({**message, "content": [text]})
        return items + [self.call(call) for call in answer.calls]

    def call(self, call: Call) -> dict[str, Any]:
        """An item; its arguments are JSON in a string."""
        named = {"id": f"fc_{call.id}", "call_id": call.id, "name": call.name, "status": "completed"}
        return {"type": "function_call", **named, "arguments": json.dumps(dict(call.input))}

    def result(self, result: Result) -> Message:
        """An item; a single text is a string. It has no mark for errors."""
        parts = list(result.parts or ())
        alone = len(parts) < 2 and IMAGE not in parts
        output: Any = "".join(parts) if alone else self.parts(parts)
        failed = f"Error: {output}" if result.error and alone else output
        return {"type": "function_call_output", "call_id": result.call, "output": failed}

    def exchange(self, exchange: Exchange) -> list[Message]:
        """Items in the order in which the model and the agent made them."""
        items, results = self.answer(exchange.answer), [self.result(result) for result in exchange.results]
        if exchange.flaw is not None:
            self.spoil(exchange.flaw, items, results)
        said = [("user" if role == "with" else role, parts) for role, parts in exchange.said]
        return [*items, *results, *(self.said(role, parts) for role, parts in said)]

    def spoil(self, flaw: int, items: list[Message], results: list[Message]) -> None:
        """Break a rule: lost, doubled, foreign or early results, half characters, reasoning that led to nothing."""
        match flaw % 7:
            case 0 if results:
                del results[flaw % len(results) :]
            case 1 if results:
                results.append({**results[0]})
            case 2:
                results.append(self.result(Result("call_nowhere", ["lost"])))
            case 3 if results:
                results.insert(0, self.said("user", ["too early"]))
            case 4:
                results.append(self.said("user", ["half \ud83d"]))
            case 5:
                items.insert(0, {"role": "assistant", "content": "half \udc00"})
            case _:
                items.append({"type": "reasoning", "id": f"rs_{flaw}", "summary": [], "encrypted_content": "gAAA"})

    def usage(self, read: float, written: float, fresh: float) -> dict[str, Any]:
        """What was read from the cache is a part of the input."""
        total = read + written + fresh
        return {"input_tokens": total, "output_tokens": 9, "input_tokens_details": {"cached_tokens": read}}

    def marked(self, messages: Sequence[Any]) -> list[Any]:
        """A breakpoint on the last parts that the user said; no item has a status, as in a reloaded file."""
        copy: list[Any] = json.loads(json.dumps(list(messages)))
        for item in copy:
            item.pop("status", None)
        parts = [item["content"] for item in copy if isinstance(item.get("content"), list) and item["role"] == "user"]
        if parts:
            parts[-1][-1]["prompt_cache_breakpoint"] = {"mode": "explicit"}
        return copy

    def rewritten(self, message: Message, parts: Parts) -> None:
        """Other words."""
        message["content"] = self.said("user", parts)["content"]

    def role(self, message: Message) -> str:
        """By the type where an item has no role."""
        kind = str(message.get("type", "message"))
        return str(message["role"]) if kind == "message" else "tool" if kind.endswith("_output") else "assistant"


WIRES: dict[str, Wire] = {"anthropic": AnthropicWire(), "openai": OpenAIWire(), "responses": ResponsesWire()}
"""By the dialect's name."""
