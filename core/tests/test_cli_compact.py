"""`trimtab compact`: a file of messages in, a valid and shorter one out, originals kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from play import LONG, call, result, says, talk, thinks, user
from trimtab.cli import app
from trimtab.dialects.anthropic import validate
from trimtab.transcripts import read
from typer.testing import CliRunner, Result

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus" / "claude-code"
BIG = LONG * 4
TALK = [
    user("Run it."),
    says(call("c1", "Bash", command="make")),
    user(result("c1", BIG)),
    says(call("c2", "Read", file_path="/src/a.py")),
    user(result("c2", "fine")),
    says("It fails."),
    user("Why?"),
]
"""A long result in an old round, which only `history: unsent` lets go."""

Run = Callable[..., Result]
Put = Callable[..., Path]


@pytest.fixture
def run(work: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `trimtab compact` in the working directory."""
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TRIMTAB_COUNTER", "estimate")
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return lambda *words, **more: CliRunner().invoke(app, ["compact", *map(str, words)], **more)


@pytest.fixture
def put(work: Path) -> Put:
    """Write a file of JSON, one value a line where there are several."""

    def put(*values: Any, name: str = "talk.json") -> Path:
        path = work / name
        path.write_text("\n".join(json.dumps(value) for value in values), encoding="utf-8")
        return path

    return put


def certain(messages: Any) -> list[Any]:
    """The violations that a provider would refuse."""
    return [found for found in validate(messages) if found.certain]


def originals(home: Path) -> list[str]:
    """All texts in the default storage."""
    return [path.read_text() for path in (home / ".local/share/trimtab/blobs").glob("*/*.txt")]


def test_a_list(put: Put, home: Path, work: Path) -> None:
    """The command writes a shorter valid list, tells what it did, and `explain` leads back to the original."""
    file = put(TALK)
    env = {"HOME": str(home), "TRIMTAB_COUNTER": "estimate"}
    command = [str(Path(sys.executable).with_name("trimtab"))]

    def told(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *words], cwd=work, env=env, capture_output=True, text=True, check=True)

    done = told("compact", "talk.json", "-o", "short.json")
    assert done.stdout == ""
    short = json.loads((work / "short.json").read_text())
    assert certain(short) == []
    assert len(short) == len(TALK)
    assert [a == b for a, b in zip(short, TALK, strict=True)] == [True, True, False, True, True, True, True]
    assert json.loads(file.read_text()) == TALK
    lines = done.stderr.splitlines()
    assert lines[0] == "messages: 7 messages"
    assert lines[1] == "model claude-opus-5-5, thinking bound to its prefix, window 1,000,000, tokens by estimate"
    assert lines[2].startswith("tool-result-budget: 1 edit, 2,")
    assert lines[2].endswith(" tokens freed; 1 × Bash: over 4,000 characters")
    assert [line.partition(":")[2] for line in lines[3:9]] == [" nothing to do"] * 6
    assert lines[9].startswith("tokens: 3,")
    blobs, session = f"{home}/.local/share/trimtab/blobs", lines[-1].split()[-1].strip("`")
    assert lines[-1] == f"originals: file://{blobs}; see `trimtab explain {session}`"
    explained = told("explain", session).stdout
    path = Path(explained.split("original: ")[1].strip())
    assert path.read_text() == BIG
    assert str(path) in short[2]["content"][0]["content"]


def test_an_object(run: Run, put: Put) -> None:
    """A request body stays one: only its messages change. Without -o it goes to stdout."""
    body = {"model": "m", "max_tokens": 9, "system": "Be brief.", "tools": [{"name": "Bash"}], "messages": TALK}
    done = run(put(body))
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert {**told, "messages": TALK} == body
    assert BIG not in json.dumps(told["messages"])


def test_stdin_and_stdout(run: Run, put: Put, work: Path) -> None:
    """`-` is stdin in front and stdout behind -o; a new file made of stdin is the user's alone."""
    by_name = run(put(TALK)).stdout
    assert run("-", "-o", "-", input=json.dumps(TALK)).stdout.replace("-2.", ".") == by_name
    assert not (work / "-").exists()
    assert run("-", "-o", "new.json", input=json.dumps(TALK)).stdout == ""
    assert json.loads((work / "new.json").read_text()) == json.loads(by_name)
    assert (work / "new.json").stat().st_mode & 0o777 == 0o600
    wrong = run("-", input="[")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("stdin:1: not JSON: ")


def test_one_message_a_line(run: Run, put: Put) -> None:
    """JSON Lines are read as one list, the last message too though no answer follows it."""
    told = json.loads(run(put(*TALK)).stdout)
    assert told[-1] == TALK[-1]
    assert len(told) == len(TALK)


def test_a_lone_question(run: Run, put: Put) -> None:
    """A list without any answer is a list too."""
    done = run(put([user("Hello?")]))
    assert json.loads(done.stdout) == [user("Hello?")]
    assert "originals" not in done.stderr
    assert "tool-result-budget: nothing to do" in done.stderr


def test_a_recording(run: Run, put: Put) -> None:
    """Of a recorded session it takes what follows the last compaction, its last answer included."""
    records = [
        ("user", {"role": "user", "content": "Old question."}, {}),
        (
            "assistant",
            {"role": "assistant", "id": "m1", "model": "x", "content": [{"type": "text", "text": "Yes."}]},
            {},
        ),
        ("system", None, {"subtype": "compact_boundary", "compactMetadata": {"trigger": "auto", "preTokens": 9}}),
        ("user", {"role": "user", "content": "Summary."}, {"isCompactSummary": True}),
        (
            "assistant",
            {"role": "assistant", "id": "m2", "model": "x", "content": [{"type": "text", "text": "No."}]},
            {},
        ),
    ]
    common = {"sessionId": "s", "version": "2.0.0", "timestamp": "2026-01-01T00:00:00.000Z", "isSidechain": False}
    lines = [
        {**common, "type": type, "uuid": str(n), **({"message": message} if message else {}), **more}
        for n, (type, message, more) in enumerate(records)
    ]
    done = run(put(*lines, name="s.jsonl"))
    assert [message["role"] for message in json.loads(done.stdout)] == ["user", "assistant"]
    assert "Summary." in done.stdout
    assert "No." in done.stdout
    assert "claude-code: 2 messages" in done.stderr
    assert "of 2 histories, each begun by a recorded compaction, this is the last" in done.stderr


@pytest.mark.parametrize(
    "broken",
    [
        [user(result("gone", "text")), says("So."), user("And?")],
        [user("Go."), says(call("c1")), user("Never mind.")],
        [user("Go."), says("Yes.", call("c1"), call("c2"))],
        [user("Go."), says(call("c1")), says(call("c2"))],
        [user("Go."), says("  ", "Yes."), user("half \ud83d")],
    ],
    ids=["orphan", "unanswered", "open end", "open end of two", "blank and half a character"],
)
def test_repairs(run: Run, put: Put, broken: list[Any], home: Path) -> None:
    """What the input had wrong is mended in the output, said, and kept."""
    assert certain(broken)
    done = run(put(broken))
    assert done.exit_code == 0
    assert certain(json.loads(done.stdout)) == []
    assert "repair: 1 edit; 1 × " in done.stderr or "repair: 2 edits; " in done.stderr
    assert list((home / ".local/share/trimtab/blobs").glob("*/*.json"))


def test_blank_last_answer(run: Run, put: Put) -> None:
    """A last answer that is broken in another way gets no message behind it."""
    done = run(put([user("Go."), says("Yes.", " ")]))
    assert json.loads(done.stdout) == [user("Go."), says("Yes.")]
    assert "repair: 1 edit; 1 × blank text, or half of a character\n" in done.stderr


def test_not_valid(run: Run, put: Put, work: Path) -> None:
    """What cannot be made valid is not written, and the places are told."""
    system = {"role": "system", "content": "Be brief."}
    done = run(put([user("Go."), system, user("Now.")]), "-o", "short.json")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-2:] == [
        "not written, because it would not be valid:",
        "  messages[2]: a user message cannot follow a system message (role)",
    ]
    assert not (work / "short.json").exists()


def test_does_not_fit(run: Run, put: Put, work: Path) -> None:
    """What does not fit the window is not written."""
    done = run(put(talk(9)), "-o", "short.json", "--window", "4k", "--profile", "minimal")
    assert done.exit_code == 1
    assert done.stderr.startswith("not written: about ")
    assert "the limit is 3,540 of a window of 4,000" in done.stderr
    assert not (work / "short.json").exists()


def test_in_place(run: Run, put: Put, home: Path) -> None:
    """With -o FILE the file itself is replaced, as readable as it was; through a link its target is."""
    file = put(TALK)
    file.chmod(0o640)
    link = file.with_name("link.json")
    link.symlink_to(file)
    assert run(file, "-o", link).exit_code == 0
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert BIG not in file.read_text()
    assert originals(home) == [BIG]
    assert sorted(path.name for path in file.parent.iterdir()) == ["link.json", "talk.json"]


def test_all_or_nothing(run: Run, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the last step fails, the old file is there, whole, and nothing beside it."""
    file = put(TALK)
    before = file.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copymode", fail)
    done = run(file, "-o", file)
    assert done.exit_code == 2
    assert done.stderr.endswith("talk.json: cannot be written: No space left on device\n")
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == ["talk.json"]


def test_device(run: Run, put: Put) -> None:
    """A device is written to, not replaced."""
    done = run(put(TALK), "-o", os.devnull)
    assert done.exit_code == 0
    assert not Path(os.devnull).is_file()


def test_again(run: Run, put: Put) -> None:
    """The same file again starts anew: a second session, the same output."""
    file = put(TALK)
    first, second, third = run(file), run(file), run(file)
    name = first.stderr.split("explain ")[1].strip("`\n")
    assert [f"explain {name}{n}`" in done.stderr for n, done in (("-2", second), ("-3", third))] == [True, True]
    assert first.stdout == second.stdout == third.stdout


def test_profile(run: Run, put: Put, work: Path) -> None:
    """The profile decides the stages and where originals lie; `explain` is told to look there."""
    (work / "team.yaml").write_text(f"extends: default\nstorage:\n  blobs: file://{work}/kept\n")
    done = run(put(TALK), "--profile", "team.yaml")
    assert f"originals: file://{work}/kept; see `trimtab explain compact-" in done.stderr
    assert done.stderr.endswith(" --profile team.yaml`\n")
    assert list((work / "kept").glob("*/*.txt"))
    done = run(put(TALK), "--profile", "minimal")
    assert json.loads(done.stdout) == TALK


def test_bound_thinking(run: Run, put: Put) -> None:
    """On a model that binds thinking, what an edit breaks goes with it; on another it stays."""
    bound = [*TALK[:3], says(thinks("so"), "It fails."), *TALK[-1:], says("Because."), user("Ah.")]
    assert "signed so" not in run(put(bound)).stdout
    done = run(put(bound), "--model", "claude-sonnet-4-5")
    assert "signed so" in done.stdout
    assert "model claude-sonnet-4-5, window 200,000" in done.stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "nowhere.json: cannot be read: No such file or directory"),
        ("", "nowhere.json:1: the file is empty (formats known: claude-code, "),
        ("[1]", "nowhere.json:1: JSON, but no recorded conversation that a reader knows: message 1 is not an object ("),
        (
            '[{"role": "user", "content": [7]}]',
            "nowhere.json: the messages could not be read, handed back as they are: ",
        ),
    ],
)
def test_wrong_files(run: Run, work: Path, text: str | None, told: str) -> None:
    """A file that holds no messages is one line on stderr, and exit code 2."""
    if text is not None:
        (work / "nowhere.json").write_text(text)
    done = run("nowhere.json")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.startswith(told)
    assert done.stderr.count("\n") == 1


def test_wrong_output(run: Run, put: Put) -> None:
    """A place that cannot be written is named."""
    done = run(put(TALK), "-o", "no/such/folder.json")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == "no/such/folder.json: cannot be written: No such file or directory"


def test_switched_off(run: Run, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where trimtab is switched off, the command says so instead of writing the input."""
    monkeypatch.setenv("TRIMTAB_OFF", "1")
    done = run(put(TALK))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "TRIMTAB_OFF is set" in done.stderr


@pytest.mark.corpus
@pytest.mark.slow
def test_recorded_sessions(run: Run, tmp_path: Path) -> None:
    """Every recorded session becomes a valid list, never a heavier one but for what was repaired."""
    if not CORPUS.is_dir():
        pytest.skip(f"no recorded sessions at {CORPUS}")
    shorter = 0
    for file in sorted(CORPUS.glob("*.jsonl")):
        out = tmp_path / "out.json"
        done = run(file, "-o", out, "--model", "claude-opus-4-5")
        assert done.exit_code == 0, file.name
        messages = json.loads(out.read_text())
        said = read(file).requests[-1].history
        assert certain(messages) == [], file.name
        assert len(messages) - len(said) <= 1
        shorter += len(json.dumps(messages)) < len(json.dumps(said))
    assert shorter >= 10


def test_what_it_cannot_do_it_says(run: Run, put: Put) -> None:
    """Instructions without a model, and thinking that makes edits wait: said, with what helps."""
    told = run(put(TALK), "-o", "short.json", "--instructions", "Keep URLs.", "--profile", "minimal").stderr
    assert "here is none to ask: rules wrote what was summarised" in told
    assert "it passes once" not in told
    thought = {"type": "thinking", "thinking": "hm", "signature": "signed"}
    turn = [TALK[0], TALK[1], TALK[2], says(thought, call("c2")), user(result("c2", "fine"))]
    told = run(put(turn), "-o", "short.json").stderr
    assert "1 refused (waits: thinking of the open turn is bound to it)" in told
    assert "it passes once a message of the user follows" in told
