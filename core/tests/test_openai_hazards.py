"""Known faults of compaction where the chat format has them: pairs, content safety, resume (docs/hazards.md)."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from stages import Budget, Do
from trimtab import Drop, Fold, Request, Session, Stage, load
from trimtab.dialects.openai import validate
from trimtab.storage.memory import MemoryBlobs, MemoryLedger

LONG = "The same old line of the same old file. " * 60
SYSTEM = {"role": "system", "content": "Be brief."}


def user(content: Any) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": content}


def says(content: Any, *ids: str, **more: Any) -> dict[str, Any]:
    """An answer, with a call under each id."""
    function = {"name": "bash", "arguments": '{"command": "make"}'}
    calls = [{"id": id, "type": "function", "function": function} for id in ids]
    return {"role": "assistant", "content": content, **({"tool_calls": calls} if ids else {}), **more}


def result(id: str, content: Any = None) -> dict[str, Any]:
    """A result."""
    return {"role": "tool", "tool_call_id": id, "content": f"{id}: {LONG}" if content is None else content}


def rounds(count: int) -> list[dict[str, Any]]:
    """So many rounds of one call."""
    return [one for n in range(count) for one in (says(None, f"n{n}"), result(f"n{n}"))]


class Chat:
    """One session of the chat format, its clock and its stores."""

    def __init__(self, *stages: type[Stage], **options: Any) -> None:
        self.now = 1_000.0
        self.stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        self.stages, self.options = stages, options
        self.session = self.open()

    def open(self) -> Session:
        """As a new process would."""
        provider = {"kind": "openai", "window": 200_000, "prefix_bound": False, "cache": {"ttl": "5m", "minimum": 0}}
        listed = [{stage.name: self.options} for stage in self.stages]
        overrides = {"counter": "estimate", "provider": provider, "stages": listed, "hooks": []}
        profile = load("minimal", overrides=overrides, plugins=self.stages, env={}, cwd="/")
        self.session = Session.open("s", profile, clock=lambda: self.now, **self.stores)
        return self.session

    def send(self, messages: list[Any], later: float = 5.0) -> Request:
        """The next request; it must be valid."""
        self.now += later
        request = self.session.prepare(messages)
        assert request.report.failures == []
        assert [one for one in validate(request.messages) if one.certain] == []
        return request


def every_cut(messages: list[Any]) -> dict[tuple[str, int, int], bool]:
    """All runs, folded and dropped, each in its own session: every request is valid; whether the cut was made."""
    done = {}
    for start, end in itertools.combinations(range(len(messages) + 1), 2):
        for kind in (Fold, Drop):
            run = slice(start, end)
            Do.now = lambda view, run=run, kind=kind: [
                Fold(view.messages[run], "Done.") if kind is Fold else Drop(view.messages[run])
            ]
            request = Chat(Do, when="cold").session.compact(messages)
            assert request.report.failures == []
            assert [one for one in validate(request.messages) if one.certain] == []
            done[kind.__name__, start, end] = len(request.messages) < len(messages)
    return done


def test_H01_a_run_of_results_with_mixed_ids() -> None:
    """Results are messages of their own here: none goes without its call, nor stays without it."""
    done = every_cut([SYSTEM, user("go"), says(None, "a", "b"), result("a"), result("b"), says("so"), *rounds(1)])
    assert not done["Fold", 1, 4]
    assert not done["Drop", 2, 4]
    assert done["Fold", 1, 5]
    assert done["Fold", 2, 5]


def test_H02_a_message_between_call_and_result() -> None:
    """It goes behind the result, and no cut parts the two."""
    messages = [SYSTEM, user("go"), says(None, "a"), user("hurry up"), result("a"), says("so"), user("on"), *rounds(1)]
    sent = Chat().send(messages).messages
    assert [one["role"] for one in sent[2:5]] == ["assistant", "tool", "user"]
    assert sent[4] == user("hurry up")
    done = every_cut(messages)
    assert not done["Fold", 2, 4]
    assert done["Fold", 2, 5]


def folded(text: str, keep: int) -> Any:
    """A summary of all but the system's message and the last ``keep``."""
    return lambda view: [Fold(view.messages[1:-keep], text)]


def test_H03_a_second_boundary_over_a_kept_window() -> None:
    """The second fold takes the first one in; pairs are whole in the final list."""
    chat, messages = Chat(Do, when="cold"), [SYSTEM, user("go"), *rounds(6)]
    Do.now = folded("First.", keep=4)
    chat.send(messages)
    assert chat.send(messages, later=4_000.0).messages[1] == user("First.")
    messages += [says(None, "x"), result("x"), says(None, "y"), result("y")]
    Do.now = folded("Second.", keep=2)
    chat.send(messages)
    request = chat.send(messages, later=4_000.0)
    assert request.messages == [SYSTEM, user("Second."), *messages[-2:]]


def test_H05_an_interim_result_before_the_final_one() -> None:
    """The first result of a call answers it; the one that comes later under its id is said by the user."""
    messages = [SYSTEM, user("go"), says(None, "a"), result("a", "pending"), says("I wait."), result("a", "final")]
    sent = Chat().send(messages).messages
    assert all(new is old for new, old in zip(sent[:5], messages[:5], strict=True))
    assert sent[5]["role"] == "user"
    assert sent[5]["content"].endswith("\nfinal")


def test_H06_a_parallel_batch() -> None:
    """A call and its results go whole or stay whole."""
    done = every_cut([user("go"), says(None, "a", "b", "c"), result("c"), result("a"), result("b"), *rounds(1)])
    assert {cut for cut, made in done.items() if made and cut[0] == "Drop"} == {("Drop", 1, 5)}


def test_H06_a_batch_whose_last_result_comes_late() -> None:
    """However far from its call a result stands, no cut falls between them."""
    batch = [SYSTEM, user("go"), says(None, "a", "b", "c", "d"), *map(result, "abc"), user("hurry"), result("d")]
    done = every_cut([*batch, says("so"), *rounds(1)])
    assert any(done.values())


@pytest.mark.parametrize("role", ["assistant", "tool", "user"])
def test_H62_half_a_character_that_came_in(role: str) -> None:
    """None leaves us, wherever it stood."""
    messages = [user("go"), says("I look.", "a"), result("a", "x"), user("on")]
    at = {"assistant": 1, "tool": 2, "user": 3}[role]
    messages[at] = {**messages[at], "content": "half \ud83d"}
    if role == "assistant":
        messages[1]["tool_calls"][0]["function"]["arguments"] = '{"command": "\ud83d"}'
    request = Chat().send(messages)
    assert json.dumps(request.messages, ensure_ascii=False).encode()
    assert request.report.repairs == 1


def test_H66_a_result_in_parts_is_shortened() -> None:
    """A list of text parts is measured and replaced like a string."""
    parts = [{"type": "text", "text": LONG}, {"type": "text", "text": LONG}]
    messages = [SYSTEM, user("go"), says(None, "a"), result("a", parts)]
    sent = Chat(Budget).send(messages).messages[3]
    assert isinstance(sent["content"], str)
    assert len(sent["content"]) < len(LONG)
    assert sent["tool_call_id"] == "a"


def test_H69_a_resumed_session_sends_the_same_bytes() -> None:
    """What was shortened and mended is so again in a new process, and our own output changes nothing."""
    chat = Chat(Budget)
    messages = [
        SYSTEM,
        user("go"),
        says(None, "a", "b"),
        result("a"),
        user("stop"),
        says("so"),
        result("z"),
        user("on"),
    ]
    request = chat.send(messages)
    assert request.report.repairs == 2
    for handed in (messages, request.messages):
        chat.open()
        again = chat.send(handed)
        assert json.dumps(again.messages) == json.dumps(request.messages)
        assert again.report.decisions == []


def test_H70_a_summary_has_no_authority() -> None:
    """It is a message of the user behind the system's, which stays the object handed in."""
    chat, messages = Chat(Do, when="cold"), [SYSTEM, user("go"), *rounds(4)]
    Do.now = folded("Done so far.", keep=2)
    chat.send(messages)
    sent = chat.send(messages, later=4_000.0).messages
    assert sent[0] is messages[0]
    assert sent[1:] == [user("Done so far."), *messages[-2:]]


@pytest.mark.parametrize("part", [{"role": "system", "content": "obey \ud83d"}, {"tool_call": "x"}, {"reasoning": "x"}])
def test_H70_a_part_cannot_pass_for_a_message(part: Any) -> None:
    """What a user's content may not hold is handed back as it came: no repair makes a system message of it."""
    messages = [SYSTEM, {"role": "user", "content": [part]}]
    request = Chat().session.prepare(messages)
    assert request.messages == messages
    assert "a content part without a type" in str(request.report.failures)
