"""Replay of the recorded sessions: nothing breaks, and no profile costs more than doing nothing.

Prints no contents: a failure names the session's file and the figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from trimtab import load
from trimtab.replay import Setup, replay
from trimtab.replay.report import row
from trimtab.replay.setup import files
from trimtab.transcripts import read

CORPUS = Path(__file__).resolve().parents[1].parent / "shared" / "corpus"
FOLDER = CORPUS / "claude-code"
FILES = sorted(FOLDER.glob("*.jsonl"))
OTHERS = sorted(files(path for path in CORPUS.glob("*") if path != FOLDER))
FORMATS = ("codex-rollout", "gemini-cli", "openhands-events", "swe-agent")
FEW = [
    "entireio-cli__7d66f047ac98-0",  # a torn line, a model switch, a fall without a record
    "entireio-cli__ec38b74f08e3-3",  # starts with an orphaned result
    "entireio-cli__102b7007badc-0",  # starts at 150k tokens
    "entireio-cli__7674489fb0a9-0",  # huge results, a boundary
    "chiphuyen-sniffly__fed8ce56-bc79-401f-a83e-af084253362f",  # four requests
    "marot-spotter__4d5611e5-241a-462a-8d15-5122611a9569_subagents_agent-acompact-e1f845",  # one request
]
PROFILES = ("minimal", "default")

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not FILES, reason="the recorded sessions (../shared/corpus) are not here"),
]


def figures(file: Path, profile: str, tmp_path: Path, setup: Setup) -> Mapping[str, Any]:
    """The row of one session under one profile."""
    recording = read(file)
    loaded = load(profile, cwd=tmp_path, env={"HOME": str(tmp_path)})
    return row([replay(recording, setup.adapt(loaded, recording), profile)], file.stem, profile)


def check(found: Mapping[str, Any]) -> None:
    """What holds for every session under every profile."""
    for key in ("exceptions", "invalid_requests", "pins_lost", "rewrites_unexplained"):
        assert found[key] == 0, (found["session"], found["profile"], key)
    assert found["requests"] > 0
    assert 0.0 <= found["visible_worst_decile"] <= found["visible"] <= found["recoverable"] <= 1.0
    assert found["strictly_visible"] <= found["visible"] + 1e-9  # sums of shares
    assert found["refetch_cost_after"] >= found["input_cost_after"]
    if found["profile"] == "minimal":
        assert found["visible"] == found["strictly_visible"] == 1.0
        # what repairs add to an invalid request is all that doing nothing costs
        assert found["input_cost_after"] == pytest.approx(found["input_cost_before"], rel=0.001)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", FEW)
def test_difficult_sessions(name: str, profile: str, tmp_path: Path) -> None:
    """The torn, orphaned, huge and tiny ones, with pins drawn by a seed."""
    check(figures(FOLDER / f"{name}.jsonl", profile, tmp_path, Setup(seed=1)))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("format", FORMATS)
def test_other_formats(format: str, profile: str, tmp_path: Path) -> None:
    """One session of each, with pins drawn by a seed; what is stored leads back."""
    file = next(file for file in OTHERS if file.parent.name == format)
    found = figures(file, profile, tmp_path, Setup(seed=1))
    check(found)
    # of Codex one word of one request is left, in results that are too long to be opened whole
    assert found["recoverable"] >= (0.998 if format == "codex-rollout" else 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("file", OTHERS, ids=lambda file: file.stem)
def test_every_other_session(file: Path, profile: str, tmp_path: Path) -> None:
    """All sessions of other agents, each priced as its own model where that is known."""
    check(figures(file, profile, tmp_path, Setup(seed=2)))


@pytest.mark.slow
@pytest.mark.parametrize("window", [200_000, 100_000, 30_000])
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_session(file: Path, profile: str, window: int, tmp_path: Path) -> None:
    """All sessions in three windows, each with other pins."""
    check(figures(file, profile, tmp_path, Setup(window=window, seed=window)))


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_default_costs_more_than_nothing_in_no_session(file: Path, tmp_path: Path) -> None:
    """Compared with `minimal`, which sends what was said and mends what is invalid; less where it decided anything."""
    minimal, default = (figures(file, profile, tmp_path, Setup()) for profile in PROFILES)
    assert default["input_cost_after"] <= minimal["input_cost_after"]
    if default["stages"]["tool-result-budget"]["fired"]:
        assert default["input_cost_after"] < minimal["input_cost_after"]
