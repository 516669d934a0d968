"""`Replace` of a call: shorter arguments with the same keys, and the way back to what was written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from play import Play, call, decided, edits, result, says, shown, talk, user, why
from stages import Do
from trimtab import Replace
from trimtab.storage.files import FileBlobs

BODY = "def parse(text):\n    return text\n" * 100


def written() -> list[dict[str, Any]]:
    """A conversation that began with a file being written."""
    write = {**call("w"), "name": "Write", "input": {"file_path": "/src/a.py", "content": BODY}}
    return [user("Write it."), says(write), user(result("w", "File written.")), *talk(2)[1:]]


def sent(text: str, **options: Any) -> tuple[Play, Any]:
    """The session, and its cold request after `do` replaced the arguments of the write by ``text``."""
    play = Play(Do, stages=[{"do": {"when": "cold"}}], **options)
    Do.now = None
    play.send(written())
    Do.now = lambda view: [Replace(view.messages[1].message.blocks[0], text, "long input")]
    return play, play.cold(written())


def test_arguments_become_shorter(tmp_path: Path) -> None:
    """The call keeps its id and name; what it said is stored, and explained."""
    short = {"file_path": "/src/a.py", "content": "[100 lines]"}
    play, request = sent(json.dumps(short), blobs=FileBlobs(f"file://{tmp_path}/b"))
    assert request.messages[1]["content"] == [{**call("w"), "name": "Write", "input": short}]
    (row,) = edits(play, "replace")
    assert json.loads(Path(row["way_back"][0]).read_text())["content"] == BODY
    play.session.restore(row["decision"])
    assert play.cold(written()).messages[1] == written()[1]


@pytest.mark.parametrize(
    "text",
    [
        "[cleared]",
        "[1]",
        "{}",
        '{"file_path": "/src/a.py"}',
        '{"file_path": "/src/a.py", "content": "", "more": 1}',
        '{"file_path": "/src/a.py", "content": NaN}',
        '{"file_path": "/src/a.py", "content": "\\ud83d"}',
        "[" * 100_000,
    ],
    ids=lambda text: text[:40],
)
def test_nothing_but_arguments_of_the_same_keys(text: str) -> None:
    """What a tool would not take, or a provider not read, is refused."""
    _, request = sent(text)
    assert decided(request) == []
    assert why(request, "do") == {"not a JSON object with the call's keys": 1}
    assert BODY[:30] in shown(request).replace("\\n", "\n")
