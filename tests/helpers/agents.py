"""Agents that use tools for hundreds of turns against the fake provider, with each client, with and without trimtab."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anthropic
import openai
from trimtab.testing.provider import Call, Text, Think, Use

__all__ = ["AGENTS", "TOOLS", "Coder", "anthropic_agent", "chat_agent", "responses_agent", "work"]

SOURCES = sorted((Path(__file__).resolve().parents[2] / "core" / "src" / "trimtab").rglob("*.py"))
"""What the agents read and search: files of this repository."""

MOST = 6_000
"""Characters of a result."""

TOOLS = {"Read": "file_path", "Grep": "pattern", "Bash": "command"}
"""The tools, each with its one argument."""


def work(name: str, argument: str) -> str:
    """What a tool gives: a file, the lines that match, or the sizes of files."""
    if name == "Read":
        path = next((one for one in SOURCES if one.name == argument), None)
        return path.read_text(encoding="utf-8")[:MOST] if path else f"no such file: {argument}"
    if name == "Grep":
        found = (
            f"{path.name}:{n}:{line}"
            for path in SOURCES
            for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if re.search(argument, line)
        )
        return "\n".join(found)[:MOST] or "no matches"
    return "\n".join(f"-rw-r--r-- 1 dev dev {path.stat().st_size:6} {path.name}" for path in SOURCES)[:MOST]


class Coder:
    """A script for the fake provider: each turn some calls, now and then parallel ones, then an answer.

    What it does depends on the number of the request alone, so it is the same whatever the request looks like.
    """

    def __init__(self, *, thinks: bool = False) -> None:
        self.thinks = thinks
        self.left: list[list[Any]] = []
        self.turn = 0

    def __call__(self, call: Call) -> list[Any]:
        """The next parts."""
        if not self.left:
            self.turn += 1
            self.left = self._plan(random.Random(self.turn))
        return self.left.pop(0)

    def _plan(self, rng: random.Random) -> list[list[Any]]:
        steps: list[list[Any]] = []
        for _ in range(rng.choice((1, 1, 2, 3))):
            count = 1 if rng.random() < 0.8 else rng.randint(2, 4)
            steps.append([Text(f"Looking into it ({self.turn}).")] if rng.random() < 0.3 else [])
            steps[-1] += [self._use(rng) for _ in range(count)]
        steps.append([Text(f"Turn {self.turn} is done: {rng.choice(SOURCES).name} needs no change. " * 3)])
        if self.thinks:
            steps = [[Think(f"Thought {self.turn}.{n}: " + "so it goes, " * 20), *step] for n, step in enumerate(steps)]
        return steps

    def _use(self, rng: random.Random) -> Use:
        name = rng.choice(("Read", "Read", "Grep", "Bash"))
        given = {
            "Read": rng.choice(SOURCES).name,
            "Grep": rng.choice(("def _", "class ", "raise ", "yield ", "import ")),
            "Bash": "ls -l",
        }
        return Use(name, {TOOLS[name]: given[name]})


SYSTEM = "You are a careful engineer. Never push to main."


def anthropic_agent(
    client: anthropic.Anthropic,
    said: Sequence[str],
    *,
    model: str = "claude-opus-5-5",
    stream: bool = False,
    **more: Any,
) -> list[Any]:
    """Anthropic Messages; returns all messages."""
    tools = [
        {"name": name, "description": name, "input_schema": {"type": "object", "properties": {key: {"type": "string"}}}}
        for name, key in TOOLS.items()
    ]
    arguments: Any = {"model": model, "max_tokens": 2_000, "system": SYSTEM, "tools": tools, **more}
    messages: list[Any] = []
    for words in said:
        messages.append({"role": "user", "content": words})
        while True:
            if stream:
                with client.messages.stream(messages=messages, **arguments) as events:
                    answer: Any = events.get_final_message()
            else:
                answer = client.messages.create(messages=messages, **arguments)
            messages.append({"role": "assistant", "content": [block.to_dict() for block in answer.content]})
            uses = [block for block in answer.content if block.type == "tool_use"]
            if not uses:
                break
            results = [
                {"type": "tool_result", "tool_use_id": use.id, "content": work(use.name, *use.input.values())}
                for use in uses
            ]
            messages.append({"role": "user", "content": results})
    return messages


def chat_agent(client: openai.OpenAI, said: Sequence[str], *, model: str = "gpt-6.1-sol", **more: Any) -> list[Any]:
    """OpenAI Chat Completions; returns all messages."""
    tools: Any = [{"type": "function", "function": one} for one in _functions()]
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]
    for words in said:
        messages.append({"role": "user", "content": words})
        while True:
            answer = client.chat.completions.create(model=model, messages=messages, tools=tools, **more)
            message = answer.choices[0].message
            messages.append(message.to_dict())
            for use in message.tool_calls or ():
                given = json.loads(use.function.arguments)  # type: ignore[union-attr]
                result = work(use.function.name, *given.values())  # type: ignore[union-attr]
                messages.append({"role": "tool", "tool_call_id": use.id, "content": result})
            if not message.tool_calls:
                break
    return messages


def responses_agent(
    client: openai.OpenAI, said: Sequence[str], *, model: str = "gpt-6.1-sol", **more: Any
) -> list[Any]:
    """OpenAI Responses with the full input in every request; returns all items.

    They are handed over beside ``input``, for the SDK takes long to look through that.
    """
    tools: Any = [{"type": "function", **one} for one in _functions()]
    arguments: Any = {
        "model": model,
        "instructions": SYSTEM,
        "tools": tools,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    items: list[Any] = []
    for words in said:
        items.append({"role": "user", "content": words})
        while True:
            answer = client.responses.create(input=[], extra_body={"input": items}, **arguments, **more)
            items += [item.to_dict() for item in answer.output]
            calls = [item for item in answer.output if item.type == "function_call"]
            for call in calls:
                result = work(call.name, *json.loads(call.arguments).values())
                items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})
            if not calls:
                break
    return items


def _functions() -> list[dict[str, Any]]:
    return [
        {"name": name, "description": name, "parameters": {"type": "object", "properties": {key: {"type": "string"}}}}
        for name, key in TOOLS.items()
    ]


AGENTS: dict[str, Callable[..., list[Any]]] = {
    "Anthropic Messages": anthropic_agent,
    "OpenAI Chat Completions": chat_agent,
    "OpenAI Responses": responses_agent,
}
