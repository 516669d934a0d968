"""From disk: what may be read, and what a hostile folder can do."""

from __future__ import annotations

import os

import pytest
from trimtab_restore.disk import read

OLD, NEW = "the old text", "the text as it is now"


def put(folder, name, text=NEW):
    """A file below a folder, and its name."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_file_as_it_is_now(talk, run, tmp_path):
    """Also where the conversation holds an older text, or none that can be relied on."""
    put(tmp_path, "src/a.py")
    talk.read("src/a.py", OLD).call("Edit", {"file_path": "src/a.py", "old_string": "a", "new_string": "b"})
    (text,) = run(disk=True)(talk.work())
    assert "This file as it is now" in text
    assert NEW in text


def test_what_is_not_there_comes_from_the_conversation(talk, run):
    """It may live elsewhere; the frame then says so."""
    (text,) = run(disk=True)(talk.read("src/a.py", OLD).work())
    assert "as it was last read" in text
    assert OLD in text


def test_a_file_that_grew_is_named(talk, run, tmp_path):
    """Its older content would be wrong."""
    put(tmp_path, "a.py", "x = 1\n" * 100_000)
    (text,) = run(disk=True)(talk.read("a.py", OLD).work())
    assert "- a.py: " in text
    assert OLD not in text


def test_without_leave_nothing_is_read(talk, run, tmp_path):
    """The default."""
    put(tmp_path, "a.py")
    assert NEW not in "".join(run()(talk.read("a.py", OLD).work()))


@pytest.mark.parametrize(
    "name",
    [".env", "src/.env.local", "key.pem", "home/.ssh/config", ".git/config", "a/ID_RSA", "x/credentials", "sub/a.sql"],
)
def test_what_is_denied_stays_unread(tmp_path, name):
    """In any folder and case, and under any other name that leads there."""
    path = put(tmp_path, name)
    (tmp_path / "link.txt").symlink_to(path)
    for given in (name, f"./x/../{name}", str(path), "link.txt"):
        assert read(given, tmp_path, (), ["*.sql"], 1_000) == (False, None)


def test_only_below_a_root(tmp_path):
    """Not by `..`, nor by a link out of it; a link inside is fine."""
    root, out = tmp_path / "root", put(tmp_path, "out/a.txt")
    inside = put(tmp_path, "root/a.txt")
    (root / "link").symlink_to(out)
    (root / "folder").symlink_to(out.parent)
    (root / "fine").symlink_to(inside)
    for given in ("../out/a.txt", str(out), "link", "folder/a.txt"):
        assert read(given, root, (), (), 1_000) == (False, None)
    assert read("fine", root, (), (), 1_000) == (True, NEW)
    assert read("link", root, ["../out"], (), 1_000) == (True, NEW)
    assert read("a.txt", root, ["../out"], (), 1_000) == (False, None)


def test_only_regular_text_of_a_size(tmp_path):
    """No pipe, folder, device, loop, binary, nor what is too large; none of them is waited for."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "null.bin").write_bytes(b"a\0b")
    (tmp_path / "latin.txt").write_bytes(b"\xe9t\xe9")
    put(tmp_path, "large.txt", "x" * 2_000)
    for name in ("pipe", "loop", "missing", ".", "a\0b", "x" * 5_000):
        assert read(name, tmp_path, (), (), 1_000) == (False, None)
    for name in ("null.bin", "latin.txt", "large.txt"):
        assert read(name, tmp_path, (), (), 1_000) == (True, None)
    assert read("/dev/zero", tmp_path, ["/dev"], (), 1_000) == (False, None)
