"""Every shipped profile on recorded sessions in small and large windows: nothing goes wrong, and every request fits.

Prints no contents: a failure names the session's file and what was counted. tests/benchmarks/profiles.py gives the
figures of all sessions.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from machine import SHARED
from sweep import PROFILES, WINDOWS, looked, sweep
from trimtab.replay.setup import files

FILES = list(files([SHARED / "corpus"])) if (SHARED / "corpus").is_dir() else []
FEW = (
    "agent-a2898e3",  # parallel calls; more than fits into the smallest window
    "agent-acompact-e1f845",  # one request of 173k tokens, mostly unseen
    "file-ops-37b7abef",
    "django-15320",
    "gpt4_pydicom-1458",
)

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not FILES, reason="the recorded sessions (../shared/corpus) are not here"),
]


def check(path: Path, window: int) -> None:
    """Under all profiles: no exception, invalid request, lost pin or unexplained rewrite, and below the window."""
    recording = looked(path, window)
    for name in PROFILES:
        assert sweep(recording, name, window).wrong() == {}, name


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("word", FEW)
def test_profiles_hold_on_a_few_sessions(word: str, window: int) -> None:
    """Short ones, of four agents."""
    (path,) = (path for path in FILES if word in path.name)
    check(path, window)


MANY = [(path, window) for window, step in zip(WINDOWS, (1, 3, 8), strict=True) for path in FILES[::step]]
"""The smaller the window, the more sessions: tests/benchmarks/profiles.py takes all of them in each."""


@pytest.mark.slow
@pytest.mark.parametrize(("path", "window"), MANY, ids=lambda given: getattr(given, "stem", given))
def test_profiles_hold_on_many_sessions(path: Path, window: int) -> None:
    """Every session in the smallest window, some in the larger ones."""
    check(path, window)
