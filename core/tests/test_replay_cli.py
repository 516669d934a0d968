"""`trimtab replay` as people call it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from trimtab.cli.replay import replay
from trimtab.errors import TrimtabError
from trimtab.replay.setup import newest
from typer.testing import CliRunner, Result

app = typer.Typer()
app.command()(replay)
BIG = "\n".join(f"entry_{n} = measure({n})" for n in range(2_000))
MESSAGES = [
    {"role": "user", "content": "what is in it?"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "dump"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": BIG}]},
    {"role": "assistant", "content": "a table"},
    {"role": "user", "content": "and entry_1500?"},
    {"role": "assistant", "content": "entry_1500 = measure(1500)"},
]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, and no profile found upward."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A recorded session with one result over the default profile's limit."""
    path = tmp_path / "one.json"
    path.write_text(json.dumps(MESSAGES))
    return path


def run(*arguments: Any) -> Result:
    """Call the command."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_json_has_a_row_per_session_and_profile(session: Path) -> None:
    """Both profiles over one session: the shortening one is cheaper; the total holds one of each."""
    result = run(session, "--profile", "minimal", "--profile", "default", "--json")
    assert result.exit_code == 0, result.output
    whole = json.loads(result.stdout)
    minimal, default = whole["sessions"]
    assert [row["profile"] for row in whole["sessions"]] == ["minimal", "default"]
    assert minimal["input_cost_after"] == minimal["input_cost_before"] == default["input_cost_before"]
    assert default["input_cost_after"] < default["input_cost_before"]
    assert default["stages"]["tool-result-budget"]["fired"] == 1
    assert list(whole["total"]["profiles"]) == ["minimal", "default"]


def test_the_same_command_gives_the_same_figures(session: Path, tmp_path: Path) -> None:
    """Two runs, each with two equal profiles and its own hash seed, differ in milliseconds alone."""
    texts, rows = [], []
    for seed in "12":
        out = tmp_path / f"requests-{seed}.jsonl"
        words = ["replay", session.name, "--json", "--requests", str(out), *2 * ["--profile", "default"]]
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-m", "trimtab", *words], env=env, capture_output=True, check=True)
        rows += json.loads(done.stdout)["sessions"]
        texts.append(out.read_text())
    for row in rows:
        assert row.pop("ms_p50") <= row.pop("ms_p99")
    assert rows[0]["stages"]["tool-result-budget"]["fired"] == 1
    assert rows[1:] == rows[:1] * 3
    assert texts[0] == texts[1]
    assert "/home/user/.local/share/trimtab/blobs/" in texts[0]


def test_tables_say_what_they_rest_on(session: Path) -> None:
    """Model, date of the prices, time to live, window, thinking, counter: below every table."""
    result = run(session, "--model", "claude-opus-4-5", "--window", "100k", "--ttl", "1h")
    assert result.exit_code == 0, result.output
    words = " ".join(result.stdout.split())
    assert "model claude-opus-4-5, prices of our table of 2026-11-29; cache kept 3600 s; window 100,000" in words
    assert "thinking is not bound to its prefix; tokens counted by" in words
    assert "as recorded" in words
    assert "default" in words


def test_another_model_another_price(session: Path) -> None:
    """The profile's own model does not shine through: five times the input price, five times the bill."""
    costs = []
    for model in ("claude-haiku-4-5", "claude-opus-4-5"):
        result = run(session, "--profile", "minimal", "--model", model, "--json")
        costs.append(json.loads(result.stdout)["total"]["input_cost_before"])
    assert costs[1] == pytest.approx(5 * costs[0])


def test_models_side_by_side(session: Path, tmp_path: Path) -> None:
    """Each profile and each model is a row, in one order; the columns are named after both, the totals too."""
    out = tmp_path / "requests.jsonl"
    words = [session, "--profile", "minimal", "--profile", "default"]
    words += ["--model", "claude-haiku-4-5", "--model", "deepseek-chat"]
    result = run(*words, "--json", "--requests", out)
    assert result.exit_code == 0, result.output
    whole = json.loads(result.stdout)
    pairs = [(row["profile"], row["model"]) for row in whole["sessions"]]
    assert pairs == [(p, m) for p in ("minimal", "default") for m in ("claude-haiku-4-5", "deepseek-chat")]
    haiku, chat = (row["input_cost_before"] for row in whole["sessions"][:2])
    assert haiku > 3 * chat > 0
    assert list(whole["total"]["profiles"]) == [f"{profile}, {model}" for profile, model in pairs]
    assert whole["total"]["model"] == "claude-haiku-4-5, deepseek-chat"
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert {(line["profile"], line["model"]) for line in lines} == set(pairs)
    shown = "".join(run(*words).stdout.split())
    assert shown.count(f"${haiku:.4f}") >= 2
    assert shown.count(f"${chat:.4f}") >= 2


def test_one_model_keeps_the_profiles_name(session: Path) -> None:
    """With one model or none, totals are named after the profiles alone, and rows still tell the model."""
    for words, model in (([], "claude-opus-5-5"), (["--model", "claude-haiku-4-5"], "claude-haiku-4-5")):
        result = run(session, "--profile", "minimal", "--profile", "default", *words, "--json")
        whole = json.loads(result.stdout)
        assert list(whole["total"]["profiles"]) == ["minimal", "default"]
        assert {row["model"] for row in whole["sessions"]} == {model}


def test_an_unknown_model_is_an_error(session: Path) -> None:
    """Without prices there is nothing to say; the nearest name is offered."""
    result = run(session, "--model", "claude-opus-4-55")
    assert isinstance(result.exception, TrimtabError)
    assert "no prices are known for the model 'claude-opus-4-55'; did you mean" in str(result.exception)


def test_a_bad_size_is_an_error(session: Path) -> None:
    """The option is named with what it takes."""
    result = run(session, "--window", "big")
    assert result.exit_code == 2
    assert "--window" in result.output


def test_unreadable_sessions_are_reported_and_the_rest_goes_on(session: Path, tmp_path: Path) -> None:
    """A folder with one good and one bad file, and a file that is not there: one row, two reports, exit 1."""
    (tmp_path / "two.jsonl").write_text("this is no session\n")
    result = run(tmp_path, tmp_path / "three.jsonl", "--profile", "minimal", "--json")
    assert result.exit_code == 1
    assert len(json.loads(result.stdout)["sessions"]) == 1
    assert "two.jsonl" in result.stderr
    assert "three.jsonl" in result.stderr


def test_sessions_of_one_name_stay_apart(session: Path, tmp_path: Path) -> None:
    """A copy in another folder has its own row and its own table."""
    copy = tmp_path / "copy" / session.name
    copy.parent.mkdir()
    copy.write_text(session.read_text())
    result = run(session, copy, "--profile", "minimal", "--json")
    assert [row["session"] for row in json.loads(result.stdout)["sessions"]] == ["one", f"one ({copy})"]


def test_requests_are_written(session: Path, tmp_path: Path) -> None:
    """One line per request and profile: what would be sent, and what the pass did."""
    out = tmp_path / "out.jsonl"
    assert run(session, "--profile", "default", "--requests", out).exit_code == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["i"] for line in lines] == [0, 1, 2]
    assert {line["profile"] for line in lines} == {"default"}
    assert lines[0]["messages"] == MESSAGES[:1]
    assert "entry_1999" not in json.dumps(lines[1]["messages"])
    assert lines[1]["report"]["decisions"][0]["stage"] == "tool-result-budget"


def test_requests_to_stdout(session: Path) -> None:
    """With `-` the requests are all of stdout, and the tables go to stderr; --json would be in the way."""
    done = run(session, "--requests", "-")
    assert done.exit_code == 0
    assert [json.loads(line)["i"] for line in done.stdout.splitlines()] == [0, 1, 2]
    assert "as recorded" in done.stderr
    both = run(session, "--requests", "-", "--json")
    assert (both.exit_code, both.stdout) == (2, "")
    assert "--json" in both.stderr


def test_probed_pins_are_drawn_by_the_seed(session: Path) -> None:
    """Among some seeds there is one that pins the big result, which then stays whole; none loses a pin."""
    freed = set()
    for seed in range(40):
        result = run(session, "--profile", "default", "--probe-pins", seed, "--json")
        row = json.loads(result.stdout)["total"]
        assert row["pins_lost"] == 0
        freed.add(row["stages"]["tool-result-budget"]["tokens_freed"] > 0)
        if len(freed) == 2:
            break
    assert freed == {True, False}


def test_without_arguments_the_newest_session(home: Path) -> None:
    """The session that was written last under the home folder, else the one in the package."""
    assert newest(home).name == "demo.jsonl"
    folder = home / ".claude" / "projects" / "some-project"
    folder.mkdir(parents=True)
    for age, name in enumerate(("new.jsonl", "old.jsonl")):
        (folder / name).write_text("{}\n")
        os.utime(folder / name, (1e9 - age, 1e9 - age))
    assert newest(home) == folder / "new.jsonl"
