"""Reading a stored original back: never stored again, but limited in characters and lines."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

WORDS = "some words that nobody would ask for again, and there are many of them here"


def start(opened: Any, talk: Any, shown: Any, folder: Path, text: str, **options: Any) -> tuple[Any, str]:
    """A session in which a result was stored, and the path that the model was shown."""
    session = opened(folder, **options)
    (made,) = shown(session.prepare(talk.round(("Bash", {"command": "make"}, text))).messages)
    return session, re.findall(r"^Full text: (.*)$", made, re.MULTILINE)[0]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Read", {"file_path": "PATH"}),
        ("Read", {"file_path": "PATH", "offset": 1, "limit": 900}),
        ("Bash", {"command": "cat PATH"}),
        ("Bash", {"command": "sed -n 1,300p 'PATH' | head -900"}),
        ("Bash", {"command": 'grep -n x "PATH"'}),
        ("shell", {"command": ["bash", "-lc", "head -c 20000 <PATH;echo"]}),
        ("Grep", {"pattern": "x", "path": "PATH"}),
        ("mcp__fs__read_text_file", {"path": "PATH"}),
        ("mcp__wiki__ask", {"path": "PATH"}),
        ("read_result", {"id": "NAME", "offset": 0, "limit": 20_000}),
    ],
)
def test_H64_is_never_stored_again(
    opened: Any, talk: Any, shown: Any, tmp_path: Path, tool: str, given: dict[str, Any]
) -> None:
    """Whatever tool reads it, and wherever the path stands in the call, the text comes through."""
    text = "\n".join(f"{WORDS} {n}" for n in range(200))
    session, path = start(opened, talk, shown, tmp_path, text)
    call = {key: _put(value, path) for key, value in given.items()}
    assert shown(session.prepare(talk.round((tool, call, text[:15_000]))).messages) == [text[:15_000]]


def _put(value: Any, path: str) -> Any:
    if isinstance(value, list):
        return [_put(item, path) for item in value]
    return value.replace("PATH", path).replace("NAME", Path(path).name) if isinstance(value, str) else value


def test_H64_a_path_with_spaces_in_a_command(opened: Any, talk: Any, shown: Any, tmp_path: Path) -> None:
    """A folder's name may hold spaces, quoted or escaped."""
    text = "\n".join(f"{WORDS} {n}" for n in range(200))
    session, path = start(opened, talk, shown, tmp_path / "my own files", text)
    for command in (f"cat '{path}'", f'cat "{path}"', "cat " + path.replace(" ", "\\ ")):
        assert shown(session.prepare(talk.round(("Bash", {"command": command}, text))).messages) == [text]


def test_another_file_is_stored(opened: Any, talk: Any, shown: Any, tmp_path: Path) -> None:
    """A path that only looks like one of ours is not, nor is one that a sub-agent is told of."""
    text = "\n".join(f"{WORDS} {n}" for n in range(200))
    session, path = start(opened, talk, shown, tmp_path, text)
    for tool, given in (("Bash", {"command": "cat /x/y.txt"}), ("Task", {"prompt": f"look at {path}"})):
        assert shown(session.prepare(talk.round((tool, given, text))).messages)[0].startswith("<persisted-output>")


def test_H65_characters_are_limited(opened: Any, talk: Any, shown: Any, tmp_path: Path) -> None:
    """Five lines of 100,000 characters do not come through; no further file is named."""
    text = "\n".join("x y " * 5_000 for _ in range(5))
    session, path = start(opened, talk, shown, tmp_path, text)
    (made,) = shown(session.prepare(talk.round(("Read", {"file_path": path}, text))).messages)
    kept, _, how = made.rpartition("\n")
    assert text.startswith(kept)
    assert len(kept) <= 24_000
    assert re.findall(r"/\S+", how) == [path]
    assert how.startswith(f"[{len(text) - len(kept):,} more characters, {4 - kept.count(chr(10))} lines of ")
    assert "persisted-output" not in made


def test_H65_lines_are_limited(opened: Any, talk: Any, shown: Any, tmp_path: Path) -> None:
    """However short its lines, no more than 2,000 come through at once, and where to go on is said."""
    text = "\n".join(f"{n}" for n in range(5_000))
    session, path = start(opened, talk, shown, tmp_path, text)
    (made,) = shown(session.prepare(talk.round(("Read", {"file_path": path}, text))).messages)
    assert made.startswith("0\n1\n")
    assert made.count("\n") == 2_000
    assert made.endswith(f" 3,000 lines of {path} are not shown: read on from line 2001 with an offset and a limit]")


def test_H65_own_line_numbers_tell_where_to_go_on(opened: Any, talk: Any, shown: Any, tmp_path: Path) -> None:
    """A reading tool that numbers its lines shows which line comes next, also in the middle of a file."""
    text = "\n".join(f"{WORDS} {n}" for n in range(2_000))
    session, path = start(opened, talk, shown, tmp_path, text)
    part = "\n".join(f"{n:6}→{WORDS} {n}" for n in range(500, 1_200))
    given = {"file_path": path, "offset": 500, "limit": 700}
    (made,) = shown(session.prepare(talk.round(("Read", given, part))).messages)
    last = int(re.findall(r"^ *(\d+)→", made, re.MULTILINE)[-1])
    assert f"read on from line {last + 1} with a smaller range]" in made
    assert 29_000 < len(made) < 30_300


def test_a_limit_that_is_off_lets_all_through(opened: Any, talk: Any, shown: Any, tmp_path: Path) -> None:
    """Whoever switched off the limit of reads gets what was read."""
    text = "\n".join(f"{WORDS} {n}" for n in range(2_000))
    session, path = start(opened, talk, shown, tmp_path, text, limits={"read": "off"})
    for tool, given in (("Read", {"file_path": path}), ("Bash", {"command": f"cat {path}"})):
        assert shown(session.prepare(talk.round((tool, given, text))).messages) == [text]
