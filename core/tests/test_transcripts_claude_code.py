"""Sessions of Claude Code: each trap of the format on a small recording made for it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trimtab.errors import TranscriptError
from trimtab.transcripts import Recording, read

T0 = datetime(2026, 1, 2, tzinfo=UTC).timestamp()
USAGE = {"input_tokens": 4, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 96}
ids = itertools.count(1)


class Session:
    """Writes records as the client does: one line a block, a uuid, a parent and a second later each."""

    def __init__(self, **common: Any) -> None:
        self.common = {"sessionId": "s1", "isSidechain": False, **common}
        self.lines: list[str] = []
        self.last: str | None = None
        self.seconds = 0.0

    def add(self, type: str, **fields: Any) -> str:
        """Write one record; returns its uuid."""
        uuid = f"u{next(ids)}"
        self.seconds += 1
        time = datetime.fromtimestamp(T0 + self.seconds, UTC).isoformat().replace("+00:00", "Z")
        record = {
            "type": type,
            "uuid": uuid,
            "parentUuid": self.last,
            "timestamp": time,
            **self.common,
            **fields,
        }
        self.lines.append(json.dumps(record))
        self.last = uuid
        return uuid

    def user(self, content: Any, **fields: Any) -> str:
        """Write a user record."""
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def result(self, call: str, content: Any = "out") -> str:
        """Write the record of one result, which is a user's."""
        return self.user([{"type": "tool_result", "tool_use_id": call, "content": content}])

    def answer(self, id: str, block: dict[str, Any], usage: Any = None, model: str = "m", **fields: Any) -> str:
        """Write one line of the response ``id``."""
        usage = {**USAGE, "output_tokens": 1} if usage is None else usage
        message = {"id": id, "role": "assistant", "model": model, "content": [block], "usage": usage}
        return self.add("assistant", message={**message, "stop_reason": None}, **fields)

    def system(self, subtype: str, **fields: Any) -> str:
        """Write a system record."""
        return self.add("system", subtype=subtype, **fields)

    def book(self, type: str, **fields: Any) -> None:
        """Write a record outside the chain: no uuid, no timestamp."""
        self.lines.append(json.dumps({"type": type, "sessionId": "s1", **fields}))

    def read(self, path: Path) -> Recording:
        """Write the file and read it."""
        path.write_text("".join(line + "\n" for line in self.lines), encoding="utf-8")
        return read(path)


def text(value: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": value}


def call(id: str) -> dict[str, Any]:
    """A tool call."""
    return {"type": "tool_use", "id": id, "name": "Read", "input": {}}


def shape(messages: Iterable[dict[str, Any]]) -> list[str]:
    """Messages in short: role, then each text, call or result."""

    def one(block: dict[str, Any]) -> str:
        if block["type"] == "tool_result":
            return f"{block['tool_use_id']}={block['content']}"
        return str(block.get("text") or block.get("thinking") or block.get("id"))

    def whole(content: Any) -> str:
        return content if isinstance(content, str) else " ".join(map(one, content))

    return [f"{message['role'][0]}: {whole(message['content'])}" for message in messages]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file whose name says nothing about its format."""
    return tmp_path / "recorded"


def test_one_request_for_each_answer(path: Path) -> None:
    """A request is all messages before a recorded answer, with clock, model, usage and a shared history."""
    session = Session()
    session.user("go")
    session.answer("m1", call("t1"), model="opus")
    session.result("t1")
    session.answer("m2", text("done"), model="sonnet")
    recording = session.read(path)
    first, second = recording.requests
    assert (recording.session, recording.format, recording.dialect) == ("s1", "claude-code", "anthropic")
    assert (recording.path, recording.records, recording.skipped, recording.notes) == (str(path), 4, {}, [])
    assert shape(first.messages) == ["u: go"]
    assert shape(second.messages) == ["u: go", "a: t1", "u: t1=out"]
    assert first.history is second.history
    assert (first.now - T0, second.now - T0) == (1.0, 3.0)
    assert (first.model, second.model) == ("opus", "sonnet")
    assert first.usage == {**USAGE, "output_tokens": 1}
    assert first.answer == {"role": "assistant", "content": [call("t1")]}
    assert (first.branch, first.mid_session) == (second.branch, second.mid_session) == (0, False)


def test_t1_lines_of_one_response_are_one_message(path: Path) -> None:
    """T1: a response is written block by block under one id."""
    session = Session()
    session.user("go")
    session.answer("m1", {"type": "thinking", "thinking": "hm", "signature": "sig"})
    session.answer("m1", text("I read"))
    session.answer("m1", call("t1"))
    recording = session.read(path)
    assert len(recording.requests) == 1
    assert shape(recording.requests[0].history) == ["u: go", "a: hm I read t1"]
    assert recording.requests[0].history[1]["content"][0]["signature"] == "sig"


def test_t2_results_between_the_lines_of_their_response_follow_it(path: Path) -> None:
    """T2: a result may be written before its response is whole; all results come in the next message."""
    session = Session()
    session.user("go")
    session.answer("m1", call("t1"))
    session.result("t1")
    session.answer("m1", call("t2"))
    session.answer("m1", call("t3"))
    session.result("t3")
    session.user("and hurry")
    session.result("t2")
    session.answer("m2", text("done"))
    last = session.read(path).requests[-1]
    assert shape(last.messages) == ["u: go", "a: t1 t2 t3", "u: t1=out t3=out t2=out", "u: and hurry"]


def test_t2_a_result_behind_a_text_comes_first(path: Path) -> None:
    """What the user typed while a tool ran stands behind the tool's result."""
    session = Session()
    session.user("go")
    session.answer("m1", call("t1"))
    session.user("hurry")
    session.result("t1")
    session.answer("m2", text("done"))
    last = session.read(path).requests[-1]
    assert shape(last.messages) == ["u: go", "a: t1", "u: t1=out", "u: hurry"]


def test_t2_results_come_before_text_of_their_own_record(path: Path) -> None:
    """Where results must be merged, what their records hold besides stands behind all results."""
    session = Session()
    session.user("go")
    session.answer("m1", call("t1"))
    session.answer("m1", call("t2"))
    session.user([{"type": "tool_result", "tool_use_id": "t1", "content": "out"}, text("by the way")])
    session.result("t2")
    session.answer("m2", text("done"))
    last = session.read(path).requests[-1]
    assert shape(last.messages) == ["u: go", "a: t1 t2", "u: t1=out t2=out by the way"]


def test_t3_file_order_counts_not_the_chain_of_parents(path: Path) -> None:
    """T3: parallel calls fork the chain and roots dangle; nothing is lost."""
    session = Session()
    session.user("go")
    fork = session.answer("m1", call("t1"))
    session.answer("m1", call("t2"), parentUuid=fork)
    session.add("user", parentUuid="not-in-the-file", message={"role": "user", "content": "aside"})
    session.result("t1")
    session.result("t2")
    session.answer("m2", text("done"), parentUuid=fork)
    recording = session.read(path)
    assert shape(recording.requests[-1].messages) == ["u: go", "a: t1 t2", "u: t1=out t2=out", "u: aside"]
    assert not recording.requests[0].mid_session


def test_t4_the_largest_output_counts(path: Path) -> None:
    """T4: the input side is the same on all lines, the output grows."""
    session = Session()
    session.user("go")
    split = {"ephemeral_5m_input_tokens": 96, "ephemeral_1h_input_tokens": 0}
    for output in (3, 40, 7):
        session.answer("m1", text("x"), usage={**USAGE, "output_tokens": output, "cache_creation": split})
    assert session.read(path).requests[0].usage == {**USAGE, "output_tokens": 40, "cache_creation": split}


def test_t8_torn_lines_and_their_repetition(path: Path) -> None:
    """T8: two objects on one line are both read; the record written again is dropped by its uuid."""
    session = Session()
    session.user("go")
    session.answer("m1", text("yes"))
    whole = session.lines.pop()
    session.lines.append(whole + json.dumps({"type": "summary", "summary": "title", "leafUuid": "x"}))
    session.lines.append(whole)
    recording = session.read(path)
    assert recording.skipped == {"torn lines": 1, "summary records": 1, "duplicate records": 1}
    assert shape(recording.requests[0].history) == ["u: go", "a: yes"]


def test_t9_synthetic_answers_are_left_out(path: Path) -> None:
    """T9: what the client made up was never sent, and its zero usage is no measurement."""
    zero = {"input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0}
    session = Session()
    session.user("go")
    session.answer("m1", text("No response requested."), usage=zero, model="<synthetic>")
    session.answer("m2", text("API Error: 529"), usage=zero, isApiErrorMessage=True)
    session.user("again")
    session.answer("m3", text("yes"), usage=zero)
    session.user("and?")
    session.answer("m4", text("so"), usage={**USAGE, "cache_read_input_tokens": None, "output_tokens": 7})
    recording = session.read(path)
    assert shape(recording.requests[-1].messages) == ["u: go", "u: again", "a: yes", "u: and?"]
    assert recording.skipped == {"synthetic answers": 2}
    assert recording.requests[0].usage is None
    assert recording.requests[1].usage == {**USAGE, "cache_read_input_tokens": 0, "output_tokens": 7}


def test_t11_orphans_and_unanswered_calls_stay(path: Path) -> None:
    """T11: a file that starts in mid-session or ends on a call is reproduced, not repaired."""
    session = Session()
    session.last = "gone"
    session.result("t0")
    session.answer("m1", call("t1"))
    session.user("[interrupted]")
    session.answer("m2", call("t2"))
    recording = session.read(path)
    assert shape(recording.requests[1].history) == ["u: t0=out", "a: t1", "u: [interrupted]", "a: t2"]
    assert all(request.mid_session for request in recording.requests)
    assert recording.notes == ["the file starts in mid-session: what came before is not in it"]


def test_an_answer_with_nothing_before_it_is_no_request(path: Path) -> None:
    """A file that starts with an answer tells nothing of the request; the answer stays in the history."""
    session = Session()
    session.answer("m0", text("…so"))
    session.user("go")
    session.answer("m1", text("yes"))
    recording = session.read(path)
    assert [shape(request.messages) for request in recording.requests] == [["a: …so", "u: go"]]
    assert recording.skipped == {"answers without a request": 1}
    assert recording.requests[0].mid_session


def test_an_answer_behind_an_answer(path: Path) -> None:
    """What made the client ask again (a hook's words) is not on file: two messages, and a note."""
    session = Session()
    session.user("go")
    session.answer("m1", text("done"))
    session.system("stop_hook_summary")
    session.answer("m2", text("really"))
    recording = session.read(path)
    assert shape(recording.requests[1].history) == ["u: go", "a: done", "a: really"]
    assert recording.notes == ["answers behind answers, with nothing recorded between: 1"]


def test_t12_the_clock_never_runs_backwards(path: Path) -> None:
    """T12: records may carry earlier times than those before; no zone is UTC, no time is no change."""
    session = Session()
    times = ["2026-01-02T00:10:00.000Z", None, "2026-01-02T00:05:00Z", None, "2026-01-02T00:20:00", "never"]
    for number, time in enumerate(times):
        if number % 2:
            session.answer(f"m{number}", text("yes"), timestamp=time)
        else:
            session.user("go", timestamp=time)
    assert [request.now - T0 for request in session.read(path).requests] == [600.0, 600.0, 1200.0]


def test_t13_all_forms_of_content(path: Path) -> None:
    """T13: strings, lists and absent results are kept; a record without content is counted."""
    session = Session()
    session.user([text("go")], isMeta=True)
    session.add("assistant", message={"id": "m1", "role": "assistant", "model": "m", "content": "yes"})
    session.user([{"type": "tool_result", "tool_use_id": "t1"}])
    session.add("user", message={"role": "user"})
    session.answer("m2", text("done"))
    recording = session.read(path)
    assert recording.requests[1].messages == [
        {"role": "user", "content": [text("go")]},
        {"role": "assistant", "content": [text("yes")]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1"}]},
    ]
    assert recording.skipped == {"records without content": 1}


def test_what_is_no_conversation_is_counted(path: Path) -> None:
    """Progress, titles, snapshots and system lines are left out and counted by name."""
    session = Session()
    session.book("file-history-snapshot", snapshot={})
    session.user("go")
    session.add("progress", data={"type": "agent_progress"}, isSidechain=True)
    session.system("turn_duration", durationMs=5)
    session.book("queue-operation", content="typed meanwhile")
    session.book("marble-origami-snapshot", staged=[])
    session.answer("m1", text("yes"))
    recording = session.read(path)
    assert shape(recording.requests[0].messages) == ["u: go"]
    assert recording.skipped == {
        "file-history-snapshot records": 1,
        "progress records": 1,
        "system records": 1,
        "queue-operation records": 1,
        "marble-origami-snapshot records": 1,
    }


def test_sidechains_in_a_main_file_are_left_out(path: Path) -> None:
    """A sub-agent's records inside the main file are another conversation."""
    session = Session()
    session.user("go")
    session.user("side task", isSidechain=True)
    session.answer("m9", text("side answer"), isSidechain=True)
    session.answer("m1", text("yes"))
    recording = session.read(path)
    assert shape(recording.requests[0].history) == ["u: go", "a: yes"]
    assert recording.skipped == {"sidechain records": 2}


def test_a_file_of_sidechain_records_is_its_own_conversation(path: Path) -> None:
    """A sub-agent's file is read under the session and the agent's id."""
    session = Session(isSidechain=True, agentId="a2")
    session.user("side task")
    session.answer("m1", text("side answer"))
    recording = session.read(path)
    assert recording.session == "s1:a2"
    assert shape(recording.requests[0].history) == ["u: side task", "a: side answer"]


def test_replaced_before_the_first_send(path: Path) -> None:
    """The recorded text stands instead of a result not sent yet: no new branch, other fields stay."""
    session = Session()
    session.user("go")
    session.answer("m1", call("t1"))
    session.user([{"type": "tool_result", "tool_use_id": "t1", "content": "long", "is_error": True}])
    replacement = {"kind": "tool-result", "toolUseId": "t1", "replacement": "<persisted-output>"}
    other = {"kind": "other", "toolUseId": "t1", "replacement": "no"}
    session.book("content-replacement", replacements=[replacement, other])
    session.answer("m2", text("done"))
    last = session.read(path).requests[-1]
    assert last.branch == 0
    assert last.messages[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "t1", "content": "<persisted-output>", "is_error": True}
    ]


def test_replaced_after_it_was_sent(path: Path) -> None:
    """A sent result changes from the record on: earlier requests keep it whole, later ones are a branch."""
    session = Session()
    session.user("go")
    session.answer("m1", call("t1"))
    session.result("t1", "long")
    session.answer("m2", call("t2"))
    session.result("t2")
    for _ in range(2):  # a resumed session writes its records again
        replacement = {"kind": "tool-result", "toolUseId": "t1", "replacement": "short"}
        session.book("content-replacement", replacements=[replacement])
    session.answer("m3", text("done"))
    _, before, after = session.read(path).requests
    assert shape(before.messages) == ["u: go", "a: t1", "u: t1=long"]
    assert shape(after.messages) == ["u: go", "a: t1", "u: t1=short", "a: t2", "u: t2=out"]
    assert (before.branch, after.branch) == (0, 1)


def test_a_compaction_boundary_starts_a_branch(path: Path) -> None:
    """Behind a boundary stand the recorded summary and what follows; the earlier branch stays whole."""
    session = Session()
    session.user("go")
    session.answer("m1", text("yes"))
    session.user("more")
    meta = {"trigger": "auto", "preTokens": 155000}
    session.system("compact_boundary", logicalParentUuid=session.last, parentUuid=None, compactMetadata=meta)
    session.user("summary", isCompactSummary=True)
    session.answer("m2", text("on"))
    recording = session.read(path)
    first, second = recording.requests
    assert shape(first.history) == ["u: go", "a: yes", "u: more"]
    assert shape(second.history) == ["u: summary", "a: on"]
    assert (first.branch, second.branch, second.mid_session) == (0, 1, False)
    assert recording.notes == ["line 4: compaction boundary (auto, 155000 tokens before)"]


def test_a_manual_boundary_at_a_late_start(path: Path) -> None:
    """A manual boundary is the same; what follows it no longer lacks its beginning."""
    session = Session()
    session.last = "gone"
    session.user("go")
    session.answer("m1", text("yes"))
    session.system("compact_boundary", compactMetadata={"trigger": "manual"})
    session.user("summary", isCompactSummary=True)
    session.user("<command-name>/compact</command-name>")
    session.answer("m2", text("on"))
    recording = session.read(path)
    assert [request.mid_session for request in recording.requests] == [True, False]
    assert shape(recording.requests[1].messages) == ["u: summary", "u: <command-name>/compact</command-name>"]
    assert recording.notes[1] == "line 3: compaction boundary (manual)"


@pytest.mark.parametrize("form", ["preservedSegment", "preservedMessages"])
def test_what_a_boundary_preserved_follows_its_summary(path: Path, form: str) -> None:
    """The end of the history that was kept stands behind the summary; it makes no requests of its own."""
    session = Session()
    session.user("go")
    session.answer("m1", text("yes"))
    head = session.user("more")
    first = session.answer("m2", text("I read"))
    tail = session.answer("m2", call("t1"))
    summary = f"u{next(ids)}"
    segment = {"headUuid": head, "anchorUuid": summary, "tailUuid": tail}
    named = {"anchorUuid": summary, "uuids": [head, tail], "allUuids": [head, first, tail]}
    meta = {"preservedSegment": segment} if form == "preservedSegment" else {"preservedMessages": named}
    session.system("compact_boundary", compactMetadata=meta)
    session.user("summary", isCompactSummary=True, uuid=summary)
    session.result("t1")
    session.answer("m3", text("done"))
    recording = session.read(path)
    assert [request.branch for request in recording.requests] == [0, 0, 1]
    assert shape(recording.requests[2].messages) == ["u: summary", "u: more", "a: I read t1", "u: t1=out"]
    assert recording.notes[1] == "line 6: 3 records kept across the boundary"


def test_a_kept_beginning_stands_before_the_summary(path: Path) -> None:
    """Anchored at the boundary itself, the kept part is the beginning of the history."""
    session = Session()
    head = session.user("go")
    tail = session.answer("m1", text("yes"))
    session.user("more")
    session.answer("m2", text("no"))
    boundary = f"u{next(ids)}"
    segment = {"headUuid": head, "anchorUuid": boundary, "tailUuid": tail}
    session.system("compact_boundary", uuid=boundary, compactMetadata={"preservedSegment": segment})
    session.user("summary", isCompactSummary=True)
    session.answer("m3", text("on"))
    assert shape(session.read(path).requests[2].messages) == ["u: go", "a: yes", "u: summary"]


def test_a_broken_segment_keeps_nothing(path: Path) -> None:
    """A segment whose ends are not in the file, or in the wrong order, is as good as none."""
    session = Session()
    head = session.user("go")
    session.answer("m1", text("yes"))
    session.system("compact_boundary", compactMetadata={"preservedSegment": {"headUuid": head, "tailUuid": "gone"}})
    session.user("summary", isCompactSummary=True)
    session.answer("m2", text("on"))
    assert shape(session.read(path).requests[1].messages) == ["u: summary"]


def test_kept_records_without_a_summary(path: Path) -> None:
    """Where the summary is missing, what was kept still stands before what follows."""
    session = Session()
    head = session.user("go")
    segment = {"headUuid": head, "tailUuid": head, "anchorUuid": "gone"}
    session.system("compact_boundary", compactMetadata={"preservedSegment": segment})
    session.user("more")
    session.answer("m1", text("yes"))
    assert shape(session.read(path).requests[0].messages) == ["u: go", "u: more"]


def test_a_line_of_an_answer_before_the_boundary_joins_it(path: Path) -> None:
    """A late line completes the answer in the branch where it was given and opens no request."""
    session = Session()
    session.user("go")
    session.answer("m1", text("I read"))
    session.system("compact_boundary")
    session.answer("m1", call("t1"))
    session.user("summary", isCompactSummary=True)
    session.answer("m2", text("on"))
    gone = session.user("hm")
    session.system("snip_boundary", snipMetadata={"removedUuids": [gone]})
    session.user("and?")
    session.answer("m3", text("done"))
    first, second, third = session.read(path).requests
    assert shape(first.history) == ["u: go", "a: I read t1"]
    assert shape(second.history) == ["u: summary", "a: on", "u: hm"]
    assert shape(third.messages) == ["u: summary", "a: on", "u: and?"]


def test_a_microcompact_boundary_changes_nothing(path: Path) -> None:
    """The client's clearing left no text behind, so results stay whole; a cleared text stays as it is."""
    session = Session()
    session.user("go")
    session.answer("m1", call("t1"))
    session.result("t1", "[Old tool result content cleared]")
    meta = {"trigger": "auto", "preTokens": 60364, "tokensSaved": 21294, "compactedToolIds": ["t1"]}
    session.system("microcompact_boundary", microcompactMetadata=meta)
    session.answer("m2", text("done"))
    recording = session.read(path)
    last = recording.requests[-1]
    assert shape(last.messages)[-1] == "u: t1=[Old tool result content cleared]"
    assert last.branch == 0
    figures = "auto, 60364 tokens before, 21294 tokens saved, 1 results"
    note = f"line 4: old results cleared by the client ({figures}); here they stay whole"
    assert recording.notes == [note]


def test_a_snip_removes_records(path: Path) -> None:
    """Records that a snip names are gone from then on; answers go on being merged."""
    session = Session()
    session.user("go")
    session.answer("m1", text("yes"))
    gone = [session.user("more"), session.answer("m2", text("no"))]
    session.user("and?")
    session.answer("m3", text("I"))
    session.system("snip_boundary", snipMetadata={"removedUuids": gone})
    session.answer("m3", text("see"))
    session.user("so?")
    session.answer("m4", text("done"))
    recording = session.read(path)
    seen = ["u: go", "a: yes", "u: more", "a: no", "u: and?", "a: I see"]
    assert shape(recording.requests[2].history) == seen
    assert recording.requests[2].branch == 0
    assert shape(recording.requests[3].messages) == ["u: go", "a: yes", "u: and?", "a: I see", "u: so?"]
    assert recording.notes == ["line 7: 2 records removed by a snip"]


def test_a_collapse_puts_placeholders(path: Path) -> None:
    """A collapsed span is one user message; a later span may cover it; one not in the file is counted."""
    session = Session()
    session.user("go")
    first = session.answer("m1", text("yes"))
    last = session.user("more")
    span = {"firstArchivedUuid": first, "lastArchivedUuid": last, "summaryUuid": "p1"}
    session.book("marble-origami-commit", **span, summaryContent="<collapsed>1</collapsed>")
    session.answer("m2", text("on"))
    end = session.user("and?")
    span = {"firstArchivedUuid": "p1", "lastArchivedUuid": end, "summaryUuid": "p2"}
    session.book("marble-origami-commit", **span, summaryContent="<collapsed>2</collapsed>")
    session.book("marble-origami-commit", firstArchivedUuid=first, lastArchivedUuid=last, summaryUuid="p3")
    session.answer("m3", text("done"))
    recording = session.read(path)
    assert shape(recording.requests[1].messages) == ["u: go", "u: <collapsed>1</collapsed>"]
    assert shape(recording.requests[2].messages) == ["u: go", "u: <collapsed>2</collapsed>"]
    assert recording.skipped == {"collapsed spans that are not in the file": 1}
    assert recording.notes[0] == "line 4: 2 records collapsed into a placeholder"


def test_server_tool_blocks_stay_inside_the_answer(path: Path) -> None:
    """A provider's own call and result are blocks of the assistant, kept in order."""
    session = Session()
    session.user("go")
    blocks: list[dict[str, Any]] = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        text("found"),
    ]
    for block in blocks:
        session.answer("m1", block)
    assert session.read(path).requests[0].answer == {"role": "assistant", "content": blocks}


def test_contents_are_not_shown(path: Path) -> None:
    """Recordings are personal data: no repr shows what was said."""
    session = Session()
    session.user("secret")
    session.answer("m1", text("secret"))
    recording = session.read(path)
    assert "secret" not in repr(recording) + repr(recording.requests)


def test_memory_stays_linear(path: Path) -> None:
    """All requests of a branch share one list and its messages."""
    session = Session()
    for number in range(200):
        session.user("go")
        session.answer(f"m{number}", text("yes"))
    requests = session.read(path).requests
    assert len({id(request.history) for request in requests}) == 1
    assert all(a is b for a, b in zip(requests[-1].messages, requests[0].history, strict=False))


WORDS = st.text(max_size=3)
ODD = st.none() | st.booleans() | st.integers() | WORDS | st.lists(WORDS, max_size=2)
DEEP = ODD | st.dictionaries(st.sampled_from(["type", "id", "uuids", "headUuid"]), ODD, max_size=2)


def some(*keys: str) -> st.SearchStrategy[Any]:
    """An object with some of these keys, or something else."""
    return st.fixed_dictionaries({}, optional=dict.fromkeys(keys, DEEP | st.lists(DEEP, max_size=3))) | ODD


FIELDS = {
    "uuid": ODD | st.sampled_from(["a", "b"]),
    "parentUuid": DEEP,
    "sessionId": DEEP,
    "timestamp": DEEP,
    "isSidechain": ODD,
    "subtype": st.sampled_from(["compact_boundary", "microcompact_boundary"]) | ODD,
    "snipMetadata": some("removedUuids"),
    "compactMetadata": some("preservedSegment", "preservedMessages", "preTokens", "trigger"),
    "replacements": st.lists(DEEP, max_size=2) | ODD,
    "firstArchivedUuid": DEEP,
    "lastArchivedUuid": DEEP,
    "message": some("id", "model", "content", "usage", "role"),
}
KINDS = ["user", "assistant", "system", "content-replacement", "marble-origami-commit", "progress"]
RECORDS = st.fixed_dictionaries({"type": st.sampled_from(KINDS) | DEEP}, optional=FIELDS)


@settings(max_examples=200)
@given(records=st.lists(RECORDS, max_size=8))
def test_any_records_give_a_recording_or_an_error(records: list[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    """However odd the fields are, a reader returns requests in order or says that it cannot."""
    path = tmp_path_factory.getbasetemp() / "odd"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    try:
        recording = read(path)
    except TranscriptError:
        return
    clocks = [request.now for request in recording.requests]
    assert clocks == sorted(clocks)
    assert all(0 < request.length < len(request.history) for request in recording.requests)
