"""`trimtab notes`: the memory is shown and edited, and no input that cannot be used changes anything."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from play import Play, talk
from stages import Do
from trimtab import Note
from trimtab.cli import app
from trimtab.errors import Lost
from trimtab.ledger import Ledger
from trimtab.storage.files import FileBlobs
from trimtab.storage.sqlite import SqliteLedger
from typer.testing import CliRunner, Result

Run = Callable[..., Result]
SECTIONS = ["# Title", "# Worklog"]
TEXT = "# Title\nMend it\n\n# Worklog\n- read\tthe parser\n"
EDITED = TEXT.replace("Mend it", "Mend the parser – now")


@pytest.fixture
def play(home: Path) -> Iterator[Play]:
    """A session on the storage that the default profile names; a stage of its notes what a test says."""
    data = home / ".local/share/trimtab"
    stores = {"ledger": SqliteLedger(f"sqlite://{data}/ledger.db"), "blobs": FileBlobs(f"file://{data}/blobs")}
    play = Play(Do, stages=["do"], **stores)
    yield play
    play.ledger.close()


@pytest.fixture
def run(work: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `trimtab notes` in the working directory."""
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(home))
    for name in ("EDITOR", "VISUAL", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return lambda *words, **more: CliRunner().invoke(app, ["notes", *words], **more)


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Have an editor that runs some Python on ``path``; where it keeps its copies is empty at first."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def editor(code: str) -> None:
        script = tmp_path / "editor.py"
        script.write_text(f"import pathlib, sys\npath = pathlib.Path(sys.argv[1])\n{code}\n")
        monkeypatch.setenv("EDITOR", f"{sys.executable} '{script}'")

    return editor


def noted(play: Play, *notes: Any, text: str | None = TEXT) -> None:
    """The stage notes a memory that covers the first message, and whatever else."""
    memory = Note("session-memory", {"text": text, "sections": SECTIONS, "upto": "first"}, "")
    Do.now = lambda view: [*([memory] if text is not None else ()), *notes]
    play.send(talk(1))
    Do.now = lambda view: ()


def rows(play: Play) -> list[Any]:
    """The memory's notes, in order, as stored."""
    edits = [edit for _, edit in Ledger(play.ledger, play.blobs, "s").rows()]
    return [edit for edit in edits if isinstance(edit, Note) and edit.key == "session-memory"]


def test_shown(play: Play, run: Run) -> None:
    """The memory on stdout as it is, other notes by name on stderr; what the kernel notes is not for users."""
    noted(play, Note("spans", [1]), Note("nudge", 2), Note("nudge", 3))
    told = run("s")
    assert (told.exit_code, told.stdout) == (0, TEXT)
    assert told.stderr == "other notes (--json shows them): spans, nudge\n"
    said = json.loads(run("s", "--json").stdout)
    assert said["session"] == "s"
    assert {key: said["notes"][key] for key in ("spans", "nudge")} == {"spans": [1], "nudge": 3}
    assert said["notes"]["session-memory"]["text"] == TEXT


def test_nothing_for_a_terminal(play: Play, run: Run) -> None:
    """What a model wrote moves no cursor, and half a character does not end the command."""
    noted(play, text="# Title\n\x1b[2Jcleared\r\udc80\x0bx\n# Worklog\n")
    assert run("s").stdout == "# Title\n [2Jcleared   x\n# Worklog\n"


@pytest.mark.parametrize("data", [{}, [], "text", {"text": 7}, None])
def test_no_memory(play: Play, run: Run, data: Any) -> None:
    """It says so, also where another plugin uses that name for something else; there is nothing to edit then."""
    noted(play, Note("session-memory", data), text=None)
    told = run("s")
    assert (told.exit_code, told.stdout) == (0, "")
    assert told.stderr.splitlines()[0] == "session s: no memory yet"
    refused = run("s", "--set", "-", input=TEXT)
    assert (refused.exit_code, refused.stderr) == (
        2,
        "session 's' has no memory to edit yet (its notes: session-memory)\n",
    )


def test_an_unknown_session(play: Play, run: Run) -> None:
    """The nearest, and those that there are."""
    noted(play)
    told = run("t")
    assert told.exit_code == 2
    assert "no session 't'" in told.stderr
    assert "(there: s)" in told.stderr


@pytest.mark.parametrize("source", ["file", "stdin"])
def test_set(play: Play, run: Run, work: Path, source: str) -> None:
    """A new note covers what the one before covered, counts in an open session, and the older one stays."""
    noted(play)
    (before,) = rows(play)
    (work / "new.md").write_bytes(b"\xef\xbb\xbf" + EDITED.replace("\n", "\r\n").encode())
    told = run("s", "--set", "new.md") if source == "file" else run("s", "--set", "-", input=EDITED)
    assert (told.exit_code, told.stdout) == (0, f"memory of session s: {len(EDITED)} characters\n")
    first, second = rows(play)
    assert first == before
    assert second == Note("session-memory", {**before.data, "text": EDITED}, before.upto)
    assert run("s").stdout == EDITED
    play.send(talk(1))
    assert play.session.view.notes("session-memory")["text"] == EDITED


def test_what_is_shown_can_be_set(play: Play, run: Run) -> None:
    """Nothing changes, and no row is written."""
    noted(play)
    told = run("s", "--set", "-", input=run("s").stdout)
    assert (told.exit_code, told.stdout) == (0, "nothing changed\n")
    assert len(rows(play)) == 1


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (
            TEXT.replace("# Worklog", "## Worklog").encode(),
            "new.md: lacks 1 heading, each a line of its own: '# Worklog'",
        ),
        (b"", "new.md: lacks 2 headings, each a line of its own: '# Title', '# Worklog'"),
        (b"# Title\n\xff", "new.md: is no UTF-8 text: invalid start byte at byte 8"),
        (None, "new.md: cannot be read: No such file or directory"),
    ],
    ids=["heading", "empty", "bytes", "missing"],
)
def test_bad_input(play: Play, run: Run, work: Path, data: bytes | None, why: str) -> None:
    """The memory stays, and it is said what is wrong where."""
    noted(play)
    if data is not None:
        (work / "new.md").write_bytes(data)
    told = run("s", "--set", "new.md")
    assert (told.exit_code, told.stdout, told.stderr) == (2, "", f"{why}\n")
    assert len(rows(play)) == 1


@pytest.mark.parametrize("words", [("--edit", "--set", "-"), ("--edit", "--json"), ("--set", "-", "--json")])
def test_one_thing_at_a_time(play: Play, run: Run, words: tuple[str, ...]) -> None:
    """Options that ask for different things are refused."""
    noted(play)
    assert run("s", *words).stderr == "--edit, --set and --json are for one at a time\n"


def test_edit(play: Play, run: Run, tmp_path: Path, editor: Callable[[str], None]) -> None:
    """The editor gets a copy as a Markdown file; nothing stays of it."""
    noted(play)
    editor("path.write_text(path.read_text(encoding='utf-8').replace('Mend it', 'Mend the parser – now'))")
    assert run("s", "--edit").exit_code == 0
    assert rows(play)[-1].data["text"] == EDITED
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".md"] == []


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("path.write_text('# Title\\nmine')", "lacks 1 heading, each a line of its own: '# Worklog'"),
        ("path.write_text('# Title\\nmine'); sys.exit(3)", "returned non-zero exit status 3"),
    ],
    ids=["heading", "exit"],
)
def test_an_edit_that_cannot_be_used(
    play: Play, run: Run, tmp_path: Path, editor: Callable[[str], None], code: str, why: str
) -> None:
    """What the user wrote stays in a file, which the error names."""
    noted(play)
    editor(code)
    told = run("s", "--edit")
    assert told.exit_code == 2
    assert why in told.stderr
    assert Path(told.stderr.partition(": ")[0]).read_text() == "# Title\nmine"
    assert len(rows(play)) == 1


@pytest.mark.parametrize("said", ["no-such-editor", "'unclosed"])
def test_no_editor(play: Play, run: Run, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    """It says what could not be started, and what to do."""
    noted(play)
    monkeypatch.setenv("VISUAL", said)
    told = run("s", "--edit")
    assert told.exit_code == 2
    assert told.stderr.startswith(f"the editor {said!r} does not start: ")
    assert told.stderr.endswith("set $EDITOR to another\n")


def test_changed_meanwhile(
    play: Play, run: Run, editor: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edit of a text that is not the newest any more would undo what came since: it stays in its file."""
    noted(play)
    editor("path.write_text(path.read_text().replace('Mend it', 'Mine'))")
    first = Ledger.append

    def append_late(self: Ledger, decisions: Any) -> Any:
        monkeypatch.setattr(Ledger, "append", first)
        noted(play, text=EDITED)
        return first(self, decisions)

    monkeypatch.setattr(Ledger, "append", append_late)
    told = run("s", "--edit")
    assert told.exit_code == 2
    assert "the memory was changed meanwhile" in told.stderr
    assert "Mine" in Path(told.stderr.partition(": ")[0]).read_text()
    assert rows(play)[-1].data["text"] == EDITED


def test_others_write_at_the_same_time(play: Play, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows about other things only make it try again; where that never ends nothing is changed."""
    noted(play)
    append, left = Ledger.append, [2]

    def lost(self: Ledger, decisions: Any) -> Any:
        left[0] -= 1
        if left[0] >= 0:
            raise Lost("")
        return append(self, decisions)

    monkeypatch.setattr(Ledger, "append", lost)
    assert run("s", "--set", "-", input=EDITED).exit_code == 0
    assert rows(play)[-1].data["text"] == EDITED
    left[0] = 1_000
    told = run("s", "--set", "-", input=TEXT)
    assert (told.exit_code, told.stderr) == (
        2,
        "other processes keep writing to session 's'; nothing was recorded\n",
    )
