"""Event files of OpenHands: each trap of the format on a small recording made for it."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from trimtab.transcripts import Recording, read

BEGIN = datetime(2026, 1, 2)
USAGE = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": None}


class Events:
    """Writes events as OpenHands does, numbered, a second apart."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.add("environment", observation="agent_state_changed", content="")
        self.add("agent", action="system", args={"content": "Be brief.", "tools": [{"type": "function"}]})

    def add(self, source: str, **fields: Any) -> int:
        """Write one event; returns its number."""
        number = len(self.events)
        time = (BEGIN + timedelta(seconds=number)).isoformat()
        self.events.append({"id": number, "timestamp": time, "source": source, "message": "m", **fields})
        return number

    def user(self, text: str, **args: Any) -> int:
        """Write a user's message."""
        return self.add("user", action="message", args={"content": text, **args})

    def act(self, id: str, text: str = "", action: str = "run", response: str = "", **args: Any) -> int:
        """Write an action that a response called for."""
        name, response = f"execute_{action}", response or f"r{len(self.events)}"
        function = {"name": name, "arguments": json.dumps({"of": id})}
        message = {"content": text, "role": "assistant", "tool_calls": [{"id": id, "function": function}]}
        model = {"id": response, "model": "devstral", "choices": [{"message": message}], "usage": USAGE}
        data = {"function_name": name, "tool_call_id": id, "model_response": model}
        metrics = {"accumulated_token_usage": {"prompt_tokens": 10**6}}
        return self.add("agent", action=action, args=args, tool_call_metadata=data, llm_metrics=metrics)

    def out(self, cause: int, text: str = "out") -> int:
        """Write an observation, whose call id is the one that its action has."""
        data = self.events[cause]["tool_call_metadata"]
        return self.add("agent", observation="run", cause=cause, content=text, tool_call_metadata=data)

    def condense(self, summary: str | None, offset: int = 2, **forgotten: Any) -> None:
        """Write a condensation."""
        self.add("agent", action="condensation", args={"summary": summary, "summary_offset": offset, **forgotten})

    def read(self, path: Path) -> Recording:
        """Write the file and read it."""
        path.write_text(json.dumps(self.events), encoding="utf-8")
        return read(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file whose name says nothing about its format."""
    return tmp_path / "recorded"


def shape(messages: list[dict[str, Any]]) -> list[str]:
    """Messages in short: role, content, calls or the call answered."""
    return [
        " ".join(
            [
                f"{entry['role'][0]}:",
                *filter(None, [entry.get("tool_call_id"), entry["content"]]),
                *(call["id"] for call in entry.get("tool_calls", ())),
            ]
        )
        for entry in messages
    ]


def test_events(path: Path) -> None:
    """Each response is a request with its own size; system prompt and tools are in the file; the end is text."""
    events = Events()
    events.user("go")
    events.add("user", action="recall", args={"query": "go"})
    events.out(events.act("c1", "I look"), "seen")
    events.act("c2", action="finish", final_thought="done")
    events.user("thanks")
    recording = events.read(path)
    first, second = recording.requests
    assert (recording.format, recording.dialect, recording.session) == ("openhands", "openai", "recorded")
    assert recording.tools == [{"type": "function"}]
    assert shape(first.history) == ["s: Be brief.", "u: go", "a: I look c1", "t: c1 seen", "a: done", "u: thanks"]
    assert first.history[2]["tool_calls"][0]["function"] == {"name": "execute_run", "arguments": '{"of": "c1"}'}
    assert (first.length, second.length) == (2, 4)
    assert (second.now - first.now, first.model) == (3, "devstral")
    assert first.usage == {"prompt_tokens": 100, "completion_tokens": 7}
    assert recording.records == 6
    assert recording.skipped == {"agent_state_changed events": 1, "recall events": 1}
    assert recording.notes == ["calls that end the task, which nothing answers, shown as text: 1"]


def test_what_the_model_said_at_the_end_comes_before_its_last_thought(path: Path) -> None:
    """The end of a task is shown as what was said with the call, and as its argument only where that is nothing."""
    events = Events()
    events.user("go")
    events.act("c1", "bye", action="finish", final_thought="done")
    assert shape(events.read(path).requests[0].history)[-1] == "a: bye"


def test_results_are_paired_by_their_cause(path: Path) -> None:
    """Ids that repeat are made unique by position, and a result follows its action, not its id."""
    events = Events()
    events.user("go")
    events.out(events.act("c1"), "1")
    events.out(events.act("c1"), "2")
    events.out(events.act("c2"), "3")
    events.out(events.act("c1"), "4")
    recording = events.read(path)
    assert shape(recording.requests[-1].history)[2:] == [
        *("a: c1", "t: c1 1", "a: c1-2", "t: c1-2 2"),
        *("a: c2", "t: c2 3", "a: c1-3", "t: c1-3 4"),
    ]
    assert recording.notes == ["call ids that repeat, made unique by position: 2"]


def test_a_message_between_action_and_observation(path: Path) -> None:
    """What the user said while the tool ran stands behind its result."""
    events = Events()
    events.user("go")
    action = events.act("c1")
    events.user("hurry")
    events.out(action)
    events.act("c2")
    assert shape(events.read(path).requests[1].messages)[2:] == ["a: c1", "t: c1 out", "u: hurry"]


def test_several_actions_of_one_response(path: Path) -> None:
    """Actions of one response are one answer and one request, though observations stand between them."""
    events = Events()
    events.user("go")
    events.out(events.act("c1", "both", response="r"))
    events.out(events.act("c2", "both", response="r"))
    events.add("agent", action="message", args={"content": "done"})
    recording = events.read(path)
    assert shape(recording.requests[1].history)[2:] == ["a: both c1 c2", "t: c1 out", "t: c2 out", "a: done"]
    assert [request.usage is None for request in recording.requests] == [False, True]


def test_a_response_name_that_comes_again(path: Path) -> None:
    """What was sent is not added to: a response named like one before the last is another answer."""
    events = Events()
    events.user("go")
    for name in ("r", "s", "r"):
        events.out(events.act(f"c-{name}-{len(events.events)}", response=name))
    recording = events.read(path)
    assert [len(request.answer["tool_calls"]) for request in recording.requests if request.answer] == [1, 1, 1]


def long() -> Events:
    """Two rounds: events 2 (go), 3 and 4, 5 and 6."""
    events = Events()
    events.user("go")
    events.out(events.act("c1"), "1")
    events.out(events.act("c2"), "2")
    return events


def then(events: Events, path: Path) -> tuple[Recording, list[str]]:
    """One more round, and what the branch it begins holds."""
    events.act("c3")
    recording = events.read(path)
    last = recording.requests[-1]
    return recording, shape(last.messages)


def test_a_condensation_starts_a_branch(path: Path) -> None:
    """Forgotten events are out, the summary stands at its offset (counted in events the agent saw)."""
    events = long()
    events.condense("so far", forgotten_events_start_id=3, forgotten_events_end_id=4)
    recording, seen = then(events, path)
    assert seen == ["s: Be brief.", "u: go", "u: so far", "a: c2", "t: c2 2"]
    assert [request.branch for request in recording.requests] == [0, 0, 1]
    assert recording.notes == ["event 7: condensation, 6 messages before, 5 after"]
    assert recording.requests[0].history is recording.requests[1].history


def test_a_condensation_by_ids_and_one_without_a_summary(path: Path) -> None:
    """Events may be named one by one, and forgotten without a word."""
    events = long()
    events.condense(None, forgotten_event_ids=[5, 6])
    assert then(events, path)[1] == ["s: Be brief.", "u: go", "a: c1", "t: c1 1"]


def test_condensations_in_a_row(path: Path) -> None:
    """What was forgotten stays so, only the last summary stands, and a branch without a request is not counted."""
    events = long()
    events.condense("first", forgotten_event_ids=[3, 4])
    events.condense("second", offset=99, forgotten_event_ids=[5, 6])
    recording, seen = then(events, path)
    assert seen == ["s: Be brief.", "u: go", "u: second"]
    assert recording.requests[-1].branch == 1


def test_cuts_between_action_and_observation(path: Path) -> None:
    """A result whose call was forgotten is left out, and a call whose result was; both are said or seen."""
    events = long()
    events.condense("so far", forgotten_events_start_id=3, forgotten_events_end_id=3)
    recording, seen = then(events, path)
    assert seen == ["s: Be brief.", "u: go", "u: so far", "a: c2", "t: c2 2"]
    assert recording.notes[-1] == "results left out where their call was forgotten: 1"
    events = long()
    events.condense("so far", forgotten_event_ids=[6])
    assert then(events, path)[1] == ["s: Be brief.", "u: go", "u: so far", "a: c1", "t: c1 1"]


def test_images_and_odd_events(path: Path) -> None:
    """A user's images are parts of the message; what is no event is counted."""
    events = Events()
    events.user("see", image_urls=["data:"])
    events.events += [3, {"id": "x", "source": "user", "action": "message"}]
    events.act("c1")
    recording = events.read(path)
    assert recording.requests[0].messages[1]["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:"}},
    ]
    assert recording.skipped["odd records"] == 2
