"""The kernel over a format whose system text is a message and whose results are messages of their own."""

from __future__ import annotations

import json
from typing import Any

import pytest
from play import LONG
from stages import Do, DropOld, Greet
from trimtab import Drop, Fold, Insert, Replace, Request, Session, load
from trimtab.dialects.openai import OpenAIChat
from trimtab.storage.memory import MemoryBlobs, MemoryLedger

RULE = Greet.Options().text
SYSTEM = {"role": "system", "content": "You are careful."}


def called(n: int, *, calls: int = 1) -> list[dict[str, Any]]:
    """A round of calls and their results."""
    entries = [
        {
            "id": f"c{n}.{k}",
            "type": "function",
            "function": {"name": "read_file", "arguments": json.dumps({"path": f"/src/{n}.py", "why": LONG})},
        }
        for k in range(calls)
    ]
    results = [{"role": "tool", "tool_call_id": entry["id"], "content": f"{entry['id']}: {LONG}"} for entry in entries]
    return [{"role": "assistant", "content": None, "tool_calls": entries}, *results]


def talk(rounds: int, calls: int = 1) -> list[dict[str, Any]]:
    """A system message, a question, and rounds."""
    messages = [SYSTEM, {"role": "user", "content": "Mend the parser."}]
    for n in range(rounds):
        messages += called(n, calls=calls)
    return messages


class Chat:
    """One agent's session in this format."""

    def __init__(self, *plugins: Any, **overrides: Any) -> None:
        self.now = 1_000_000.0
        provider = {"kind": "openai", "model": "gpt-6-sol", "window": 200_000, "cache": {"ttl": "5m", "minimum": 0}}
        profile = load(
            "minimal",
            overrides={"counter": "estimate", "provider": provider, **overrides},
            plugins=plugins,
            env={},
            cwd="/",
        )
        stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        self.open = lambda: Session.open("s", profile, clock=lambda: self.now, **stores)
        self.session = self.open()

    def send(self, messages: list[Any], later: float = 5.0) -> Request:
        """Time passes, the next request is prepared and must be valid."""
        self.now += later
        request = self.session.prepare(messages)
        assert [found for found in OpenAIChat().validate(request.messages) if found.certain] == []
        assert request.report.failures == []
        return request

    def explain(self) -> list[dict[str, Any]]:
        """All recorded edits."""
        return self.session.explain()


@pytest.mark.parametrize("lead", [[SYSTEM], [SYSTEM, {"role": "developer", "content": "Be brief."}], []])
def test_system_text_becomes_a_message_behind_the_system_messages(lead: list[Any]) -> None:
    """It stands there in every request, is none of the caller's messages, and is known when it is handed back."""
    chat = Chat(Greet, hooks=[{"greet": {"anchor": "system", "text": "House rule."}}])
    messages = [*lead, *talk(0)[1:]]
    first = chat.send(messages)
    assert first.messages == [*lead, {"role": "system", "content": "House rule."}, *messages[len(lead) :]]
    more = [*messages, *called(7)]
    second = chat.send(more)
    assert second.messages == [*first.messages, *called(7)]
    assert chat.send([*second.messages]).messages == second.messages
    chat.session = chat.open()
    assert chat.send(more).messages == second.messages


def test_a_fold_behind_the_system_message_is_a_boundary() -> None:
    """What starts where the conversation proper starts may be summarised, and inserts go behind it."""
    chat = Chat(Do, Greet, stages=[{"do": {"when": "cold"}}], hooks=[{"greet": {"anchor": "nowhere"}}])
    Do.now = None
    chat.send(talk(6))
    Do.now = lambda view: [Fold(view.messages[1:-4], "Summary.")]
    request = chat.send(talk(6), later=3_600)
    assert [one.stage for one in request.report.decisions if one.boundary] == ["do"]
    assert [message["content"] for message in request.messages[:3]] == [SYSTEM["content"], "Summary.", RULE]
    assert request.messages[3:] == talk(6)[-4:]


def test_a_parallel_batch_goes_whole() -> None:
    """The results of one answer are messages of their own, and still one round."""
    chat = Chat(DropOld, stages=[{"drop-old": {"when": "cold", "keep": 1}}])
    chat.send(talk(3, calls=3))
    request = chat.send(talk(3, calls=3), later=3_600)
    assert request.messages == [*talk(0), *called(2, calls=3)]


def test_results_and_arguments_are_replaced() -> None:
    """A result keeps its id; a call keeps everything but its arguments, which stay a JSON string."""
    chat = Chat(Do, stages=[{"do": {"when": "cold"}}])
    short = json.dumps({"path": "/src/0.py", "why": "-"})
    Do.now = None
    chat.send(talk(3))
    Do.now = lambda view: [
        Replace(view.results[0], "[cleared]"),
        Replace(view.messages[2].message.blocks[0], short),
        Replace(view.messages[4].message.blocks[0], '{"path": 1}'),
        Drop(view.messages[:1]),
        Fold(view.messages[:5], "x"),
        Insert("tail", "Go on."),
    ]
    request = chat.send(talk(3), later=3_600)
    call = talk(3)[2]["tool_calls"][0]
    assert request.messages[2]["tool_calls"] == [{**call, "function": {**call["function"], "arguments": short}}]
    assert request.messages[3] == {"role": "tool", "tool_call_id": "c0.0", "content": "[cleared]"}
    assert request.messages[4:-1] == talk(3)[4:]
    assert request.messages[-1] == {"role": "user", "content": "Go on."}
    assert {row["kind"] for row in chat.explain()} == {"replace", "insert"}
