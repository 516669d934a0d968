"""Event files of OpenHands: a list of actions and of observations, each of which names the action that caused it."""

from __future__ import annotations

from typing import Any

from trimtab.transcripts.history import History
from trimtab.transcripts.records import Recording
from trimtab.transcripts.source import Source
from trimtab.transcripts.wire import (
    assistant,
    call,
    count,
    distinct,
    entries,
    label,
    listed,
    mapping,
    mappings,
    result,
    seconds,
    string,
    usage,
)

__all__ = ["NAME", "read", "sniff"]

NAME = "openhands"
Event = dict[str, Any]
UNSEEN = ("agent_state_changed", "change_agent_state", "null")
"""Events that are not in the agent's history, in which ``summary_offset`` counts (controller/agent_controller.py)."""


def sniff(source: Source) -> bool:
    """Whether any entry is an event: a number, a source, and an action or an observation."""
    return any("id" in entry and "source" in entry and _kind(entry) for entry in mappings(entries(source)))


def read(source: Source) -> Recording:
    """Read all requests; results are paired by their cause, and a condensation starts a branch."""
    found = entries(source)
    events = mappings(found)
    replay = _Events(source, events)
    replay.history.skipped["odd records"] += len(found) - len(events)
    for event in events:
        replay.take(event)
    return replay.recording()


class _Events:
    """The history, and the events it was made of, from which it is made anew where some are forgotten."""

    def __init__(self, source: Source, events: list[Event]) -> None:
        self.history = History(source)
        self._tools: Any = None
        self._seen: list[Event] = []
        """Those of the agent's history."""
        self._forgotten: set[int] = set()
        self._summary: tuple[str, int] | None = None
        calling = [event for event in events if _calls(event)]
        ids = [string(_metadata(event).get("tool_call_id")) for event in calling]
        self._ids = {event["id"]: id for event, id in zip(calling, distinct(ids), strict=True)}
        """Number of an action to the id of its call."""
        self._renamed = sum(self._ids[event["id"]] != id for event, id in zip(calling, ids, strict=True))
        self._open: set[int] = set()
        """Numbers of the actions whose calls this branch holds."""
        self._last: tuple[str, dict[str, Any]] = "", {}
        """The last response and the answer made of it, in this branch: several actions may come of one."""
        self._orphans: set[int] = set()
        self._ends = 0

    def take(self, event: Event) -> None:
        """Take the next event."""
        kind = _kind(event)
        if not isinstance(event.get("id"), int) or not kind:
            self.history.skipped["odd records"] += 1
        elif kind == "condensation" and "action" in event:
            self._condense(event)
        elif kind in UNSEEN:
            self.history.skipped[f"{label(kind)} events"] += 1
        else:
            self._seen.append(event)
            if self._place(event, new=True):
                self.history.records += 1
            else:
                self.history.skipped[f"{label(kind)} events"] += 1

    def recording(self) -> Recording:
        """Give what was read, and say what became of ids, ends and results."""
        history = self.history
        if self._renamed:
            history.notes.append(f"call ids that repeat, made unique by position: {self._renamed}")
        if self._ends:
            history.notes.append(f"calls that end the task, which nothing answers, shown as text: {self._ends}")
        if self._orphans:
            history.notes.append(f"results left out where their call was forgotten: {len(self._orphans)}")
        return history.recording(NAME, tools=self._tools)

    def _place(self, event: Event, new: bool) -> bool:
        """Make a message of an event, and a request if it is ``new``; False where it makes none."""
        args, time, role = mapping(event.get("args")), seconds(event.get("timestamp")), string(event.get("source"))
        content = string(args.get("content"))
        if "observation" in event:
            return self._result(event, time)
        if _metadata(event) and role == "agent":
            return self._act(event, time, new)
        if event["action"] == "system":
            self._tools = self._tools or args.get("tools")
            self.history.add({"role": "system", "content": content}, time)
        elif event["action"] == "message" and role == "agent":
            self._answer(event, assistant(content, []), time, new)
        elif event["action"] == "message" and role == "user":
            images = [
                {"type": "image_url", "image_url": {"url": url}}
                for url in listed(args.get("image_urls"))
                if string(url)
            ]
            parts = [{"type": "text", "text": content}, *images]
            self.history.add({"role": "user", "content": parts if images else content}, time)
        else:
            return False
        return True

    def _act(self, event: Event, time: float | None, new: bool) -> bool:
        """Take a call: of a response that made several, it joins the others."""
        args, metadata = mapping(event.get("args")), _metadata(event)
        response = mapping(metadata.get("model_response"))
        message = mapping(mapping((mappings(response.get("choices")) or [{}])[0]).get("message"))
        text = string(message.get("content"))
        if event["id"] not in self._ids:
            self._ends += new
            self._answer(event, assistant(text or string(args.get("final_thought")), []), time, new)
            return True
        name = string(metadata.get("function_name")) or string(event["action"])
        arguments: Any = args
        for asked in mappings(message.get("tool_calls")):
            if asked.get("id") == metadata["tool_call_id"]:
                arguments = mapping(asked.get("function")).get("arguments", args)
        made = call(self._ids[event["id"]], name, arguments)
        key = string(response.get("id"))
        if key and key == self._last[0]:
            self._last[1]["tool_calls"].append(made)
        else:
            answer = assistant(text, [made])
            self._answer(event, answer, time, new)
            self._last = key, answer
        self._open.add(event["id"])
        return True

    def _answer(self, event: Event, message: dict[str, Any], time: float | None, new: bool) -> None:
        self._last = "", {}
        if new:
            response = mapping(_metadata(event).get("model_response"))
            self.history.answer(message, time, _usage(response.get("usage")), string(response.get("model")) or None)
        else:
            self.history.add(message)

    def _result(self, event: Event, time: float | None) -> bool:
        """Take a result, if its call stands in this branch."""
        cause = event.get("cause")
        if not isinstance(cause, int) or cause not in self._ids:
            return False
        if cause in self._open:
            self.history.result(result(self._ids[cause], string(event.get("content"))), time)
        else:
            self._orphans.add(event["id"])
        return True

    def _condense(self, event: Event) -> None:
        """Make the history anew of what is not forgotten, with the summary in its place."""
        args, history = mapping(event.get("args")), self.history
        first, last = args.get("forgotten_events_start_id"), args.get("forgotten_events_end_id")
        named = {id for id in listed(args.get("forgotten_event_ids")) if isinstance(id, int)}
        if isinstance(first, int) and isinstance(last, int):
            named |= {seen["id"] for seen in self._seen if first <= seen["id"] <= last}
        self._forgotten |= named
        if isinstance(args.get("summary"), str):
            self._summary = args["summary"], count(args.get("summary_offset"))
        kept = [seen for seen in self._seen if seen["id"] not in self._forgotten]
        before = len(history.messages)
        self._rebuild(kept)
        history.tick(seconds(event.get("timestamp")))
        history.notes.append(
            f"event {event['id']}: condensation, {before} messages before, {len(history.messages)} after"
        )

    def _rebuild(self, kept: list[Event]) -> None:
        self.history.restart([])
        self._open, self._last = set(), ("", {})
        gone = [seen.get("cause") for seen in self._seen if seen["id"] in self._forgotten]
        unanswered = {cause for cause in gone if isinstance(cause, int)}
        for place, event in enumerate(kept):
            if self._summary and place == self._summary[1]:
                self.history.add({"role": "user", "content": self._summary[0]})
            if "observation" in event or event["id"] not in unanswered:
                self._place(event, new=False)
        if self._summary and self._summary[1] >= len(kept):
            self.history.add({"role": "user", "content": self._summary[0]})


def _kind(event: Event) -> str:
    return string(event.get("action")) or string(event.get("observation"))


def _metadata(event: Event) -> dict[str, Any]:
    return mapping(event.get("tool_call_metadata"))


def _calls(event: Event) -> bool:
    """Whether it is an agent's call that something answers: the end of the task is none."""
    known = isinstance(event.get("id"), int) and bool(string(_metadata(event).get("tool_call_id")))
    return known and event.get("source") == "agent" and string(event.get("action")) not in ("", "finish")


def _usage(recorded: Any) -> dict[str, Any] | None:
    found = mapping(recorded)
    cached = mapping(found.get("prompt_tokens_details")).get("cached_tokens")
    return usage(found.get("prompt_tokens"), cached, found.get("completion_tokens"))
