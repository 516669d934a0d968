"""``inputs``: long old inputs of writes become their start, names and end; off unless asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from play import Play, edits


def given(request: Any, at: int = 1) -> Any:
    """The arguments of a call as they are sent."""
    return request.messages[at]["content"][0]["input"]


@pytest.mark.parametrize("form", ["cleared", "digest"])
def test_a_write(opened: Any, talk: Any, lines: Any, stored: Any, form: str) -> None:
    """The body is shortened, all other arguments stay; the full input lies where the text says."""
    said, agent = {"file_path": "/a.py", "content": lines(60)}, opened(form, inputs=True)
    talk.round(("Write", said, "ok"))
    agent.send(talk.messages)
    assert given(agent.send(talk.rounds(10))) == said
    made = given(agent.send(talk.rounds(1)))
    assert made["file_path"] == "/a.py"
    assert made["content"].startswith(
        "[5,689 characters in 60 lines, shortened long after it was written; full input: blob:"
    )
    assert made["content"].endswith(said["content"][-150:])
    assert "\n33: value_32\n" in made["content"]
    assert len(made["content"]) < 0.4 * len(said["content"])
    assert json.loads(stored(agent, made["content"])) == said


def test_off_by_default(opened: Any, talk: Any, lines: Any) -> None:
    """Without the option no call is touched."""
    talk.round(("Write", {"file_path": "/a.py", "content": lines(60)}, "ok"))
    agent = opened("digest", age=0)
    agent.send(talk.rounds(3))
    assert edits(agent) == []


def test_a_heredoc(opened: Any, talk: Any, lines: Any) -> None:
    """Of a command only its long heredocs are shortened."""
    start, end = "cd /src && cat > a.py <<'EOF'\n", "\nEOF\npython a.py <<< yes"
    talk.round(("Bash", {"command": start + lines(60) + end, "timeout": 5}, "ok"))
    talk.round(("Bash", {"command": f"echo {lines(60)}"}, "ok"))
    request = opened("digest", age=0, inputs=True).send(talk.rounds(1))
    made = given(request)
    assert made["timeout"] == 5
    assert made["command"].startswith(f"{start}[5,689 characters in 60 lines, shortened")
    assert made["command"].endswith(lines(60)[-150:] + end)
    assert given(request, 3)["command"] == f"echo {lines(60)}"


@pytest.mark.parametrize(("read", "gone"), [(False, False), (True, True)])
def test_a_failed_write_stays_until_read_back(opened: Any, talk: Any, lines: Any, read: bool, gone: bool) -> None:
    """What may not have come to disk stays, unless its file was read later."""
    said = {"file_path": "/a.py", "content": lines(60)}
    talk.round(("Write", said, "ok"), is_error=True)
    talk.round(("Read", {"file_path": "/a.py" if read else "/b.py"}, "ok"))
    assert (given(opened("digest", age=0, inputs=True).send(talk.rounds(1))) != said) is gone


def test_what_stays(opened: Any, talk: Any, lines: Any) -> None:
    """Short values, other tools, tools that are kept, and a call whose result has only just come."""
    long, short = lines(60), lines(15)[:1_500]
    talk.round(("Write", {"file_path": "/a", "content": short}, "ok"))
    talk.round(("Task", {"prompt": long}, "ok"))
    talk.round(("NotebookEdit", {"new_source": long}, "ok"))
    talk.round(("Write", {"file_path": "/b", "content": long}, "ok"))
    agent = opened("digest", age=0, inputs=True, tools={"NotebookEdit": "keep"})
    agent.send(talk.messages)
    assert edits(agent) == []


def test_in_openai_chat(talk: Any, lines: Any, opened: Any) -> None:
    """Arguments that are a string of JSON stay one."""
    said = {"command": f"cat > a.py <<'EOF'\n{lines(60)}\nEOF"}
    call = {"id": "c", "type": "function", "function": {"name": "Bash", "arguments": json.dumps(said)}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "thanks"},
    ]
    agent: Play = opened("digest", (), {"provider": {"kind": "openai"}}, age=0, inputs=True)
    made = agent.session.prepare(messages).messages[1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(made)["command"].startswith("cat > a.py <<'EOF'\n[5,689 characters in 60 lines, shortened")
