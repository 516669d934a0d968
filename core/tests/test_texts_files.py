"""Files that are shown: bounded, as text, whole lines, and nothing from outside."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trimtab.texts import cut, file_text


@settings(deadline=None, max_examples=200)
@given(
    st.text(st.sampled_from("ab \n\r\té漢🙂\u0301\u200d🇩\u2028"), max_size=300), st.integers(1, 9), st.integers(1, 90)
)
@example("漢" * 100, 1, 10)
@example("abc\nx", 9, 2)
@example("a\n" + "b" * 100, 9, 10)
def test_caps_hold(text: str, lines: int, most: int) -> None:
    """Whatever a file holds, what is shown of it is its start, within both caps, and a cap is named if it is cut."""
    said, cap = cut(text.strip(), lines, most)
    kept = said.removesuffix(f"\n[Cut here, at {cap}; the rest stands in the file.]")
    assert text.strip().startswith(kept)
    assert len(kept.encode()) <= most
    assert kept.count("\n") < lines
    assert (said == kept) == (kept == text.strip()) == (not cap)
    rest = text.strip()[len(kept) :]
    if cap and "\n" in kept:
        assert rest.lstrip(" \t\r\u2028")[:1] == "\n", "cut inside a line"


def test_only_as_much_as_is_needed(tmp_path: Path) -> None:
    """Of a file of any size no more is read than the caps can show; a character at that end is no error."""
    path = tmp_path / "a.md"
    for extra in range(4):
        path.write_text("a" * extra + "漢" * 100_000, "utf-8")
        text = file_text(path, tmp_path, 1_000)
        assert 1_000 < len(text.encode()) <= 2_004
        assert set(text) == {"a", "漢"} - ({"a"} if not extra else set())
    path.write_bytes(b"\r\n" * 5_000)
    assert len(file_text(path, tmp_path, 1_000)) > 1_000


def test_one_spelling(tmp_path: Path) -> None:
    """Without a mark, and with plain ends of lines."""
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    assert file_text(tmp_path / "a.md", tmp_path, 100) == "a\nb\nc\n"


@pytest.mark.parametrize("content", [b"\x00\x01ELF", "Größe".encode("latin-1"), b"ends in \xe6"])
def test_no_text(tmp_path: Path, content: bytes) -> None:
    """Is no text to show."""
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(ValueError, match=r"no (UTF-8 )?text"):
        file_text(tmp_path / "a", tmp_path, 100)


def test_only_below_the_root(tmp_path: Path) -> None:
    """Neither by `..` nor by a link on the way; a link that stays inside is fine, and so is one to the root."""
    root, out = tmp_path / "root", tmp_path / "out"
    for folder in (root, out):
        folder.mkdir()
        (folder / "a").write_text(folder.name)
    (root / "link").symlink_to(out / "a")
    (root / "folder").symlink_to(out)
    (root / "sub").mkdir()
    (root / "sub" / "a").symlink_to("../a")
    (tmp_path / "other").symlink_to(root)
    assert [file_text(root / name, tmp_path / "other", 100) for name in ("a", "sub/a")] == ["root", "root"]
    for name in ("../out/a", "link", "folder/a"):
        with pytest.raises(OSError, match="leads out"):
            file_text(root / name, root, 100)


@pytest.mark.parametrize(
    ("link", "target", "fine"),
    [
        ("AGENTS.md", ".env", False),
        ("AGENTS.md", "settings.md.json", False),
        ("notes.txt", "secrets.txt", False),
        ("AGENTS.md", "docs/.md/key", False),
        ("AGENTS.md", "CLAUDE.md", True),
        ("notes.txt", "docs/notes.txt", True),
    ],
)
def test_where_a_link_may_lead(tmp_path: Path, link: str, target: str, fine: bool) -> None:
    """Only to a file of the same name or kind, by whatever way."""
    (tmp_path / target).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / target).write_text("x")
    (tmp_path / "way.md").symlink_to(target)
    (tmp_path / link).symlink_to("way.md")
    if fine:
        assert file_text(tmp_path / link, tmp_path, 100) == "x"
    else:
        with pytest.raises(OSError, match=r"does not end in \.md"):
            file_text(tmp_path / link, tmp_path, 100)


def test_only_regular_files(tmp_path: Path) -> None:
    """No folder, pipe, loop, or what is not there; none of them is waited for."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name, why in (("pipe", "no regular file"), (".", "directory"), ("loop", "link"), ("none", "No such")):
        with pytest.raises(OSError, match=why):
            file_text(tmp_path / name, tmp_path, 100)


def test_what_becomes_a_link_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is not followed, neither as the file itself nor as a folder on the way."""
    root, out = tmp_path / "root", tmp_path / "out"
    for folder in (root / "sub", out):
        folder.mkdir(parents=True)
        (folder / "a").write_text(folder.name)
    opened = os.open

    def swap(path: Any, flags: int, *more: Any) -> int:
        (root / "sub").rename(root / "was")
        (root / "sub").symlink_to(out)
        return opened(path, flags, *more)

    monkeypatch.setattr(os, "open", swap)
    with pytest.raises(OSError, match="changed while"):
        file_text(root / "sub" / "a", root, 100)
