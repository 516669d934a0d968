"""The text of a folded run, stored for a model to read; and what a stage is told of cache and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from play import Play, edits, rounds, talk
from stages import Do
from trimtab import Fold
from trimtab.storage.files import FileBlobs


def test_a_fold_stores_the_text_of_its_run(tmp_path: Path) -> None:
    """`full` lies where the view said it would, is the first way back, and stands in no ledger row."""
    play = Play(Do, stages=[{"do": {"when": "cold"}}], blobs=FileBlobs(f"file://{tmp_path}/b"))
    full = "Everything that was said, half a character (\ud83d) included.\n" * 50

    def fold(view: Any) -> Any:
        yield Fold(view.messages[1:5], f"Two reads. Full text: {view.stored_text(full)}", full=full)

    Do.now = None
    play.send(talk(4))
    Do.now = fold
    request = play.cold(talk(4))
    (row,) = edits(play, "fold")
    assert row["shown"] == f"Two reads. Full text: {row['way_back'][0]}"
    assert row["shown"] in str(request.messages[1])
    assert Path(row["way_back"][0]).read_text() == full.replace("\ud83d", "?")
    assert "Everything that" not in "".join(play.ledger.load("s"))
    Do.now = None
    play.again()
    assert play.send(talk(4)).messages == request.messages


def test_a_stage_is_told_what_the_cache_holds() -> None:
    """`held` counts the leading messages of the path that editing would make the provider read anew."""
    seen = []
    play = Play(Do, stages=["do"])
    Do.now = lambda view: seen.append(view.held) or []
    play.send(talk(2))
    play.send([*talk(2), *rounds(1, first=9)])
    play.cold([*talk(2), *rounds(2, first=9)])
    assert seen == [3, 5, 0]  # of a conversation met in mid-course the sent part is taken to be held


def test_reads_are_by_file_and_in_order() -> None:
    """`reads` lists reads and edits of a file, whatever tool made them, and no other calls."""
    seen: dict[str, list[str]] = {}
    messages = talk(2)
    edit = {"type": "tool_use", "id": "e", "name": "Edit", "input": {"file_path": "/src/c0.py"}}
    shell = {"type": "tool_use", "id": "s", "name": "Bash", "input": {"command": "make", "path": "/src/c0.py"}}
    messages += [
        {"role": "assistant", "content": [edit, shell]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"} for id in ("e", "s")]},
    ]
    Do.now = lambda view: seen.update({path: [one.tool for one in found] for path, found in view.reads.items()}) or []
    Play(Do, stages=["do"]).send(messages)
    assert seen == {"/src/c0.py": ["Read", "Edit"], "/src/c1.py": ["Read"]}
