"""What the READMEs show works as shown."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
import trimtab
from trimtab import Session, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger

ROOT = Path(__file__).resolve().parents[1]


def snippets(path: str, language: str) -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / path).read_text(encoding="utf-8"), re.DOTALL)


def snippet(words: str) -> str:
    """The README's Python snippet that holds these words."""
    (found,) = (code for code in snippets("README.md", "python") if words in code)
    return found


@pytest.mark.parametrize("path", ["README.md", "core/README.md"])
def test_python_runs(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python snippet runs in an empty home."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    found = snippets(path, "python")
    assert found
    for code in found:
        exec(compile(code, path, "exec"), {"__name__": "snippet"})


def test_loop_of_the_readme() -> None:
    """The README's loop sends until the provider takes it, and raises what it cannot mend."""
    profile = load("default", env={}, cwd="/", overrides={"provider": {"window": 20_000}})
    session = Session.open("r", profile, ledger=MemoryLedger("memory:"), blobs=MemoryBlobs("memory:"), background=None)
    sizes: list[float] = []

    def call_the_model(request: trimtab.Request) -> dict[str, object]:
        sizes.append(request.report.tokens_after)
        if len(sizes) == 1:
            raise ValueError("prompt is too long: 21000 tokens > 20000 maximum")
        if len(sizes) == 2:
            return {"usage": {"input_tokens": 20_500}}  # cut off without a word
        if len(sizes) == 4:
            raise ValueError("invalid x-api-key")
        return {"usage": {"input_tokens": 9_000}}

    scope: dict[str, object] = {"__name__": "snippet", "session": session, "call_the_model": call_the_model}
    exec(snippet("def send"), scope)
    messages: list[trimtab.conversation.Wire] = [{"role": "user", "content": "go"}]
    for n in range(10):
        call = {"type": "tool_use", "id": f"t{n}", "name": "Read", "input": {"file_path": f"/f{n}"}}
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"some text {n} " * 250}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    send: object = scope["send"]
    assert callable(send)
    assert send(messages) == {"usage": {"input_tokens": 9_000}}
    assert len(sizes) == 3
    with pytest.raises(ValueError, match="invalid x-api-key"):
        send([*messages, {"role": "assistant", "content": "done"}, {"role": "user", "content": "more"}])


def test_stage_of_the_readme(tmp_path: Path) -> None:
    """The README's stage clears old results when the cache is cold."""
    scope: dict[str, type] = {"__name__": "snippet"}
    exec(snippet("class ClearOld"), scope)
    overrides = {"stages": [{"clear-old": {"keep": 1, "when": "cold"}}]}
    profile = load("minimal", overrides=overrides, plugins=[scope["ClearOld"]], env={}, cwd=str(tmp_path))
    now = [0.0]
    session = Session.open(
        "r", profile, ledger=MemoryLedger("memory:"), blobs=MemoryBlobs("memory:"), clock=lambda: now[0]
    )
    messages: list[trimtab.conversation.Wire] = [{"role": "user", "content": "go"}]
    for n in range(4):
        call = {"type": "tool_use", "id": f"t{n}", "name": "Read", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": "some text " * 500}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        request = session.prepare(messages)
        assert request.messages == messages
    now[0] += 600
    request = session.prepare(messages)
    cleared = ["cleared" in str(message["content"][0]) for message in request.messages[2::2]]
    assert cleared == [True, True, True, False]


def test_contract_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The README's stage passes the README's contract, as far as it is run here."""
    code = [snippet("class ClearOld"), snippets("README.md", "py")[-1]]
    (tmp_path / "readme_snippets.py").write_text("\n".join(code))
    monkeypatch.syspath_prepend(tmp_path)
    contract = importlib.import_module("readme_snippets").TestClearOld()
    contract.test_options_are_documented()
    contract.test_never_fails("anthropic")


def test_stage_of_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/stages.md: its stage keeps the contract as far as it is run here, and recovers, notes and answers."""
    contract = "from trimtab.testing import StageContract\n\n\nclass TestIt(StageContract):\n    stage = Housekeeper\n"
    (tmp_path / "docs_snippets.py").write_text("\n".join([snippets("docs/stages.md", "python")[0], contract]))
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("docs_snippets")
    test = module.TestIt()
    test.test_options_are_documented()
    test.test_never_fails("anthropic")
    test.test_never_fails("openai")
    profile = load("minimal", overrides={"stages": ["housekeeper"]}, plugins=[module.Housekeeper], env={}, cwd="/")
    stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
    session = Session.open("d", profile, ask=lambda ask: "Mending.", background=None, stage_tools=True, **stores)
    messages: list[trimtab.conversation.Wire] = [{"role": "user", "content": "go"}]
    for n in range(10):
        call = {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": f"make {n}"}}
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"output {n} of it " * 400}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    request = session.prepare(messages)
    assert request.tools[0]["name"] == "unneeded"
    session.observe({"usage": {"input_tokens": 20_000}})
    assert session.notes() == {"housekeeper:line": "Mending."}
    answer = session.call_tool({"type": "tool_use", "id": "u", "name": "unneeded", "input": {"text": "output 3 of it"}})
    assert answer["content"] == "1 will go."
    smaller = session.recover(ValueError("prompt is too long: 1010000 tokens > 1000000 maximum"))
    assert "[cut; all of it: " in str(smaller.messages)


def test_yaml_loads(tmp_path: Path) -> None:
    """The README's profile is valid."""
    (tmp_path / "trimtab.yaml").write_text(snippets("README.md", "yaml")[0], encoding="utf-8")
    profile = load(cwd=str(tmp_path), env={"HOME": str(tmp_path)})
    assert profile.stages[0].options.limits.shell == 8_000
