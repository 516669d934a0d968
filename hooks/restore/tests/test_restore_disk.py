"""From disk: what may be read, and what a hostile folder can do."""

from __future__ import annotations

import os

import hypothesis
import pytest
from hypothesis import strategies as st
from trimtab_restore.disk import read
from trimtab_restore.files import File

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
    talk.read("src/a.py", OLD).call("Edit", {"file_path": "src/a.py", "old_string": OLD, "new_string": NEW})
    (text,) = run(disk=True)(talk.work())
    assert "This file as it is now" in text
    assert NEW in text


REFUSALS = [
    "The user rejected this tool use. STOP and wait for instructions.",
    "The user doesn't want to proceed with this tool use. The tool use was rejected. They said:\n" + "No! " * 100,
    "Permission to use Read has been denied.",
    "User denied access to tool",
    "Request cancelled",
    "[Request interrupted by user for tool use]",
    "Reading src/a.py is not allowed",
    "src/a.py: File not found",
    "Error: ENOENT: no such file or directory, open 'src/a.py'",
    '{"error": "no"}',
    "",
    " \n",
    "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>",
    "Nein, das geht dich nichts an.",
]


@pytest.mark.parametrize("answer", REFUSALS)
@pytest.mark.parametrize("limit", [None, 5])
def test_what_the_model_was_not_given_is_not_read(talk, run, tmp_path, answer, limit):
    """A refusal is none of the file's text, whatever its words, and also where the wire has no flag for errors."""
    put(tmp_path, "src/a.py")
    assert NEW not in "".join(run(disk=True)(talk.read("src/a.py", answer, limit=limit).work()))


@pytest.mark.parametrize(
    "call",
    [
        ("Edit", {"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}),
        ("Write", {"file_path": "a.py", "content": "x = 2"}),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** End Patch"}),
        ("Bash", {"command": "cat > notes <<E\n*** Update File: a.py\nE"}),
        ("Task", {"prompt": "*** Update File: a.py"}),
    ],
)
@pytest.mark.parametrize("answer", ["The user rejected this.", "ok"])
def test_nor_what_it_did_not_write(talk, run, tmp_path, call, answer):
    """A refused edit, and one that went well and left nothing that the file holds now."""
    put(tmp_path, "a.py")
    assert NEW not in "".join(run(disk=True)(talk.call(*call, answer).work()))


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Edit", {"file_path": "a.py", "old_string": "x = 1", "new_string": NEW}),
        ("Write", {"file_path": "a.py", "content": f"x = 1\n{NEW}\n"}),
        ("apply_patch", {"input": f"*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+{NEW}\n*** End Patch"}),
        ("Read", {"file_path": "a.py", "offset": 3}),
    ],
)
def test_what_it_wrote_or_read_in_part_is_read(talk, run, tmp_path, tool, given):
    """It knows a line of it."""
    put(tmp_path, "a.py", f"y = 3\n{NEW}\nz = 4\n")
    (text,) = run(disk=True)(talk.call(tool, given, f"     3\t{NEW}").work())
    assert "This file as it is now" in text
    assert "z = 4" in text


def test_a_refusal_counts_also_after_a_read(talk, run, tmp_path):
    """Until it is read again, by any of its names."""
    put(tmp_path, "src/a.py")
    talk.read("src/a.py", NEW).read("./src/a.py", "The user rejected this tool use.")
    assert NEW not in "".join(run(disk=True)(talk.work()))
    assert NEW in "".join(run(disk=True)(talk.read("src/a.py", NEW).work()))


def test_words_of_a_path_refuse_nothing(talk, run, tmp_path):
    """An answer names the file, and files are called so."""
    put(tmp_path, "src/permissions.py")
    given = {"file_path": "src/permissions.py", "old_string": OLD, "new_string": NEW}
    (text,) = run(disk=True)(talk.call("Edit", given, "The file src/permissions.py has been updated.").work())
    assert NEW in text


@hypothesis.given(answer=st.text(max_size=400), content=st.text(min_size=1, max_size=400))
def test_without_a_common_line_nothing_is_known(answer, content):
    """And with one it is, however it is numbered."""
    file = File("a")
    file.learn(answer)
    lines = [line.strip() for line in content.splitlines() if line.strip()]
    assert file.knows(content) <= any(line in answer for line in lines)
    file.learn("\n".join(f"{n}\t{line}" for n, line in enumerate(lines)))
    assert file.knows(content) is bool(lines)


def test_a_missing_root_is_named(talk, run, tmp_path):
    """When a session starts, with the nearest folder that is there; not where nothing is read from disk."""
    (tmp_path / "source").mkdir()
    for options, failures in (({"disk": True, "roots": "sourec"}, 1), ({"roots": ["sourec"]}, 0)):
        report = run(**options).session.prepare(list(talk.messages)).report
        assert len(report.failures) == failures
        if failures:
            assert "roots: no folder sourec" in report.failures[0]
            assert "did you mean 'source'? (there: source)" in report.failures[0]


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
    for roots in (["../out"], ["~nobody-of-this-name"]):
        assert read("a.txt", root, roots, (), 1_000) == (False, None)


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
