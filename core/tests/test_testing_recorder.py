"""`Recorder`: what a live session was handed is what replay reads, written once and readable after a crash."""

from __future__ import annotations

import asyncio
import json
import math
import random
import resource
import signal
from pathlib import Path
from typing import Any

import pytest
from trimtab import Session, load
from trimtab.dialect import Usage
from trimtab.errors import TranscriptError
from trimtab.parts import part
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.testing import Recorder
from trimtab.testing.material import rounds
from trimtab.testing.talk import Talk
from trimtab.transcripts import Recording
from trimtab.transcripts.recorded import NAME, read, sniff
from trimtab.transcripts.source import load as decode


class Clock:
    """Epoch seconds that a test moves."""

    now = 1_000.0

    def __call__(self) -> float:
        self.now += 7
        return self.now


def opened(clock: Any, **provider: Any) -> Session:
    """A session that shortens new results."""
    stage = {"tool-result-budget": {"limits": {"read": 300, "other": 300}}}
    profile = load("minimal", overrides={"counter": "estimate", "stages": [stage]}, env={}, cwd="/")
    return Session.open("s", profile, clock=clock, ledger=MemoryLedger("memory:"), blobs=MemoryBlobs("memory:"))


def replayed(path: Path) -> Recording:
    """The recording in a file."""
    source = decode(path, [NAME])
    assert sniff(source)
    return read(source)


def test_replay_gives_the_same_requests_usage_and_clock(tmp_path: Path) -> None:
    """Over growth, changes of the history and pauses: what the session prepared then it prepares again."""
    clock, talk, sent = Clock(), Talk(random.Random(7), "x"), []
    session = opened(clock)
    recorder = Recorder(tmp_path / "talk.jsonl", session)
    for n in range(30):
        request = session.prepare(talk.messages, system="be good", tools=[{"name": "Read"}])
        sent.append((json.dumps(request.messages), session.context.now))
        session.observe({"usage": {"input_tokens": 100 + n, "cache_read_input_tokens": 10}, "model": "claude-opus-5-5"})
        talk.rewind() if n % 10 == 9 else talk.rewrite() if n % 10 == 4 else None
        talk.step()
    recorder.close()
    session.prepare(talk.messages)  # no longer recorded

    recording = replayed(tmp_path / "talk.jsonl")
    assert (recording.session, recording.dialect, recording.system) == ("s", "anthropic", "be good")
    assert recording.tools == [{"name": "Read"}]
    now = iter(request.now for request in recording.requests)
    again = opened(lambda: next(now))
    got = []
    for number, one in enumerate(recording.requests):
        request = again.prepare(one.messages, recording.system, recording.tools)
        got.append((json.dumps(request.messages), one.now))
        assert one.usage == {"input_tokens": 100 + number, "cache_read_input_tokens": 10}
        assert one.model == "claude-opus-5-5"
        again.observe({"usage": one.usage, "model": one.model})
    assert got == sent
    assert len({one.branch for one in recording.requests}) > 3


def test_each_message_is_written_once(tmp_path: Path) -> None:
    """Also where the answer comes back in the next request, cache markers move, and two conversations alternate."""
    path, one, other = tmp_path / "talk.jsonl", rounds("anthropic", 8, "one"), rounds("anthropic", 8, "other")
    other[0] = {"role": "user", "content": "Another task."}
    with Recorder(path, clock=Clock()) as recorder:
        for length in range(1, 16, 2):
            for messages in (one, other):
                last = {"role": messages[length - 1]["role"], "content": list(messages[length - 1]["content"])}
                if length > 1:
                    last["content"][-1] = {**last["content"][-1], "cache_control": {"type": "ephemeral"}}
                else:
                    last = messages[0]
                recorder.request([*messages[: length - 1], last])
                recorder.response({**messages[length], "usage": {"input_tokens": 5}})
    recording = replayed(path)
    assert [request.messages for request in recording.requests[-2:]] == [one[:15], other[:15]]
    assert [request.answer for request in recording.requests[::2]] == one[1:16:2]
    text = path.read_text()
    assert all(text.count(f'"call_{n}", "name"') == 2 for n in range(8))
    assert {request.branch for request in recording.requests} == {0, 1}


def test_a_crash_leaves_a_readable_file_that_is_continued(tmp_path: Path) -> None:
    """Each row is on disk when the call returns; half a last line is left behind, the rest goes on after it."""
    path, messages = tmp_path / "talk.jsonl", rounds("anthropic", 4)
    recorder = Recorder(path, clock=Clock())
    recorder.request(messages[:1])
    recorder.request(messages[:3])
    assert len(replayed(path).requests) == 2
    recorder.close()
    with path.open("a") as file:
        file.write('{"kind": "request", "at": 9, "bra')
    before = path.stat().st_size
    with Recorder(path, clock=Clock()) as again:
        again.request(messages[:5])
    recording = replayed(path)
    assert [request.messages for request in recording.requests] == [messages[:1], messages[:3], messages[:5]]
    assert {request.branch for request in recording.requests} == {0}
    assert json.dumps(messages[0])[1:-1] not in path.read_bytes()[before:].decode()


def test_async_requests_and_neutral_usage_are_recorded(tmp_path: Path) -> None:
    """`aprepare` and a `Usage` object."""
    session, path = opened(Clock()), tmp_path / "talk.jsonl"
    with Recorder(path, session):
        asyncio.run(session.aprepare(rounds("anthropic", 2)))
        session.observe(Usage(read=10, written=20, fresh=30, output=4, model="claude-opus-5-5"))
    (request,) = replayed(path).requests
    usage = session.dialect.usage({"usage": request.usage, "model": request.model})
    assert usage is not None
    assert (usage.read, usage.written, usage.fresh, usage.model) == (10, 20, 30, "claude-opus-5-5")


def test_what_cannot_be_recorded_costs_a_warning(tmp_path: Path) -> None:
    """A message that is none reaches the session, which knows what to do with it."""
    session = opened(Clock())
    with Recorder(tmp_path / "talk.jsonl", session), pytest.warns(RuntimeWarning, match="not recorded: TypeError"):
        assert session.prepare(["no message"]).messages == ["no message"]


def test_another_file_is_not_overwritten(tmp_path: Path) -> None:
    """A file that is no recording of this session is named, and left alone."""
    path = tmp_path / "talk.jsonl"
    path.write_text('{"role": "user", "content": "hi"}\n')
    with pytest.raises(TranscriptError, match=r"talk.jsonl:1: no recording of session 's'"):
        Recorder(path, opened(Clock()))
    assert path.read_text() == '{"role": "user", "content": "hi"}\n'


def test_a_row_that_does_not_fit_is_named_with_its_line(tmp_path: Path) -> None:
    """As a later format would have it."""
    path = tmp_path / "talk.jsonl"
    Recorder(path).close()
    with path.open("a") as file:
        file.write('{"kind": "picture"}\n')
    with pytest.raises(TranscriptError, match=r"talk.jsonl:2: no row of a recording"):
        replayed(path)


def test_a_second_recorder_on_a_file_is_refused(tmp_path: Path) -> None:
    """At once, and until the first is closed; the file stays as it was."""
    path = tmp_path / "talk.jsonl"
    with Recorder(path) as first:
        before = path.read_bytes()
        with pytest.raises(TranscriptError, match=r"talk.jsonl: another recorder writes this file"):
            Recorder(path)
        assert path.read_bytes() == before
        first.request([{"role": "user", "content": "hi"}])
    Recorder(path).close()
    assert len(replayed(path).requests) == 1


def test_a_full_disk_leaves_whole_rows_and_nothing_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row that was not recorded does not come with the next, and what follows is what was said."""
    path, messages = tmp_path / "talk.jsonl", rounds("anthropic", 4)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Recorder(path, clock=Clock()) as recorder:
        recorder.request(messages[:1])
        before = path.read_bytes()
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, hard))
        try:
            with pytest.raises(OSError, match="too large"):
                recorder.request(messages[:3])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, ignored)
        assert path.read_bytes() == before
        recorder.request(messages[:5])
        recorder.response({"usage": {"input_tokens": 7}})
    recording = replayed(path)
    assert [request.messages for request in recording.requests] == [messages[:1], messages[:5]]
    assert [request.usage for request in recording.requests] == [None, {"input_tokens": 7}]
    assert not recording.skipped


def test_answers_of_several_items(tmp_path: Path) -> None:
    """Each item is written once, and the answer is all of them, also where the agent did not go on with it."""
    path, items = tmp_path / "talk.jsonl", rounds("responses", 3)
    usage = {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}}
    with Recorder(path, dialect="responses") as recorder:
        for length in (1, 4, 7):
            recorder.request(items[:length], "Be brief.")
            recorder.response({"output": items[length : length + 2], "usage": usage, "model": "gpt-6"})
    recording = replayed(path)
    assert (recording.dialect, recording.system) == ("responses", "Be brief.")
    assert [request.messages for request in recording.requests] == [items[:1], items[:4], items[:7]]
    assert [[one.answer, *one.rest] for one in recording.requests] == [items[1:3], items[4:6], items[7:9]]
    assert [one.usage for one in recording.requests] == [usage] * 3
    assert all(path.read_text().count(f'"id": "msg_{n}"') == 1 for n in range(3))


@pytest.mark.parametrize("at", [math.nan, math.inf, -math.inf, 1e12, 10**400, "soon"])
def test_a_time_that_is_none_is_refused(tmp_path: Path, at: Any) -> None:
    """Nothing of the request is written."""
    with Recorder(tmp_path / "talk.jsonl") as recorder:
        with pytest.raises(ValueError, match=r"at .*does not fit"):
            recorder.request([{"role": "user", "content": "hi"}], at=at)
        assert '"request"' not in recorder.path.read_text()


@pytest.mark.parametrize("split", [True, False])
@pytest.mark.parametrize("dialect", ["anthropic", "openai"])
def test_usage_of_a_dialect_without_known_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dialect: str, split: bool
) -> None:
    """A `Usage` goes into the file as it is, and comes back for dialects that read either provider's words."""
    monkeypatch.setattr("trimtab.testing.recorder.WIRES", {})
    said = Usage(read=10.0, written=20.0, fresh=30.0, output=4.0, model="m")
    if not split:
        said = Usage(read=0.0, written=0.0, fresh=60.0, output=4.0, model="m", split=False)
    with Recorder(tmp_path / "talk.jsonl") as recorder:
        recorder.request([{"role": "user", "content": "hi"}])
        recorder.response(said)
    (request,) = replayed(tmp_path / "talk.jsonl").requests
    usage = part("dialect", dialect)().usage({"usage": request.usage, "model": request.model})
    assert (usage.read, usage.written, usage.fresh, usage.output, usage.model) == (
        said.read,
        said.written,
        said.fresh,
        said.output,
        "m",
    )


@pytest.mark.parametrize("response", [{"choices": ["x"]}, {"choices": [{"message": 5}]}, {"usage": "x", "model": 5}])
def test_odd_responses_leave_a_readable_file(tmp_path: Path, response: Any) -> None:
    """What is none is recorded as none."""
    with Recorder(tmp_path / "talk.jsonl") as recorder:
        recorder.request([{"role": "user", "content": "hi"}])
        recorder.response(response)
    (request,) = replayed(tmp_path / "talk.jsonl").requests
    assert (request.usage, request.model, request.answer) == (None, None, None)


REQUEST = {"kind": "request", "at": 1.0, "head": 0, "branch": 0, "messages": [{"role": "user", "content": "hi"}]}
RESPONSE = {"kind": "response", "request": 0, "usage": None, "model": None, "answer": None}
ODD: list[tuple[dict[str, Any], str, list[Any]]] = [
    (REQUEST, "at", [None, True, "1", math.nan, math.inf, 1e12, 10**400, [[]]]),
    (REQUEST, "head", [None, True, "0", 0.0, 1, -1, []]),
    (REQUEST, "branch", [None, False, 2, -1, 0.0, {}]),
    (REQUEST, "messages", [None, {}, "x", [None], [{}], [{"role": 5}]]),
    (RESPONSE, "request", [None, False, 1, -1, []]),
    (RESPONSE, "usage", ["x", 5, [], {"trimtab.Usage": 5}, {"trimtab.Usage": {"read": 1}}]),
    (RESPONSE, "model", [5, {}]),
    (RESPONSE, "answer", ["x", 5, [], {}, {"role": None}]),
    ({"kind": "recording", "version": 1, "session": "s", "dialect": "d"}, "session", [None, 5, {}]),
]


@pytest.mark.parametrize(("row", "key", "value"), [(row, key, value) for row, key, odd in ODD for value in odd])
def test_a_row_with_a_value_that_does_not_fit_is_named(tmp_path: Path, row: Any, key: str, value: Any) -> None:
    """Whatever stands in the file: the line and the key, and no other error."""
    path = tmp_path / "talk.jsonl"
    with Recorder(path) as recorder:
        recorder.request([{"role": "user", "content": "hi"}])
    replayed(path)
    with path.open("a") as file:
        file.write(json.dumps({**row, key: value}) + "\n")
    with pytest.raises(TranscriptError, match=rf"talk.jsonl:4: no row of a recording .*{key}"):
        replayed(path)
    with pytest.raises(TranscriptError, match=r"talk.jsonl:4: no row of a recording"):
        Recorder(path)
    path.write_text("[]")
    with pytest.raises(TranscriptError, match="no recording of session"):
        Recorder(path)
