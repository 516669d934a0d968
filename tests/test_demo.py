"""The packaged demonstration session: it is read whole, shows what it is for, and names no machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from itertools import pairwise

import pytest
from trimtab.transcripts import Recording, Request, read

DEMO = resources.files("trimtab.replay") / "demo.jsonl"
LIMIT = 350_000
"""Bytes; it is part of the distribution."""


@pytest.fixture(scope="module")
def recording() -> Recording:
    """The session as the reader gives it."""
    return read(str(DEMO))


def usage(request: Request) -> Mapping[str, int]:
    """The usage of a request; every one of this session has it."""
    assert request.usage is not None
    return request.usage


def results(recording: Recording) -> list[str]:
    """The texts of all tool results."""
    blocks = [block for message in recording.requests[-1].messages for block in message["content"]]
    return [block["content"] for block in blocks if isinstance(block, dict) and block["type"] == "tool_result"]


def test_reader_reads_all_of_it(recording: Recording) -> None:
    """All requests in one branch, nothing skipped, each with usage that grows with the messages."""
    assert (len(recording.requests), recording.skipped, recording.notes) == (62, {}, [])
    assert {(request.branch, request.model) for request in recording.requests} == {(0, "scripted")}
    sides = [[usage(request)[name] for name in usage(request) if "input" in name] for request in recording.requests]
    sizes = [sum(side) for side in sides]
    assert all(later > earlier for earlier, later in pairwise(sizes))


def test_pauses_outlive_the_cache(recording: Recording) -> None:
    """Two pauses are longer than five minutes, and the usage shows that nothing was read from the cache then."""
    requests = recording.requests
    late = [later for earlier, later in pairwise(requests) if later.now - earlier.now > 300]
    assert len(late) == 2
    assert [request for request in requests[1:] if not usage(request)["cache_read_input_tokens"]] == late


def test_there_is_something_to_save(recording: Recording) -> None:
    """Some results are bigger than the default profile's limit for any shell command."""
    assert sum(len(text) > 4_000 for text in results(recording)) >= 5
    assert max(len(text) for text in results(recording)) > 12_000


def test_no_machine_shows_through() -> None:
    """Small, and all absolute paths lie in the one folder that the session says it is in."""
    text = DEMO.read_text(encoding="utf-8")
    assert len(text.encode()) <= LIMIT
    paths = re.findall(r"(?<![\w./:~-])/(?:home|root|tmp|usr|opt|var|srv|Users)/[\w./-]+", text)
    assert {"/".join(path.split("/")[:4]) for path in paths} == {"/home/user/trimtab"}
