"""docs/clients.md: its agents run as they stand there, in processes of their own, against the fake provider."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from trimtab.testing.provider import Call, FakeProvider, Settings, Text, Think, Use

PAGE = Path(__file__).resolve().parents[1] / "docs" / "clients.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
AGENTS = {name: next(block for block in BLOCKS if mark in block and "sys.argv" in block) for name, mark in (
    ("messages", "messages.stream"), ("chat", "chat.completions"), ("responses", "responses.create")
)}  # fmt: skip
ROUNDS = 20
UNASKED = "stage auto-compact got no answer: AskFailed"
"""What the log says where whoever is asked for a summary gives none."""


class Worker:
    """Thinks and runs a command with much output, round after round; then it says that it is done."""

    def __init__(self) -> None:
        self.rounds = 0

    def __call__(self, call: Call) -> Any:
        """The next step; whoever asks for a summary gets none."""
        if "Count." not in str(call.body) or not call.body.get("tools"):
            return Text("I would rather not.")
        self.rounds += 1
        if self.rounds > ROUNDS:
            return Text("All done.")
        thought = [Think(f"Step {self.rounds}.")] if call.api != "chat" else []
        return [*thought, Use("bash", {"command": f"seq {self.rounds}000 {self.rounds}999"})]


def run(code: str, url: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The code as a script in an empty folder, with that provider and a home of its own."""
    (folder / "agent.py").write_text(code)
    home = {name: str(folder / name) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    keys = {"ANTHROPIC_API_KEY": "any", "OPENAI_API_KEY": "any"}
    urls = {"ANTHROPIC_BASE_URL": url, "OPENAI_BASE_URL": f"{url}/v1"}
    env = {
        **os.environ,
        **home,
        **keys,
        **urls,
        "TRIMTAB_PROVIDER__WINDOW": "15k",
        "TRIMTAB_COUNTER": "estimate",
        "TRIMTAB_OFF": "",
    }
    how: Any = {"cwd": folder, "env": env, "capture_output": True, "text": True, "timeout": 100}
    return subprocess.run([sys.executable, "-W", "error", "agent.py", "Count."], check=False, **how)


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent(agent: str, tmp_path: Path) -> None:
    """Twenty rounds in a window of 15k tokens, where they would need twice that: none is refused."""
    with FakeProvider(Worker(), Settings(window=15_000, prefix_check=True)) as provider:
        done = run(AGENTS[agent], provider.url, tmp_path)
        assert (done.returncode, {*done.stderr.splitlines()} - {UNASKED}) == (0, set())
        assert "All done." in done.stdout
        (saved,) = re.findall(r"^saved: ([\d,]+) tokens$", done.stdout, re.MULTILINE)
        assert int(saved.replace(",", "")) > 12_000
        assert provider.refused == []
        assert sum(served.api == agent for served in provider.served) >= ROUNDS + 1
        assert provider.billed.hit_rate > 0.5


def test_an_agent_is_short() -> None:
    """Forty lines at most, imports and all."""
    assert [name for name, code in AGENTS.items() if len(code.splitlines()) > 40] == []


def test_the_example_of_the_provider(capsys: pytest.CaptureFixture[str]) -> None:
    """It prints the call's name, nothing refused, and what was billed."""
    space: dict[str, Any] = {"__name__": "example"}
    exec(next(block for block in BLOCKS if "FakeProvider" in block), space)
    space["client"].close()
    assert capsys.readouterr().out.startswith("bash [] Billed(")
