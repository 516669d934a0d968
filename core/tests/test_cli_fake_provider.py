"""`trimtab fake-provider --script`: answers from a file, and what is wrong with one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from trimtab.cli.fake_provider import answers_in
from trimtab.errors import TrimtabError
from trimtab.testing.provider import Fail, FakeProvider, Text, Think, Use


def script(folder: Path, said: object) -> Path:
    """A file that holds that."""
    path = folder / "script.json"
    path.write_text(said if isinstance(said, str) else json.dumps(said))
    return path


def test_the_forms_of_an_answer(tmp_path: Path) -> None:
    """Texts, parts, lists of parts and errors."""
    said = ["hi", {"text": "yo"}, [{"think": "hm"}, {"use": "bash", "input": {"command": "ls"}}], {"use": "look"}]
    failing = {"fail": 429, "message": "slow", "type": "rate_limit_error", "times": 2}
    assert answers_in(script(tmp_path, [*said, failing])) == [
        Text("hi"),
        Text("yo"),
        [Think("hm"), Use("bash", {"command": "ls"})],
        Use("look"),
        Fail(429, "slow", type="rate_limit_error", times=2),
    ]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("{", "script.json: cannot be read"),
        ({"text": "hi"}, "a script is a list of answers"),
        (["hi", 7], "script.json[1]: no answer: 7"),
        ([[{"text": "hi"}, {"txt": "ho"}]], "script.json[0][1]: no answer"),
        ([{"text": "hi", "stop": "x"}], "script.json[0]: no answer"),
        ([{"use": "bash", "inputs": {}}], "script.json[0]: "),
        ([{"fail": "soon", "message": ""}], "script.json[0]: no answer"),
        ([{"fail": 429}], "script.json[0]: no answer"),
        ([{"use": "bash", "input": "ls"}], "script.json[0]: no answer"),
        ([[{"fail": 429, "message": ""}]], "script.json[0]: no answer"),
    ],
)
def test_what_is_no_script(said: object, told: str, tmp_path: Path) -> None:
    """Where, what, and the forms that there are."""
    with pytest.raises(TrimtabError) as error:
        answers_in(script(tmp_path, said))
    assert told in str(error.value)


def test_a_port_that_is_taken() -> None:
    """One line that says which, and the way out."""
    with FakeProvider() as provider:
        port = provider.url.rpartition(":")[2]
        command = [sys.executable, "-m", "trimtab", "fake-provider", "--port", port]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"port {port} on 127.0.0.1" in done.stderr
    assert "Traceback" not in done.stderr
