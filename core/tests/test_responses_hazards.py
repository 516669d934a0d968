"""Known faults of compaction where Responses have them: pairs, reasoning, content, resume (docs/hazards.md)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest
import walk
from stages import Budget, Do
from trimtab import Drop, Fold, Replace, Request, Session, Stage, load
from trimtab.dialects.responses import validate
from trimtab.storage.memory import MemoryBlobs, MemoryLedger

LONG = "The same old line of the same old file. " * 60


def user(content: Any) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": content}


def says(text: str, id: str = "msg_0") -> dict[str, Any]:
    """Words of the model."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": id, "role": "assistant", "status": "completed", "content": [part]}


def thinks(id: str) -> dict[str, Any]:
    """What the model thought, encrypted."""
    return {"type": "reasoning", "id": f"rs_{id}", "summary": [], "encrypted_content": "gAAA" + id * 1_100}


def call(id: str) -> dict[str, Any]:
    """A call."""
    return {
        "type": "function_call",
        "id": f"fc_{id}",
        "call_id": id,
        "name": "bash",
        "arguments": '{"command": "make"}',
    }


def output(id: str, content: Any = None) -> dict[str, Any]:
    """Its output."""
    return {"type": "function_call_output", "call_id": id, "output": f"{id}: {LONG}" if content is None else content}


def rounds(count: int) -> list[dict[str, Any]]:
    """So many rounds of one call that was thought about."""
    return [one for n in range(count) for one in (thinks(f"n{n}"), call(f"n{n}"), output(f"n{n}"))]


def unpaired(said: Sequence[Any], sent: Sequence[Any]) -> list[str]:
    """Items that the provider would refuse for their reasoning, as it knows which came with which (R1, R2)."""
    required: dict[str, str] = {}
    behind: dict[str, str] = {}
    thought = last = ""
    for item in said:
        kind, id = item.get("type", "message"), str(item.get("id", ""))
        if item.get("role", "assistant") != "assistant" or kind.endswith("_output"):
            thought = last = ""
            continue
        if last:
            behind[last] = id
        if thought:
            required[id] = thought
        thought, last = (id, id) if kind == "reasoning" else (thought, "")
    here: set[str] = set()
    wrong = []
    for item, following in zip(sent, [*sent[1:], {"role": "user"}], strict=True):
        id = item.get("id", "")
        if item.get("type") == "reasoning":
            led = following.get("role", "assistant") == "assistant" and "output" not in following
            if not led or following.get("id", behind.get(id)) != behind.get(id):
                wrong.append(id)
        if id and required.get(id, id) not in {*here, id}:
            wrong.append(id)
        here.add(id)
    return wrong


class Chat:
    """One session of the format, its clock and its stores."""

    def __init__(self, *stages: type[Stage], **options: Any) -> None:
        self.now = 1_000.0
        self.stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        self.stages, self.options = stages, options
        self.session = self.open()

    def open(self) -> Session:
        """As a new process would."""
        provider = {"kind": "responses", "window": 200_000, "cache": {"ttl": "5m", "minimum": 0}}
        listed = [{stage.name: self.options} for stage in self.stages]
        overrides = {"counter": "estimate", "provider": provider, "stages": listed, "hooks": []}
        profile = load("minimal", overrides=overrides, plugins=self.stages, env={}, cwd="/")
        self.session = Session.open("s", profile, clock=lambda: self.now, **self.stores)
        return self.session

    def send(self, items: list[Any], later: float = 5.0) -> Request:
        """The next request; it must be valid."""
        self.now += later
        request = self.session.prepare(items, "Be brief.")
        assert request.report.failures == []
        assert [one for one in validate(request.messages) if one.certain] == []
        return request


def every_cut(items: list[Any]) -> dict[tuple[str, int, int], bool]:
    """All runs, folded and dropped, each in its own session: every request is valid; whether the cut was made."""
    done = {}
    for start, end in itertools.combinations(range(len(items) + 1), 2):
        for kind in (Fold, Drop):
            run = slice(start, end)
            Do.now = lambda view, run=run, kind=kind: [
                Fold(view.messages[run], "Done.") if kind is Fold else Drop(view.messages[run])
            ]
            request = Chat(Do, when="cold").session.compact(items)
            assert request.report.failures == []
            assert [one for one in validate(request.messages) if one.certain] == []
            assert unpaired(items, request.messages) == []
            done[kind.__name__, start, end] = len(request.messages) < len(items)
    return done


def test_H01_a_run_of_outputs_with_mixed_ids() -> None:
    """None goes without its call, nor stays without it."""
    done = every_cut([user("go"), call("a"), call("b"), output("a"), output("b"), says("so"), *rounds(1)])
    assert not done["Drop", 1, 4]
    assert not done["Fold", 0, 3]
    assert done["Fold", 0, 5]
    assert done["Fold", 1, 5]


def test_H02_a_message_between_call_and_output() -> None:
    """It stays where it is, which the format allows, and no cut parts the two."""
    items = [user("go"), call("a"), user("hurry up"), output("a"), says("so"), user("on"), *rounds(1)]
    assert Chat().send(items).messages == items
    done = every_cut(items)
    assert not done["Fold", 1, 3]
    assert done["Fold", 1, 4]


def test_H05_an_interim_output_before_the_final_one() -> None:
    """The first output of a call answers it; the one that comes later under its id is said by the user."""
    items = [user("go"), call("a"), output("a", "pending"), says("I wait."), output("a", "final")]
    sent = Chat().send(items).messages
    assert all(new is old for new, old in zip(sent[:4], items[:4], strict=True))
    assert sent[4]["role"] == "user"
    assert sent[4]["content"].endswith("\nfinal")


def test_H06_a_parallel_batch() -> None:
    """Calls and their outputs go whole or stay whole, with what was thought."""
    batch = [thinks("t"), call("a"), call("b"), call("c"), output("c"), output("a"), output("b")]
    done = every_cut([user("go"), *batch, *rounds(1)])
    assert {cut for cut, made in done.items() if made and cut[0] == "Drop"} == {("Drop", 1, 8)}


def test_H09_reasoning_and_what_it_led_to() -> None:
    """Wherever a cut falls, each goes with the other: reasoning in front of words, calls, searches, other reasoning."""
    search = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "x"},
    }
    first = [thinks("1"), search, thinks("2"), says("I look.", "msg_1"), call("a"), call("b"), output("a"), output("b")]
    done = every_cut([user("go"), *first, thinks("3"), says("so", "msg_2"), user("on"), *rounds(1)])
    dropped = {(start, end) for (kind, start, end), made in done.items() if made and kind == "Drop"}
    assert dropped == {(1, 9), (9, 11), (1, 11), (0, 11)}
    assert done["Fold", 0, 11]


def test_H09_a_call_that_nobody_answered() -> None:
    """It becomes words without an id; reasoning that led to nothing else goes, what also led to others stays."""
    items = [
        user("go"),
        thinks("1"),
        call("a"),
        user("stop"),
        thinks("2"),
        call("b"),
        call("c"),
        output("c"),
        says("so"),
    ]
    sent = Chat().send([*items, user("on")]).messages
    assert [one.get("type", one.get("role")) for one in sent] == [
        *("user", "assistant", "user"),
        *("reasoning", "assistant", "function_call", "function_call_output", "message", "user"),
    ]
    assert "bash" in sent[1]["content"]
    assert unpaired(items, sent) == []


def test_H09_reasoning_that_led_to_nothing() -> None:
    """An answer that was cut off while it was thought about is not sent: the provider would refuse it."""
    sent = Chat().send([user("go"), thinks("1"), user("Go on.")]).messages
    assert sent == [user("go"), user("Go on.")]


@pytest.mark.parametrize("part", ["call", "text"])
def test_H09_what_is_changed_loses_its_id(part: str) -> None:
    """The provider knows the unchanged item under it; what was thought stays in front."""
    long = json.dumps({"command": LONG})
    items = [user("go"), thinks("1"), {**call("a"), "arguments": long, "status": "completed"}, output("a")]
    items = items if part == "call" else [user("go"), thinks("1"), says(LONG, "msg_1"), user("on")]
    items += rounds(1)
    text = '{"command": "make"}' if part == "call" else "short"
    chat = Chat(Do, when="cold")
    Do.now = lambda view: [Replace(view.projection.path[2].blocks[0], text)]
    chat.send(items)
    sent = chat.send(items, later=4_000.0).messages
    assert sent[1] is items[1]
    assert "id" not in sent[2]
    assert "status" not in sent[2]
    assert text in (sent[2]["arguments"] if part == "call" else sent[2]["content"][0]["text"])
    assert unpaired(items, sent) == []


class Walk(walk.Walk):
    """Hostile plugins; looks at reasoning in each request."""

    def sent(self, handed: Sequence[Any], request: Request, *more: Any) -> Request:
        """As the witness does, and pairs."""
        assert unpaired(handed, request.messages) == []
        return super().sent(handed, request, *more)


def test_H09_under_hostile_plugins() -> None:
    """No edit, repair, recovery or restore parts reasoning from what it led to."""
    walks = [Walk(seed, dialect="responses").go() for seed in range(20)]
    assert sum("reasoning" in str(walk.requests[-1].messages) for walk in walks) > 10
    accepted = sum((walk.accepted() for walk in walks), start=walks[0].accepted())
    assert accepted["drop", "breaking"] > 5
    assert accepted["fold", "breaking"] > 10


@pytest.mark.parametrize("at", [1, 2, 3])
def test_H62_half_a_character_that_came_in(at: int) -> None:
    """None leaves us, wherever it stood, and what was mended has no id."""
    items = [user("go"), says("half \ud83d"), call("a"), output("a", "half \ud83d"), user("on")]
    items[2]["arguments"] = '{"command": "\ud83d"}'
    request = Chat().send(items)
    assert json.dumps(request.messages, ensure_ascii=False).encode()
    assert request.report.repairs == 3
    assert "id" not in request.messages[at]


def test_H66_an_output_in_parts_is_shortened() -> None:
    """A list of text parts is measured and replaced like a string."""
    parts = [{"type": "input_text", "text": LONG}, {"type": "input_text", "text": LONG}]
    sent = Chat(Budget).send([user("go"), call("a"), output("a", parts)]).messages[2]
    assert isinstance(sent["output"], str)
    assert len(sent["output"]) < len(LONG)
    assert sent["call_id"] == "a"


def test_H69_a_resumed_session_sends_the_same_bytes() -> None:
    """What was shortened and mended is so again in a new process, and our own output changes nothing."""
    chat = Chat(Budget)
    items = [
        user("go"),
        thinks("1"),
        call("a"),
        call("b"),
        output("a"),
        user("stop"),
        says("so"),
        output("z"),
        user("x"),
    ]
    request = chat.send(items)
    assert request.report.repairs == 2
    for handed in (items, request.messages):
        chat.open()
        again = chat.send(handed)
        assert json.dumps(again.messages) == json.dumps(request.messages)
        assert again.report.decisions == []


def test_H70_a_summary_has_no_authority() -> None:
    """It is a message of the user; what a developer said stays the object handed in."""
    rules = {"role": "developer", "content": "Be kind."}
    chat, items = Chat(Do, when="cold"), [rules, user("go"), *rounds(4)]
    Do.now = lambda view: [Fold(view.messages[1:-3], "Done so far.")]
    chat.send(items)
    sent = chat.send(items, later=4_000.0).messages
    assert sent[0] is rules
    assert sent[1:] == [user("Done so far."), *items[-3:]]


def test_a_compaction_of_the_provider_stays() -> None:
    """Nothing folds or drops it, nor runs across it; what comes behind it can be folded."""
    compaction = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA" * 500}
    items = [user("go"), compaction, *rounds(3)]
    done = every_cut(items)
    assert not any(made for (_, start, end), made in done.items() if start <= 1 < end)
    assert done["Fold", 2, 8]


def test_H09_mended_reasoning_keeps_its_id() -> None:
    """With half a character in its summary it is mended; what it led to finds it all the same."""
    items = [user("go"), thinks("1"), {**call("a"), "id": "fc_a"}, output("a", "x"), user("on")]
    items[1]["summary"] = [{"type": "summary_text", "text": "half \ud83d"}]
    sent = Chat().send(items).messages
    assert sent[1]["id"] == items[1]["id"]
    assert "\ud83d" not in str(sent[1]["summary"])
    assert unpaired(items, sent) == []
