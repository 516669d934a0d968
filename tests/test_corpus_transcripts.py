"""The recorded coding sessions beside the repository: what the reader makes of them, in counts."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from trimtab.dialects import responses
from trimtab.dialects.anthropic.validate import validate
from trimtab.transcripts import Recording, read

CORPUS = Path(__file__).resolve().parents[1].parent / "shared" / "corpus"
FOLDER = CORPUS / "claude-code"
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="the recorded sessions are not beside the repository"),
]

SIZES = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
SPOTTER = "marot-spotter__4d5611e5-241a-462a-8d15-5122611a9569"
# file: messages, responses, calls, results, largest size in tokens, lines of the compaction boundaries
TABLE: dict[str, tuple[int, int, int, int, int, tuple[int, ...]]] = {
    "entireio-cli__bccb77bb88fa-1": (719, 198, 195, 195, 156_579, (347, 640)),
    "entireio-cli__b0dc55b3a1dc-1": (483, 131, 128, 128, 154_505, (483,)),
    "entireio-cli__94de498254e2-0": (388, 112, 116, 116, 147_774, ()),
    "entireio-cli__7d66f047ac98-0": (381, 122, 111, 111, 135_152, ()),
    "entireio-cli__8cfa910f8ef9-0": (204, 59, 56, 55, 93_300, ()),
    "entireio-cli__26dcd5518fea-0": (247, 89, 74, 74, 148_007, ()),
    "entireio-cli__7674489fb0a9-0": (122, 43, 49, 48, 167_078, (267,)),
    "entireio-cli__ec38b74f08e3-3": (142, 40, 38, 38, 98_644, ()),
    "entireio-cli__102b7007badc-0": (18, 7, 7, 7, 154_646, ()),
    "entireio-cli__e9a4a3c25669-0": (143, 45, 51, 51, 161_702, ()),
    "entireio-cli__1e868c83dbb7-0": (66, 20, 13, 13, 60_660, ()),
    "entireio-cli__d37d736cbc10-0": (77, 16, 21, 21, 111_694, ()),
    SPOTTER: (408, 139, 150, 150, 164_831, (754,)),
    f"{SPOTTER}_subagents_agent-a2898e3": (
        74,
        12,
        33,
        33,
        71_257,
        (),
    ),
    f"{SPOTTER}_subagents_agent-acompact-e1f845": (
        5,
        1,
        0,
        0,
        173_514,
        (),
    ),
    "chiphuyen-sniffly__d3ad4cdc-5657-435d-98fa-0035d53e383d": (136, 62, 59, 58, 105_848, ()),
    "chiphuyen-sniffly__fed8ce56-bc79-401f-a83e-af084253362f": (20, 4, 7, 7, 16_008, ()),
    "codemie-ai-codemie-code__session-196820da": (214, 47, 65, 65, 141_315, ()),
    "codemie-ai-codemie-code__claude_incremental-subagents_turn-2": (45, 11, 14, 14, 51_987, ()),
}
TORN = {"entireio-cli__7d66f047ac98-0": 1, "entireio-cli__8cfa910f8ef9-0": 2}
UNRECORDED = {"entireio-cli__7d66f047ac98-0": 1}
SYNTHETIC = {"entireio-cli__8cfa910f8ef9-0": 1}
LATE = {
    "entireio-cli__ec38b74f08e3-3",
    "entireio-cli__102b7007badc-0",
    f"{SPOTTER}_subagents_agent-acompact-e1f845",
}
# certain faults of a recording, which are the recording's own: unanswered calls, orphans, blank texts
FAULTS: dict[str, dict[str, int]] = {
    "entireio-cli__8cfa910f8ef9-0": {"A1": 1},
    "entireio-cli__7674489fb0a9-0": {"A1": 1},
    "entireio-cli__ec38b74f08e3-3": {"A1": 1, "A2": 1},
    "entireio-cli__102b7007badc-0": {"A1": 1, "A2": 1},
    "entireio-cli__e9a4a3c25669-0": {"A7": 1},
    SPOTTER: {"A7": 6},
    "chiphuyen-sniffly__d3ad4cdc-5657-435d-98fa-0035d53e383d": {"A1": 1},
}


@pytest.fixture(scope="module")
def recordings() -> dict[str, Recording]:
    """All files, read once; reading all of them takes under five seconds."""
    begin = time.perf_counter()
    found = {path.stem: read(path) for path in sorted(FOLDER.glob("*.jsonl"))}
    assert time.perf_counter() - begin < 5
    return found


def histories(recording: Recording) -> list[list[dict[str, Any]]]:
    """The whole history of each branch, in order."""
    return list({id(request.history): request.history for request in recording.requests}.values())


def ids(recording: Recording, type: str, key: str) -> set[str]:
    """The distinct ids under ``key`` in the blocks of a type."""
    contents = [message["content"] for history in histories(recording) for message in history]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return {block[key] for block in blocks if block["type"] == type}


def test_every_file_is_in_the_table(recordings: dict[str, Recording]) -> None:
    """No file is left out, and each is found to be what it is."""
    assert set(recordings) == set(TABLE)
    assert {recording.format for recording in recordings.values()} == {"claude-code"}
    assert len({recording.session for recording in recordings.values()}) == len(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_counts_are_those_measured(recordings: dict[str, Recording], name: str) -> None:
    """Messages, responses, calls, results and the largest request are those of the table."""
    recording = recordings[name]
    sizes = [sum(request.usage[key] for key in SIZES) for request in recording.requests if request.usage]
    assert (
        recording.records + recording.skipped.get("synthetic answers", 0),
        len(recording.requests),
        len(ids(recording, "tool_use", "id")),
        len(ids(recording, "tool_result", "tool_use_id")),
        max(sizes),
    ) == TABLE[name][:5]
    assert len(sizes) == len(recording.requests)


@pytest.mark.parametrize("name", TABLE)
def test_boundaries_and_damage_are_those_measured(recordings: dict[str, Recording], name: str) -> None:
    """Each compaction boundary is a branch and a note; torn, repeated and made-up records are counted."""
    recording = recordings[name]
    lines = TABLE[name][5]
    notes = [note.partition(":")[0] for note in recording.notes if ": compaction boundary (auto, " in note]
    assert notes == [f"line {line}" for line in lines]
    assert sorted({request.branch for request in recording.requests}) == list(range(len(lines) + 1))
    damage = ["torn lines", "duplicate records", "synthetic answers", "undecodable lines"]
    torn = TORN.get(name, 0)
    assert [recording.skipped.get(words, 0) for words in damage] == [torn, torn, SYNTHETIC.get(name, 0), 0]
    assert {request.mid_session for request in recording.requests} == {name in LATE}


@pytest.mark.parametrize("name", TABLE)
def test_requests_are_in_order(recordings: dict[str, Recording], name: str) -> None:
    """The clock never runs back, a branch only grows, and the answer is the message behind the request."""
    requests = recordings[name].requests
    clocks = [request.now for request in requests]
    assert clocks == sorted(clocks)
    assert min(clocks) > 1_700_000_000
    for before, after in itertools.pairwise(requests):
        assert (after.branch, after.length) > (before.branch, before.length)
    assert all(request.history[request.length] is request.answer for request in requests)
    behind = sum(request.messages[-1]["role"] == "assistant" for request in requests)
    assert behind == UNRECORDED.get(name, 0)
    told = any("nothing recorded between" in note for note in recordings[name].notes)
    assert told == (behind > 0)


@pytest.mark.parametrize("name", TABLE)
def test_faults_are_the_recordings_own(recordings: dict[str, Recording], name: str) -> None:
    """Merging and ordering leave no fault but what was recorded: unanswered calls, orphans, blank texts."""
    faults = Counter(
        violation.rule
        for history in histories(recordings[name])
        for violation in validate(history)
        if violation.certain
    )
    assert dict(faults) == FAULTS.get(name, {})


def test_behind_a_boundary_stands_its_summary(recordings: dict[str, Recording]) -> None:
    """A branch starts with the recorded summary, of the measured length but for masking (0.3 %)."""
    measured = {"bccb": [12_775, 11_613], "b0dc": [11_928], "7674": [6_954], "4d56": [15_743]}
    for name, recording in recordings.items():
        starts = [history[0]["content"] for history in histories(recording)[1:]]
        expected = next((lengths for key, lengths in measured.items() if f"__{key}" in name and starts), [])
        assert [len(content) for content in starts] == pytest.approx(expected, rel=0.003), name


def test_progress_is_counted(recordings: dict[str, Recording]) -> None:
    """The bulk of some files is no conversation, and the recording says so."""
    assert recordings[SPOTTER].skipped["progress records"] == 1_083


def test_the_clients_own_clearing_is_noted(recordings: dict[str, Recording]) -> None:
    """Micro-compact boundaries change nothing but are told of, by line."""
    notes = recordings["entireio-cli__b0dc55b3a1dc-1"].notes
    cleared = [note.partition(":")[0] for note in notes if "cleared by the client" in note]
    assert cleared == ["line 215", "line 352"]


# ------------------------------------------------------------------ the other formats

FORMATS = {
    "codex-rollout": ("codex", "responses"),
    "gemini-cli": ("gemini-cli", "openai"),
    "mini-swe-agent": ("mini-swe-agent", "openai"),
    "openhands-events": ("openhands", "openai"),
    "pi": ("pi", "anthropic"),
    "swe-agent": ("swe-agent", "openai"),
}
CODEX = "codemie-ai-codemie-code__rollout-2026-05-11T11-26-55-019e1625-789d-76c0-80ab-3724b5ddb799"
GEMINI = "codemie-ai-codemie-code__session-2026-01-16T11-01-file-ops-37b7abef"
HANDS = "thefaftek-git-tls_scanner__trajectory"
PI = "badlogic-pi-mono__large-session"
CALLING = "SWE-agent-SWE-agent__function_calling_marshmallow-1867"
TEXTUAL = "SWE-agent-SWE-agent__gpt4_pydicom-1458"
DIED = "sqlfluff__sqlfluff-1517"
# file: records read, requests, calls, results, largest size in tokens
OTHERS: dict[str, tuple[int, int, int, int, int]] = {
    CODEX: (249, 66, 102, 102, 131_573),
    GEMINI: (14, 9, 14, 14, 11_451),
    HANDS: (178, 88, 82, 82, 64_223),  # 7 + 1 messages, 88 actions, of which 6 are ends, 82 observations
    PI: (899, 438, 373, 373, 177_604),  # of 914: 14 answers without content and size, 1 of an aborted call alone
    CALLING: (24, 11, 11, 11, 0),
    TEXTUAL: (26, 12, 0, 0, 0),
}
# file: messages with the one of the end, calls, largest size; each answer holds one call
MINI: dict[str, tuple[int, int, int]] = {
    "astropy__astropy-12907": (74, 36, 23_062),
    "django__django-11422": (206, 102, 48_259),
    "django__django-11564": (216, 107, 61_915),
    "django__django-11815": (112, 55, 24_079),
    "django__django-12286": (156, 77, 33_315),
    "django__django-12708": (148, 73, 35_861),
    "django__django-12915": (130, 64, 33_574),
    "django__django-15061": (164, 81, 27_475),
    "django__django-15320": (128, 63, 26_493),
    "django__django-15814": (232, 115, 48_451),
    "pvlib__pvlib-python-1606": (196, 97, 61_030),
    "pvlib__pvlib-python-1707": (192, 95, 51_193),
    "pydicom__pydicom-1139": (166, 82, 33_323),
    "pydicom__pydicom-1413": (210, 104, 48_150),
    "pydicom__pydicom-901": (78, 38, 14_840),
    "pylint-dev__astroid-1866": (190, 94, 40_682),
    "pylint-dev__astroid-1978": (144, 71, 23_035),
    DIED: (217, 107, 62_326),
    "sqlfluff__sqlfluff-1625": (114, 56, 30_786),
}
OTHERS |= {name: (all - 1, calls, calls, calls - (name != DIED), size) for name, (all, calls, size) in MINI.items()}


@pytest.fixture(scope="module")
def others() -> dict[str, Recording]:
    """The files of all other formats, read once."""
    paths = [path for folder in FORMATS for path in sorted((CORPUS / folder).iterdir())]
    return {path.name.partition(".")[0]: read(path) for path in paths}


def test_other_files_are_found_to_be_what_they_are(others: dict[str, Recording]) -> None:
    """No file is left out, and each is read by the reader of its format, in its dialect."""
    assert set(others) == set(OTHERS)
    for recording in others.values():
        assert (recording.format, recording.dialect) == FORMATS[Path(recording.path).parent.name]


def calls(message: dict[str, Any]) -> list[str]:
    """Ids of the calls in a message of any dialect."""
    content = message["content"] if isinstance(message.get("content"), list) else []
    blocks = [block["id"] for block in content if block["type"] == "tool_use"]
    blocks += [message["call_id"]] if message.get("type") in ("custom_tool_call", "function_call") else []
    return blocks + [call["id"] for call in message.get("tool_calls", ())]


def results(message: dict[str, Any]) -> list[str]:
    """Ids of the calls that a message of any dialect answers."""
    if message.get("role") == "tool":
        return [message["tool_call_id"]]
    if str(message.get("type")).endswith("_call_output"):
        return [message["call_id"]]
    content = message["content"] if isinstance(message.get("content"), list) else []
    return [block["tool_use_id"] for block in content if block["type"] == "tool_result"]


@pytest.mark.parametrize("name", OTHERS)
def test_other_counts_are_those_measured(others: dict[str, Recording], name: str) -> None:
    """Records, requests, distinct calls and results, and the largest request are those of the table."""
    recording = others[name]
    messages = [message for history in histories(recording) for message in history]
    anthropic = recording.dialect == "anthropic"
    usages = [request.usage for request in recording.requests if request.usage]
    total = "input_tokens" if recording.dialect == "responses" else "prompt_tokens"
    sizes = [sum(usage[key] for key in SIZES) if anthropic else usage[total] for usage in usages]
    assert (
        recording.records,
        len(recording.requests),
        len({id for message in messages for id in calls(message)}),
        len({id for message in messages for id in results(message)}),
        max(sizes, default=0),
    ) == OTHERS[name]
    assert len(sizes) == (0 if name in (CALLING, TEXTUAL) else len(recording.requests))


@pytest.mark.parametrize("name", OTHERS)
def test_other_calls_have_their_results_behind_them(others: dict[str, Recording], name: str) -> None:
    """Every call is answered once, directly behind its answer; only a last one may wait."""
    for history in histories(others[name]):
        waiting: list[str] = []
        for message in history:
            found = results(message)
            assert not waiting or found or message.get("type") in ("custom_tool_call", "function_call")
            for id in found:
                waiting.remove(id)
            waiting += calls(message)
        assert len(waiting) == (name in MINI and name != DIED)
        asked = [id for message in history for id in calls(message)]
        assert len(asked) == len(set(asked))


@pytest.mark.parametrize("name", OTHERS)
def test_other_requests_are_in_order(others: dict[str, Recording], name: str) -> None:
    """The clock never runs back, a branch only grows, and the answer is the message behind the request."""
    requests = others[name].requests
    clocks = [request.now for request in requests]
    assert clocks == sorted(clocks)
    assert (min(clocks) > 1_700_000_000) == (name not in (CALLING, TEXTUAL))
    for before, after in itertools.pairwise(requests):
        assert (after.branch, after.length) > (before.branch, before.length)
    assert all(request.history[request.length] is request.answer for request in requests)


def test_what_was_left_out_is_counted(others: dict[str, Recording]) -> None:
    """What cannot be sent, was not sent or is no conversation is told, by kind."""
    assert others[CODEX].skipped == {"event_msg records": 68}
    assert others[PI].skipped == {
        "answers without content": 15,
        "calls without a result": 18,
        "model_change records": 1,
        "thinking_level_change records": 103,
    }
    assert sum(others[HANDS].skipped.values()) == 210 - 178 - 3
    assert [others[name].skipped for name in MINI] == [{"exit messages": 1}] * len(MINI)
    assert {name for name in (GEMINI, CALLING, TEXTUAL) if others[name].skipped} == set()


def test_ids_that_repeat_are_told(others: dict[str, Recording]) -> None:
    """Six ids for 11 calls; 55 for 88, of which the six that end a task are shown as text."""
    told = {name: note for name in OTHERS for note in others[name].notes if "unique by position" in note}
    assert told == {
        name: f"call ids that repeat, made unique by position: {n}" for name, n in [(CALLING, 5), (HANDS, 27)]
    }


def test_openhands_condensations(others: dict[str, Recording]) -> None:
    """Three condensations, two of them in a row, make three branches, each with its summary behind the task."""
    recording = others[HANDS]
    first = {request.branch: request for request in reversed(recording.requests)}
    sizes = [request.usage["prompt_tokens"] for _, request in sorted(first.items()) if request.usage]
    assert sizes == [7_373, 18_662, 23_427]
    summaries = [history[2]["content"] for history in histories(recording)[1:]]
    assert [len(summary) for summary in summaries] == pytest.approx([1_528, 1_762], rel=0.003)
    assert "results left out where their call was forgotten: 2" in recording.notes
    assert "calls that end the task, which nothing answers, shown as text: 6" in recording.notes


def test_codex_answers(others: dict[str, Recording]) -> None:
    """The developer's rules come first; reasoning and parallel calls are one answer; hits of 81 %; nothing to mend."""
    recording = others[CODEX]
    history = recording.requests[-1].history
    assert isinstance(recording.system, str)
    assert [item["role"] for item in history[:2]] == ["developer", "user"]
    answers = [[request.answer, *request.rest] for request in recording.requests]
    assert sum(map(len, answers)) == 13 + 25 + 102 + 3
    called = [sum(len(calls(item)) for item in answer if item) for answer in answers]
    assert sum(count - 1 for count in called if count > 1) == 38
    usages = [request.usage for request in recording.requests if request.usage]
    read_share = sum(usage["input_tokens_details"]["cached_tokens"] for usage in usages)
    assert read_share / sum(usage["input_tokens"] for usage in usages) == pytest.approx(0.81, abs=0.01)
    assert responses.validate(history) == []


def test_gemini_merges(others: dict[str, Recording]) -> None:
    """Nine calls in one answer, of three rounds; two more answers hold two rounds each."""
    history = others[GEMINI].requests[-1].history
    assert [len(calls(message)) for message in history if calls(message)] == [9, 1, 2, 2]
    assert others[GEMINI].notes == ["answers that merge several rounds, each read as one batch of calls: 3"]


def test_pi_is_what_anthropic_would_take(others: dict[str, Recording]) -> None:
    """No certain fault is left once aborted calls are out; the one signed thinking block is there."""
    history = histories(others[PI])[0]
    assert [violation for violation in validate(history) if violation.certain] == []
    signed = [block for entry in history for block in entry["content"] if block["type"] == "thinking"]
    assert len(signed) == 1
    assert signed[0]["signature"]


def test_mini_swe_agent_keeps_what_was_measured(others: dict[str, Recording]) -> None:
    """Hits and misses are as DeepSeek told them; a reasoner's reasoning is kept; nothing else is in a message."""
    for name in MINI:
        for request in others[name].requests:
            assert request.usage is not None
            hit, miss = request.usage["prompt_cache_hit_tokens"], request.usage["prompt_cache_miss_tokens"]
            assert hit + miss == request.usage["prompt_tokens"]
    keys = {"role", "content", "tool_calls", "tool_call_id"}
    held = {name: {key for entry in histories(others[name])[0] for key in entry} for name in MINI}
    assert held == {name: keys | ({"reasoning_content"} if name == DIED else set()) for name in MINI}
