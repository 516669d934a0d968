"""What stages remember, and rows that cannot be read (R11)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from play import Play, decided, talk, why
from stages import Budget, Do
from trimtab import Note
from trimtab.errors import StorageError
from trimtab.storage.memory import MemoryLedger


@pytest.mark.parametrize("data", ["", None, 0, [], {}, [1, [2]], {"a": [1, None]}, "\ud83d", 1.5, True], ids=repr)
def test_notes_come_back_as_they_were(data: Any) -> None:
    """A stage's note is JSON, the same in the pass, in the next one and in the next process; never a live object."""
    seen: list[Any] = []
    said = {"note": data}
    Do.now = lambda view: [Note("mine", said["note"])] if not seen else ()
    play = Play(Do, stages=["do"])
    for again in (False, False, True):
        if again:
            play.again()
        play.send(talk(1))
        seen.append(play.session.view.notes("mine"))
        if isinstance(data, list):
            data_before = json.dumps(data)
            data.append("changed by the stage")
            assert json.dumps(seen[-1]) == data_before if len(seen) == 1 else True
            data.pop()
    assert seen == [data] * 3
    assert [type(note) for note in seen] == [type(data)] * 3


@pytest.mark.parametrize("data", [{1, 2}, object(), b"x", [object()]], ids=["set", "object", "bytes", "nested"])
def test_notes_that_are_no_json(data: Any) -> None:
    """Refused: they can not be recorded, and nothing else suffers."""
    Do.now = lambda view: [Note("mine", data)]
    request = Play(Do, Budget, stages=["do", "budget"]).send(talk(1))
    assert why(request, "do") == {"data must be JSON": 1}
    assert decided(request) == ["budget"]


def test_a_stage_cannot_write_the_kernels_notes() -> None:
    """No stage can open another one's breaker, or shut its own."""
    Do.now = lambda view: [Note("kernel:budget:breaker", "down"), Note("kernel:x:asked", True)]
    play = Play(Do, Budget, stages=["do", "budget"])
    request = play.send(talk(1))
    assert why(request, "do") == {"a note of the kernel": 2}
    assert decided(request) == ["budget"]


@pytest.mark.parametrize(
    "row", ["no json", "[]", "{}", "5", '{"v":1}', '{"v":1,"edits":[{"kind":"nope"}],"aliases":{}}']
)
def test_a_damaged_row_is_named(row: str) -> None:
    """A ledger that cannot be read is an error of storage that says which decision it is."""
    ledger = MemoryLedger("memory:")
    ledger.append("s", 0, [row])
    with pytest.raises(StorageError, match="decision 1 is damaged"):
        Play(ledger=ledger)


def test_a_row_of_a_newer_version_is_not_misread() -> None:
    """It is refused whole."""
    ledger = MemoryLedger("memory:")
    ledger.append("s", 0, ['{"v":99}'])
    with pytest.raises(StorageError, match="newer version of trimtab; upgrade"):
        Play(ledger=ledger)
