"""trimtab as its users have it: installed from wheels, far from the repository, in an empty home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.install

ROOT = Path(__file__).resolve().parents[1]
PROFILES = sorted(path.stem for path in ROOT.glob("core/src/trimtab/configs/*.yaml"))

THIRD_PARTY = {
    "pyproject.toml": """
[build-system]
requires = ["hatchling>=1.25"]
build-backend = "hatchling.build"

[project]
name = "acme-stages"
version = "3.2.1"
dependencies = ["trimtab"]

[project.entry-points.trimtab]
acme-count = "acme_stages"
""",
    "acme_stages.py": """
from trimtab import Replace, Stage, StageOptions, hookimpl


class Options(StageOptions):
    word: str = "saw"


class Count(Stage):
    name = "acme-count"
    Options = Options

    def propose(self, view):
        for result in view.results:
            if not result.replaced:
                yield Replace(result, f"acme {self.options.word} {len(result.text)} characters")


@hookimpl
def stage():
    return Count
""",
}

PREPARE = """
import sys
from trimtab import Session
call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
result = {"type": "tool_result", "tool_use_id": "t1", "content": "word_1 " * 3_000}
messages = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": [call]},
    {"role": "user", "content": [result]},
]
request = Session.open(sys.argv[1], sys.argv[1]).prepare(messages)
print(request.messages[-1]["content"][0]["content"])
"""


class Installed:
    """An environment of its own; commands run in an empty folder with an empty home."""

    def __init__(self, folder: Path) -> None:
        self.away = folder / "away"
        self.away.mkdir()
        self._bin = folder / "env" / "bin"
        subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)
        third = folder / "acme-stages"
        third.mkdir()
        for name, text in THIRD_PARTY.items():
            (third / name).write_text(text, encoding="utf-8")
        members = [str(path.parent) for path in sorted(ROOT.glob("*/*/pyproject.toml"))]
        pip = [str(self._bin / "python"), "-m", "pip", "--disable-pip-version-check", "-q"]
        subprocess.run([*pip, "wheel", "--no-deps", "-w", "wheels", ROOT / "core", *members], cwd=folder, check=True)
        wheels = [str(path) for path in sorted((folder / "wheels").glob("*.whl"))]
        subprocess.run([*pip, "install", *wheels], cwd=folder, check=True)
        subprocess.run([*pip, "install", str(third)], cwd=folder, check=True)

    def run(self, *command: str) -> str:
        """What a command of the environment prints; it must succeed."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "TRIMTAB", "XDG"))}
        told = subprocess.run(
            [str(self._bin / command[0]), *command[1:]],
            cwd=self.away,
            env={**kept, "HOME": str(self.away)},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert told.returncode == 0, told.stderr
        return told.stdout

    def json(self, *command: str) -> Any:
        """The JSON that a command prints."""
        return json.loads(self.run(*command))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Wheels of all members, and after them a third party's stage."""
    return Installed(tmp_path_factory.mktemp("installed"))


@pytest.mark.parametrize("profile", PROFILES)
def test_packaged_profiles_work_anywhere(installed: Installed, profile: str) -> None:
    """`--profile NAME` finds the packaged profiles, and a replay without arguments the packaged session."""
    told = installed.json("trimtab", "replay", "--profile", profile, "--json")
    (row,) = told["sessions"]
    assert (row["profile"], row["exceptions"], row["invalid_requests"]) == (profile, 0, 0)
    assert row["requests"] >= 60


def test_third_party_stage_is_found(installed: Installed) -> None:
    """A stage of another distribution is listed with its origin."""
    (row,) = (row for row in installed.json("trimtab", "plugins", "--json") if row["name"] == "acme-count")
    assert (row["kind"], row["distribution"], row["version"]) == ("stage", "acme-stages", "3.2.1")


@pytest.mark.parametrize(
    ("order", "shown"),
    [
        (["acme-count: {word: counted}", "tool-result-budget"], "acme counted 21000 characters"),
        (["tool-result-budget", "acme-count"], "<persisted-output>"),
    ],
)
def test_yaml_orders_a_third_party_stage(installed: Installed, order: list[str], shown: str) -> None:
    """The stage that the profile lists first gets the result."""
    profile = installed.away / f"{order[0].partition(':')[0]}.yaml"
    stages = "".join(f"  - {item}\n" for item in order)
    profile.write_text(f"extends: default\nstages:\n{stages}", encoding="utf-8")
    assert installed.run("python", "-c", PREPARE, str(profile)).startswith(shown)
