"""Retention on conversations small enough to count by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trimtab.conversation import Block
from trimtab.dialects.anthropic import Anthropic
from trimtab.replay.reader import Reader
from trimtab.replay.retention import Kept, Retention
from trimtab.replay.ways import OPENABLE, Ways
from trimtab.storage.files import FileBlobs

SOURCE = "     1→def load_rows(path):\n     2→    limit_of_rows = 4711\n     3→    return open_rows(path)"


def say(role: str, *blocks: Any) -> dict[str, Any]:
    """A message of texts and blocks."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {"role": role, "content": content}


def call(id: str, name: str, **arguments: Any) -> dict[str, Any]:
    """A call block."""
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def result(id: str, text: str, error: bool = False) -> dict[str, Any]:
    """A result block."""
    return {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": error}


def classify(block: Block) -> tuple[str, str | None]:
    """Class and path of a call, for the four tools used here."""
    kinds = {"Read": "read", "Edit": "edit", "Bash": "shell", "Grep": "search"}
    return kinds[block.name], block.input.get("file_path")


def measure(folder: Path, said: list[Any], shown: list[Any], answer: Any) -> Kept:
    """Retention of one request whose only lost source is `SOURCE`; a token is four characters."""
    reader = Reader(Anthropic(), lambda text: len(text) // 4)
    ways = Ways(reader, FileBlobs(f"file://{folder}"), lambda text: len(text) / 4)
    kept = Retention(reader, ways, classify).measure(reader(said), reader(shown), reader([answer]))
    assert {reader.texts[number] for number in kept.missing} <= {SOURCE}
    return kept


def counts(kept: Kept) -> tuple[int, int, int, int]:
    """Anchors, visible, strictly visible, recoverable."""
    return kept.anchors, kept.visible, kept.strictly, kept.recoverable


def conversation(tool: str = "Grep", *later: dict[str, Any]) -> list[dict[str, Any]]:
    """A source that was seen early, something else since, and the two newest messages."""
    middle = [
        message for block in later for message in (say("assistant", block), say("user", result(block["id"], "ok")))
    ]
    return [
        say("user", "please find it"),
        say("assistant", call("c1", tool, file_path="src/rows.py")),
        say("user", result("c1", SOURCE)),
        *middle,
        say("assistant", "now I look"),
        say("user", "go on with new_name"),
    ]


ANSWER = say("assistant", "load_rows sets limit_of_rows to 4711; new_name and other_name are not there")
"""Three anchors: new_name stands only in the newest messages, other_name nowhere."""


def replaced(said: list[Any], text: str) -> list[Any]:
    """The conversation with another text for the first result."""
    return [said[0], said[1], say("user", result("c1", text)), *said[3:]]


def test_all_is_visible_where_nothing_changed(tmp_path: Path) -> None:
    """Three strings occur earlier, the request shows all of them in unchanged blocks."""
    said = conversation()
    assert counts(measure(tmp_path, said, said, ANSWER)) == (3, 3, 3, 3)


def test_the_last_two_messages_are_no_memory(tmp_path: Path) -> None:
    """What occurs only in the newest call and result is no anchor."""
    said = conversation()[:3]
    assert counts(measure(tmp_path, said, said, ANSWER)) == (0, 0, 0, 0)


def test_a_bare_name_in_a_list_is_visible_but_not_strictly(tmp_path: Path) -> None:
    """The preview names two of three; one of them in its whole line."""
    said = conversation()
    shown = replaced(said, "Grep, 96 characters\n1: load_rows\n2:     limit_of_rows = 4711")
    kept = measure(tmp_path, said, shown, ANSWER)
    assert counts(kept) == (3, 3, 2, 3)
    assert not kept.missing
    assert len(kept.strictly_missing) == 1


def test_a_line_found_by_a_search_is_whole_without_its_label(tmp_path: Path) -> None:
    """File name and line number in front of a match do not belong to the line; what follows a colon does."""
    said = conversation()
    said[2] = say("user", result("c1", "src/rows.py:2:limit_of_rows: int = 4711\nsrc/rows.py:9:load_rows(4)"))
    shown = replaced(said, "src/rows.py\n2: limit_of_rows: int = 4711\n9: load_rows")
    reader = Reader(Anthropic(), len)
    ways = Ways(reader, FileBlobs(f"file://{tmp_path}"), len)
    kept = Retention(reader, ways, classify).measure(reader(said), reader(shown), reader([ANSWER]))
    assert counts(kept) == (3, 3, 2, 3)


def test_a_cut_line_is_not_a_whole_one(tmp_path: Path) -> None:
    """Half of a source line shows its names, but not what the line says."""
    said = conversation()
    kept = measure(tmp_path, said, replaced(said, "2: limit_of_rows = … 4711"), ANSWER)
    assert counts(kept) == (3, 2, 0, 2)


def test_a_reference_is_opened(tmp_path: Path) -> None:
    """The placeholder's path leads to the stored original; a path to nothing leads nowhere."""
    said = conversation()
    blobs = FileBlobs(f"file://{tmp_path}")
    path = blobs.path(blobs.key(SOURCE.encode(), ".txt"))
    shown = replaced(said, f"<persisted-output>\nFull text: {path}.\n</persisted-output>")
    assert counts(measure(tmp_path, said, shown, ANSWER)) == (3, 0, 0, 0)
    blobs.put(SOURCE.encode(), ".txt")
    assert counts(measure(tmp_path, said, shown, ANSWER)) == (3, 0, 0, 3)


def test_an_original_above_the_limit_does_not_come_back(tmp_path: Path) -> None:
    """More than 10k tokens are not opened by one call."""
    blobs = FileBlobs(f"file://{tmp_path}")
    for size, back in ((4 * OPENABLE - len(SOURCE), 3), (4 * OPENABLE, 0)):
        key = blobs.put((SOURCE + "\n" * size).encode(), ".txt")
        said = conversation()
        kept = measure(tmp_path, said, replaced(said, f"see {blobs.path(key)}"), ANSWER)
        assert counts(kept) == (3, 0, 0, back)


def test_an_original_of_another_result_does_not_count(tmp_path: Path) -> None:
    """A result's way back is in its own place, not in some other placeholder."""
    blobs = FileBlobs(f"file://{tmp_path}")
    path = blobs.path(blobs.put(SOURCE.encode(), ".txt"))
    said = conversation("Grep", call("c2", "Bash", command="ls"))
    shown = replaced(said, "gone")
    shown[4] = say("user", result("c2", f"see {path}"))
    assert counts(measure(tmp_path, said, shown, ANSWER)) == (3, 0, 0, 0)


def test_a_fold_leads_back_by_its_own_text(tmp_path: Path) -> None:
    """Where the message of a result is gone, what stands for it may hold the reference."""
    blobs = FileBlobs(f"file://{tmp_path}")
    path = blobs.path(blobs.put(SOURCE.encode(), ".txt"))
    said = conversation()
    shown = [say("user", f"It was found. Full text: {path}"), *said[3:]]
    assert counts(measure(tmp_path, said, shown, ANSWER)) == (3, 0, 0, 3)


def test_a_read_can_be_repeated_while_its_file_is_unchanged(tmp_path: Path) -> None:
    """A later edit of the file, or a shell command that names it, closes this way; a failed edit does not."""
    later = [
        ([], 3),
        ([call("c2", "Edit", file_path="src/rows.py")], 0),
        ([call("c2", "Edit", file_path="src/other.py")], 3),
        ([call("c2", "Bash", command="sed -i s/a/b/ rows.py")], 0),
        ([call("c2", "Bash", command="make test")], 3),
    ]
    for calls, back in later:
        said = conversation("Read", *calls)
        assert counts(measure(tmp_path, said, replaced(said, "cleared"), ANSWER)) == (3, 0, 0, back), calls
    said = conversation("Read", call("c2", "Edit", file_path="src/rows.py"))
    said[4] = say("user", result("c2", "no match", error=True))
    assert counts(measure(tmp_path, said, replaced(said, "cleared"), ANSWER)) == (3, 0, 0, 3)


def test_a_call_that_is_hidden_cannot_be_repeated(tmp_path: Path) -> None:
    """Without the call in the request nobody knows what to read."""
    said = conversation("Read")
    assert counts(measure(tmp_path, said, [said[0], *said[3:]], ANSWER)) == (3, 0, 0, 0)


def test_every_source_needs_a_way_back(tmp_path: Path) -> None:
    """One of two sources that leads nowhere makes the anchor unrecoverable."""
    said = conversation("Read")
    other = say("user", "limit_of_rows was once higher")
    said = [other, *said[1:]]
    shown = [say("user", "…"), said[1], say("user", result("c1", "cleared")), *said[3:]]
    reader = Reader(Anthropic(), len)
    ways = Ways(reader, FileBlobs(f"file://{tmp_path}"), len)
    kept = Retention(reader, ways, classify).measure(reader(said), reader(shown), reader([ANSWER]))
    assert counts(kept) == (3, 0, 0, 2)
    assert len(kept.missing) == 2
