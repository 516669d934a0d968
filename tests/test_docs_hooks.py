"""docs/hooks.md does what it says: its files are written, trusted and run, in order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from trimtab import Session
from trimtab.cli import app
from trimtab.errors import PluginError
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from typer.testing import CliRunner

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "hooks.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(yaml|python|sh)\n(.*?)```", PAGE, re.DOTALL)
NAMED = re.compile(r"^# ([\w./]+\.(?:yaml|py|sh))\n", re.MULTILINE)
FIRST, OWN, VERIFY, COMMAND = [text for kind, text in BLOCKS if kind == "yaml"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder with all files of the page, of the profiles the first, and an empty home."""
    home, folder = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    folder.mkdir()
    for _, text in reversed(BLOCKS):
        if found := NAMED.search(text):
            file = folder / found[1]
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
            file.chmod(0o700)
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(folder)
    return folder


def opened(id: str = "s") -> Session:
    """A session in this folder."""
    return Session.open(id, ledger=MemoryLedger("memory:"), blobs=MemoryBlobs("memory:"), background=None)


def trust(*words: str) -> Any:
    """Run `trimtab trust`."""
    return CliRunner().invoke(app, ["trust", *words])


def talk(first: str, count: int = 60) -> list[Any]:
    """A long conversation."""
    messages: list[Any] = [{"role": "user", "content": first}]
    for n in range(count):
        messages.append({"role": "assistant", "content": f"Step {n}. " + "I read one more function. " * 40})
        messages.append({"role": "user", "content": f"Fine, go on with function {n}."})
    return messages


def test_three_lines(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first message and the instruction stay; the report and `trimtab explain` say why."""
    (code,) = (text for kind, text in BLOCKS if kind == "python" and not NAMED.search(text))
    exec(compile(code, "docs/hooks.md", "exec"), {"__name__": "snippet"})
    told = capsys.readouterr().out
    assert "type='auto-compact'" in told
    assert " → Port the parser. Never push to main. #keep\n" in told
    explained = CliRunner().invoke(app, ["explain", "ticket-4711"]).stdout
    assert "stays verbatim, 'Port the parser. Never push to main. #keep'" in explained
    assert re.search(r"boundary: [\d,]+ → [\d,]+ tokens, \d+ messages? kept, \d pins? carried", explained)


def test_a_pin_of_your_own(project: Path) -> None:
    """A file needs trust first, and again when it changed; then it pins."""
    (project / "trimtab.yaml").write_text(OWN)
    with pytest.raises(PluginError, match=r"trimtab\.yaml:\d+: .*my_hooks\.py is not trusted yet.*trimtab trust"):
        opened()
    assert trust("--yes").exit_code == 0
    request = opened().compact(talk("Look into TICKET-17 first."))
    assert [pin.reason for pin in request.report.pins] == ["names a ticket"]
    assert "Look into TICKET-17 first." in str(request.messages[0])
    with (project / "my_hooks.py").open("a") as file:
        file.write("\n")
    with pytest.raises(PluginError, match="changed since it was trusted"):
        opened()


def test_verify(project: Path) -> None:
    """What a summary lost is put back behind it; the check of one's own vetoes."""
    (project / "trimtab.yaml").write_text(VERIFY.replace("on_missing: restore", "on_missing: warn"))
    messages = talk("Begin.")
    messages[51]["content"] += "So the budget is $500, and the deadline: 2027-01-31."
    warned = opened().compact(messages).report.warnings
    assert any("$500" in words for words in warned), warned
    (project / "trimtab.yaml").write_text(VERIFY)
    shown = str(opened().compact(messages).messages)
    assert "budget is $500" in shown
    assert "deadline: 2027-01-31" in shown


def test_a_check_of_your_own(project: Path) -> None:
    """A pass that hides the release runs again without the stages that did."""
    (project / "trimtab.yaml").write_text("extends: default\nhooks: [./my_checks.py]\n")
    assert trust("--yes").exit_code == 0
    messages = talk("Begin.")
    messages[51]["content"] += "We are on v2.14.0 now."
    request = opened().compact(messages)
    assert request.report.warnings == ["a hook vetoed: keep-release: the release is gone"]
    assert "v2.14.0" in str(request.messages)


def test_commands(project: Path) -> None:
    """The shell script pins, the Python script blocks a summary that says too little."""
    (project / "trimtab.yaml").write_text(COMMAND)
    listed = trust()
    assert listed.exit_code == 1
    assert "keep.sh" in listed.stdout
    assert trust("--yes").exit_code == 0
    request = opened().compact(talk("Port the parser. Never push to main."))
    assert "house rule" in [pin.reason for pin in request.report.pins]
    assert request.report.boundary is not None
    request = opened().compact(talk("Port it all. Never push to main."))
    assert request.report.boundary is None
    assert any("the summary does not say what this is about" in words for words in request.report.warnings)
