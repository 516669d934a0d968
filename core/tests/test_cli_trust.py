"""`trimtab trust`, as a person and as a script run it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from trimtab.cli import app
from trimtab.cli import trust as trust_command
from typer.testing import CliRunner, Result

Run = Callable[..., Result]
Writer = Callable[[str | Path, str], Path]
HOOKS = """
from trimtab import Hook, HookOptions
class Mine(Hook):
    name = "mine"
    class Options(HookOptions):
        words: str = "#keep"
    def runs(self):
        return [["./check.sh", "--fast"]]
"""


@pytest.fixture
def run(work: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in the working directory; ``input`` is what a person at a terminal types."""
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str, input: str | None = None) -> Result:
        monkeypatch.setattr(trust_command, "_terminal", lambda: input is not None)
        return CliRunner().invoke(app, list(words), input=input)

    return run


@pytest.fixture
def file(write: Writer) -> Path:
    """A project whose file runs a script."""
    write("trimtab.yaml", "extends: minimal\nhooks: [./mine.py]\n")
    write("check.sh", "exit 0\n")
    return write("mine.py", HOOKS)


def states(done: Result) -> list[tuple[str, str]]:
    """What is listed, and the column behind it."""
    rows = [line.split("  ") for line in done.stdout.splitlines() if line[:1] in "/." and "  " in line]
    return [(row[0].rpartition("/")[2], next(cell.strip() for cell in row[1:] if cell.strip())) for row in rows]


def test_nothing_to_trust(run: Run, write: Writer) -> None:
    """The packaged profiles need no trust, nor do lists of installed names."""
    write("trimtab.yaml", "extends: default")
    done = run("trust")
    assert (done.exit_code, done.stdout) == (0, "nothing that this profile wants to run needs trust\n")


@pytest.mark.usefixtures("file")
def test_without_a_terminal(run: Run) -> None:
    """It lists, says why it asks nobody, trusts nothing, exits with 1; `--yes` trusts also what a file tells then."""
    done = run("trust")
    assert (done.exit_code, states(done)) == (1, [("mine.py", "new")])
    assert done.stderr == "nobody can be asked (stdin is no terminal): read what is listed, then say --yes\n"
    assert run("profile", "check").exit_code == 2
    done = run("trust", "--yes")
    assert (done.exit_code, states(done)) == (0, [("mine.py", "new"), ("check.sh --fast", "new")])
    assert done.stdout.splitlines()[-1] == "2 of 2 trusted"
    assert run("profile", "check").exit_code == 0
    done = run("trust")
    assert (done.exit_code, states(done)) == (0, [("mine.py", "trusted"), ("check.sh --fast", "trusted")])


@pytest.mark.parametrize(
    ("typed", "exit_code", "trusted"),
    [
        ("no\n", 1, "0 of 1 trusted"),
        ("\n", 1, "0 of 1 trusted"),
        ("yes\nno\n", 1, "1 of 2 trusted"),
        ("y\ny\n", 0, "2 of 2 trusted"),
        ("all\nall\n", 0, "2 of 2 trusted"),
    ],
)
@pytest.mark.usefixtures("file")
def test_at_a_terminal(run: Run, typed: str, exit_code: int, trusted: str) -> None:
    """It asks for each, or for all that are listed; no answer is no."""
    done = run("trust", input=typed)
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (exit_code, trusted)
    assert "Trust ./mine.py? yes, no, all [no]:" in done.stderr
    assert run("trust").stdout.splitlines()[-1] == trusted


def test_all_means_all_from_here(run: Run, write: Writer) -> None:
    """Who says no first and then all trusts all but the first; who gives up trusts nothing."""
    for name in "abc":
        write(f"{name}.py", HOOKS.replace("mine", name).partition("    def runs")[0])
    write("trimtab.yaml", "extends: minimal\nhooks: [./a.py, ./b.py, ./c.py]\n")
    assert run("trust", input="yes\n").exit_code == 1
    assert "0 of 3 trusted" in run("trust").stdout
    assert run("trust", input="no\nall\n").exit_code == 1
    assert states(run("trust")) == [("a.py", "new"), ("b.py", "trusted"), ("c.py", "trusted")]


def test_changed(run: Run, work: Path, file: Path) -> None:
    """A script that is other than it was trusted is listed as changed, alone, and refused until then."""
    run("trust", "--yes")
    (work / "check.sh").write_text("curl evil\n")
    done = run("profile", "check")
    assert (done.exit_code, done.stderr) == (
        2,
        "trimtab.yaml:2: hooks[0]: ./check.sh --fast changed since it was trusted (check.sh): "
        "read it, then run `trimtab trust`\n",
    )
    assert states(run("trust")) == [("mine.py", "trusted"), ("check.sh --fast", "changed")]
    assert run("trust", input="yes\n").exit_code == 0


def test_json(run: Run, file: Path) -> None:
    """All that is wanted, whole, without a question."""
    done = run("trust", "--json", input="")
    assert done.exit_code == 1
    (row,) = json.loads(done.stdout)
    assert (row["state"], row["name"], row["words"], row["kind"]) == ("new", "./mine.py", [str(file)], "python")
    assert (row["where"], list(row["sha256"])) == ("trimtab.yaml:2: hooks[0]", [str(file)])
    done = run("trust", "--json", "--yes")
    assert (done.exit_code, [row["state"] for row in json.loads(done.stdout)]) == (0, ["trusted", "trusted"])


def test_list_and_revoke(run: Run, work: Path, file: Path, home: Path) -> None:
    """What is trusted, with its files; a file, a folder or all can be revoked, and what is not there is said."""
    place = home / ".local/share/trimtab/trust.json"
    assert (run("trust", "--list").stdout, run("trust", "--list").stderr) == ("", f"{place}: nothing is trusted yet\n")
    run("trust", "--yes")
    listed = run("trust", "--list").stdout
    assert str(work / "check.sh") in listed
    assert f"{work}/trimtab.yaml:2: hooks[0]" in listed
    assert [row["kind"] for row in json.loads(run("trust", "--list", "--json").stdout)] == ["python", "command"]
    done = run("trust", "--revoke", "nowhere")
    assert (done.exit_code, done.stderr) == (
        2,
        f"{work}/nowhere: nothing here is trusted; `trimtab trust --list` tells what is\n",
    )
    assert run("trust", "--revoke", "check.sh").stdout == "1 thing trusted no longer\n"
    assert states(run("trust")) == [("mine.py", "trusted"), ("check.sh --fast", "new")]
    run("trust", "--yes")
    assert run("trust", "--revoke", ".").stdout == "2 things trusted no longer\n"
    run("trust", "--yes")
    assert run("trust", "--revoke", "all").stdout == "2 things trusted no longer\n"
    assert (run("trust", "--revoke", "all").exit_code, run("profile", "check").exit_code) == (0, 2)


def test_a_named_profile(run: Run, write: Writer, file: Path) -> None:
    """A profile may be named; one that is wrong in itself is said as everywhere."""
    write("trimtab.yaml", "{}")
    write("team.yaml", "extends: minimal\nhooks: [./mine.py]\n")
    assert run("profile", "check", "--profile", "team.yaml").stderr == (
        "team.yaml:2: hooks[0]: ./mine.py is not trusted yet: read it, then run `trimtab trust team.yaml`\n"
    )
    assert run("trust").exit_code == 0
    assert run("trust", "team.yaml", "--yes").exit_code == 0
    assert run("profile", "check", "--profile", "team.yaml").exit_code == 0
    file.write_text("x = y")
    done = run("trust", "team.yaml", "--yes")
    assert (done.exit_code, done.stderr) == (
        2,
        "team.yaml:2: hooks[0]: ./mine.py:1: NameError: name 'y' is not defined\n",
    )


def test_show_marks_it(run: Run, work: Path, file: Path) -> None:
    """`profile show` shows the rest, and what is not trusted with its origin; then names and options of a file."""
    shown = run("profile", "show").stdout.splitlines()
    assert shown[-1].split() == ["hooks[0]", '"./mine.py"', "trimtab.yaml:2", "(not", "trusted:", "new)"]
    assert [line for line in shown if line.startswith("hooks ")] == []
    row = {"key": "hooks[0]", "value": "./mine.py", "origin": "trimtab.yaml:2", "trust": "new"}
    assert json.loads(run("profile", "show", "--json").stdout)["values"][-1] == row
    run("trust", "--yes")
    shown = [" ".join(line.split()) for line in run("profile", "show").stdout.splitlines()]
    assert 'hooks[0] "./mine.py:mine" trimtab.yaml:2' in shown
    assert 'hooks[0][./mine.py].words "#keep" default' in shown
    (work / "check.sh").unlink()
    assert run("profile", "show").stdout.splitlines()[-1].endswith("trimtab.yaml:2 (not trusted: changed)")
