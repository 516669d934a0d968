"""`trimtab profile` and `trimtab plugins`, as a person runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from trimtab.cli import app
from trimtab.cli import plugins as plugins_command
from trimtab.cli.profile import values
from trimtab.cli.schema import profile_schema
from trimtab.plugins import Catalog, Found, catalog
from trimtab.profile import Profile
from typer.testing import CliRunner, Result

Writer = Callable[[str | Path, str], Path]


@pytest.fixture
def run(work: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run a command in the working directory."""
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return lambda *words: CliRunner().invoke(app, list(words))


PACKAGED = (
    "(packaged: deepseek, default, four-layer, four-stage, kimi, local-vllm, memory-stack, minimal, openai, "
    "seven-stage, three-tier)"
)
STAGES, HOOKS = sorted(catalog().stages), sorted(catalog().hooks)


def test_show(run: Callable[..., Result], write: Writer) -> None:
    """Every value stands on one line with its origin."""
    write("trimtab.yaml", "thresholds:\n  auto: 9k\n")
    result = run("profile", "show")
    assert result.exit_code == 0
    lines = [line.split() for line in result.output.splitlines()]
    assert ["thresholds.auto", "9000", "trimtab.yaml:2"] in lines
    assert ["thresholds.warn", "20000", "trimtab/configs/minimal.yaml:4"] in lines
    assert ["stages[0].tool-result-budget.limits.shell", "4000", "trimtab/configs/default.yaml:7"] in lines
    assert ["stages[0].tool-result-budget.preview", '"names"', "default"] in lines
    assert ["hooks[0].constraints.budget", "null", "default"] in lines
    assert ["hooks[1].pins", '[{"contains":', '"#keep"}]', "trimtab/configs/default.yaml:20"] in lines
    assert ["tools.Bash", '"shell"', "trimtab/configs/minimal.yaml:22"] in lines


def test_show_json(run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    """As JSON: the profile's name and a list of key, value and origin."""
    monkeypatch.setenv("TRIMTAB_PROVIDER__CACHE__TTL", "1h")
    told = json.loads(run("profile", "show", "--profile", "minimal", "--json").output)
    assert told["profile"] == "minimal"
    row = {"key": "provider.cache.ttl", "value": 3600.0, "origin": "TRIMTAB_PROVIDER__CACHE__TTL"}
    assert row in told["values"]
    assert {"key": "stages", "value": [], "origin": "trimtab/configs/minimal.yaml:5"} in told["values"]


def test_values_are_complete(get: Callable[..., Profile]) -> None:
    """Every section of a profile is among its values."""
    shown = {path[0] for path, _ in values(get("default", {"hooks": ["keep"]}))}
    assert shown == set(Profile.model_fields)


def test_check(run: Callable[..., Result]) -> None:
    """A usable profile is said to be fine, with what it runs and what was read."""
    shipped = [f"trimtab/configs/{name}.yaml" for name in ("default", "minimal")]
    assert run("profile", "check").output.splitlines() == [
        "default: fine (stages: tool-result-budget, snip, context-collapse, micro-compact, session-memory, "
        "auto-compact, reactive-compact; hooks: constraints, pins, restore)",
        f"read, the strongest first: {', '.join(shipped)}",
        "window 1,000,000 tokens: warn at 960,000, auto at 967,000, block at 977,000",
        f"no trimtab.yaml in {Path.cwd()} or a folder above it",
    ]
    told = json.loads(run("profile", "check", "--profile", "minimal", "--json").output)
    assert told == {"profile": "minimal", "stages": [], "hooks": [], "sources": shipped[1:], "warnings": []}


def test_check_tells_what_was_read(run: Callable[..., Result], write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables and files are named, and a model that the table does not know is, with its line and the nearest."""
    monkeypatch.setenv("TRIMTAB_STRICT", "true")
    write("trimtab.yaml", "extends: minimal\nprovider:\n  model: claude-opus-5-6\n")
    done = run("profile", "check")
    assert done.exit_code == 0
    read = ["TRIMTAB_STRICT", "trimtab.yaml", "trimtab/configs/minimal.yaml"]
    assert done.stdout.splitlines()[1] == f"read, the strongest first: {', '.join(read)}"
    warning = (
        "the model 'claude-opus-5-6' is not known: taken is a window of 200,000 tokens; did you mean 'claude-opus-5-5'?"
    )
    assert done.stderr == f"warning: trimtab.yaml:3: {warning}\n"
    told = json.loads(run("profile", "check", "--json").stdout)
    assert (told["sources"], told["warnings"]) == (read, [f"trimtab.yaml:3: {warning}"])


def test_check_looks_for_scripts(run: Callable[..., Result], write: Writer, home: Path) -> None:
    """A command whose script is not there is an error with the nearest one, before anything starts it."""
    text = "extends: minimal\nhooks:\n- command-hooks: {pre_compact: ['python3 hooks/gone.py']}\n"
    write(home / ".config/trimtab/hooks/gone.sh", "")
    write(home / ".config/trimtab/trimtab.yaml", text)
    done = run("profile", "check")
    assert done.exit_code == 2
    assert "no file hooks/gone.py; did you mean 'gone.sh'? (there: gone.sh), which python3 hooks/gone.py" in done.stderr


def test_check_tells_what_is_not_taken_as_said(run: Callable[..., Result], write: Writer) -> None:
    """A threshold above its share of the window is named with what is used instead; a shipped one is not."""
    write("trimtab.yaml", "provider:\n  window: 100k\nthresholds:\n  warn: 50k\n")
    assert run("profile", "check").stderr == (
        "warning: trimtab.yaml:4: thresholds.warn: 50,000 is more than its share of a window of 100,000 tokens (10 %): "
        "10,000 is used\n"
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "stages:\n- tool-result-budget:\n    when: [cold, always]",
            "team.yaml:3: stages[0].tool-result-budget.when: always opens nothing without `warm: allow`, "
            "which rewrites warm caches",
        ),
        (
            "storage: {ledger: 'sqlite:a.db'}",
            "'sqlite:a.db': not a place to store things in; write sqlite:///absolute/path",
        ),
    ],
)
def test_check_looks_further(run: Callable[..., Result], write: Writer, text: str, error: str) -> None:
    """What a session would meet only when it runs is an error here."""
    write("team.yaml", f"extends: minimal\n{text}\n")
    done = run("profile", "check", "--profile", "team.yaml")
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"{error}\n")


def test_check_fails(run: Callable[..., Result], write: Writer) -> None:
    """An unusable profile is one line on stderr, exit code 2, and no traceback."""
    write("team.yaml", "extends: minimal\nstages:\n  - tool-result-bugdet\n")
    result = run("profile", "check", "--profile", "team.yaml")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == (
        "team.yaml:3: stages[0]: no stage named 'tool-result-bugdet'; did you mean 'tool-result-budget'? "
        f"(installed: {', '.join(STAGES)})\n"
    )


def test_schema(run: Callable[..., Result]) -> None:
    """The schema has every section and every stage's options, defaults as a profile writes them, nothing required."""
    schema = json.loads(run("profile", "schema").output)
    assert schema["properties"].keys() == Profile.model_fields.keys()
    assert "required" not in schema
    names, mapping, _ = schema["properties"]["stages"]["items"]["anyOf"]
    assert names == {"enum": STAGES}
    options = mapping["properties"]["tool-result-budget"]["anyOf"][0]
    assert options["additionalProperties"] is False
    assert options["properties"]["when"]["default"] == []
    assert options["properties"]["at_least"]["description"] == (
        "Tokens; smaller batches of edits of sent content wait, and ``pays`` weighs again after that much growth."
    )
    assert schema["additionalProperties"] is False


def _references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if "$ref" in value else set()
        return own.union(*(_references(inner) for inner in value.values()))
    return set().union(*(_references(inner) for inner in value)) if isinstance(value, list) else set()


def test_schema_parts(get: Callable[..., Profile]) -> None:
    """Every reference in the schema leads to a part; parts of different plugins stay apart."""
    found = catalog([get("minimal", {"stages": ["trim"]}).stages[0].cls])
    schema = profile_schema(found)
    assert {f"#/$defs/{name}" for name in schema["$defs"]} >= _references(schema)
    assert {"trim.Limits", "tool-result-budget.Limits"} <= schema["$defs"].keys()


def test_plugins(run: Callable[..., Result]) -> None:
    """One line per plugin, or a list of objects whose options are described."""
    lines = [line.split()[:4] for line in run("plugins").output.splitlines()]
    assert lines[0] == ["NAME", "KIND", "DISTRIBUTION", "VERSION"]
    assert [line[:2] for line in lines[1:]] == [[name, "stage"] for name in STAGES] + [[name, "hook"] for name in HOOKS]
    assert ["snip", "stage", "trimtab-snip", version("trimtab-snip")] in lines
    rows = json.loads(run("plugins", "--json").output)
    assert [row["name"] for row in rows] == STAGES + HOOKS
    assert all(row.keys() == {"name", "kind", "distribution", "version", "options"} for row in rows)
    row = next(row for row in rows if row["name"] == "tool-result-budget")
    assert {"when", "limits", "preview"} <= row["options"]["properties"].keys()
    parts = {f"#/$defs/{name}" for name in row["options"]["$defs"]}
    assert parts == _references(row["options"]) != set()


def test_broken_plugins_are_listed(run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin that cannot be used is listed with its reason."""
    broken = Catalog(broken=[Found("x", "broken", "acme-x", "1.0", error="ImportError: no y")])
    monkeypatch.setattr("trimtab.plugins.catalog", lambda: broken)
    assert run("plugins").output.splitlines()[1].split(maxsplit=4) == [
        "x",
        "broken",
        "acme-x",
        "1.0",
        "ImportError: no y",
    ]
    assert plugins_command.rows(broken) == [
        {
            "name": "x",
            "kind": "broken",
            "distribution": "acme-x",
            "version": "1.0",
            "options": {},
            "error": "ImportError: no y",
        }
    ]


def test_version(run: Callable[..., Result]) -> None:
    """`--version` prints the distribution's version."""
    assert run("--version").output == f"trimtab {version('trimtab')}\n"


def test_command(tmp_path: Path) -> None:
    """The installed command ends an error with exit code 2 and one line."""
    command = [str(Path(sys.executable).with_name("trimtab")), "profile", "check", "--profile", "nowhere"]
    told = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr == f"no profile named 'nowhere' {PACKAGED}\n"


def test_module(tmp_path: Path) -> None:
    """`python -m trimtab` is the command."""
    command = [sys.executable, "-m", "trimtab", "--version"]
    told = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert told.stdout == f"trimtab {version('trimtab')}\n"


@pytest.mark.parametrize(
    "words",
    [
        ["replay", "gone.jsonl"],
        ["replay", "--requests", "no/such/x.jsonl"],
        ["replay", "--requests", "."],
        ["replay", "--profile", "minimal", "--requests", "/dev/full"],
        ["replay", "--profile", "no/such.yaml"],
        ["replay", "--profile", "./"],
        ["compact", "gone.json"],
        ["compact", "."],
        ["pipe", "--profile", "no/such.yaml"],
        ["explain", "--profile", "no/such.yaml"],
        ["explain", "s", "--profile", "folder.yaml"],
        ["profile", "check", "--profile", "folder.yaml"],
        ["profile", "show", "--profile", "no/such.yaml"],
    ],
    ids=" ".join,
)
def test_places_that_cannot_be_used(run: Callable[..., Result], work: Path, words: list[str]) -> None:
    """A place that is not there, or of another kind, is one line with its name, and exit code 2."""
    (work / "folder.yaml").mkdir()
    done = run(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert words[-1].rstrip("/") in done.stderr


def test_what_the_system_refuses(run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    """Any other error of the system is one line as well."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "/dev/full")

    monkeypatch.setattr("trimtab.profile.load", full)
    done = run("profile", "check")
    assert (done.exit_code, done.stderr) == (2, "/dev/full: No space left on device\n")


@pytest.mark.parametrize("command", ["pipe", "replay"])
def test_no_window(run: Callable[..., Result], command: str) -> None:
    """`--window 0` is refused with what a window is."""
    done = run(command, "--window", "0")
    assert done.exit_code == 2
    assert "is not a window; write at least 1,000" in " ".join(done.stderr.replace("│", " ").split())


def test_commands_are_lazy() -> None:
    """Loading the command line loads no replay, no counter, no store and no database driver."""
    code = "import sys, trimtab.cli; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(told.stdout.split())
    assert "trimtab.cli" in loaded
    assert not loaded & {"sqlite3", "tiktoken", "trimtab.counters", "trimtab.replay", "trimtab.storage"}
