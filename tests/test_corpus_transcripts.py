"""The recorded coding sessions beside the repository: what the reader makes of them, in counts."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from trimtab.dialects.anthropic.validate import validate
from trimtab.transcripts import Recording, read

FOLDER = Path(__file__).resolve().parents[1].parent / "shared" / "corpus" / "claude-code"
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
