"""Which calls count as the same, and which never count."""

from __future__ import annotations

import time
from typing import Any

import pytest

BIG = "\n".join(f"line {n} of the text, as it was" for n in range(40))

SAME = [
    ("Read", {"file_path": "/a.py", "limit": 9}, {"limit": 9, "file_path": "/a.py"}),
    ("Read", {"file_path": "./a.py"}, {"file_path": "a.py"}),
    ("Read", {"file_path": "a//b/./c.py", "offset": None}, {"file_path": "a/b/c.py"}),
    ("Grep", {"pattern": "x", "path": "src/"}, {"path": "src", "pattern": "x"}),
    ("Bash", {"command": "cat  a.py ", "description": "Look"}, {"command": "cat a.py", "description": "Look again"}),
    ("Bash", {"command": "cat a.py", "timeout": 5}, {"command": "cat a.py", "run_in_background": False}),
    ("shell", {"command": ["bash", "-lc", "cat a.py"]}, {"command": ["bash", "-lc", "cat  a.py"]}),
    ("exec_command", {"cmd": "cat a.py", "workdir": "/x"}, {"workdir": "/x", "cmd": "cat a.py"}),
    ("str_replace_editor", {"command": "view", "path": "/a"}, {"path": "/a", "command": "view"}),
    ("WebFetch", {"url": "https://x.org", "prompt": "p"}, {"prompt": "p", "url": "https://x.org"}),
    ("mcp__fs__list_directory", {}, {}),
]
OTHER = [
    ("Read", {"file_path": "/a.py", "offset": 1}, {"file_path": "/a.py", "offset": "1"}),
    ("Read", {"file_path": "/a.py", "offset": 1}, {"file_path": "/a.py"}),
    ("Read", {"file_path": "/a/../b.py"}, {"file_path": "/b.py"}),
    ("Read", {"file_path": "/A.py"}, {"file_path": "/a.py"}),
    ("Grep", {"pattern": "./x", "path": "/"}, {"pattern": "x", "path": "/"}),
    ("Bash", {"command": "cat 'a  b'"}, {"command": "cat 'a b'"}),
    ("Bash", {"command": "cat a.py && rm b"}, {"command": "cat a.py && rm b"}),
    ("Bash", {"command": "cat a", "run_in_background": True}, {"command": "cat a", "run_in_background": True}),
    ("exec_command", {"cmd": "cat a.py", "workdir": "/x"}, {"workdir": "/y", "cmd": "cat a.py"}),
    ("execute_bash", {"command": "ls", "is_input": "true"}, {"command": "ls", "is_input": "true"}),
    ("write_stdin", {"session_id": 1, "chars": "ls"}, {"session_id": 1, "chars": "ls"}),
    ("BashOutput", {"bash_id": "1"}, {"bash_id": "1"}),
    ("scroll_down", {}, {}),
    ("goto", {"line_number": 3}, {"line_number": 3}),
    ("mcp__x__browser_click", {"element": "Send"}, {"element": "Send"}),
    ("mcp__x__fetch", {"url": "https://x.org", "method": "POST"}, {"url": "https://x.org", "method": "POST"}),
    ("Edit", {"file_path": "/a.py"}, {"file_path": "/a.py"}),
    ("str_replace_editor", {"command": "create", "path": "/a"}, {"path": "/a", "command": "create"}),
    ("Task", {"prompt": "look"}, {"prompt": "look"}),
    ("TodoWrite", {"todos": []}, {"todos": []}),
]


def went(opened: Any, talk: Any, tool: str, first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether the first of two calls goes."""
    talk.round((tool, first, BIG))
    talk.round((tool, second, BIG))
    return len(opened()(talk)) == 3


@pytest.mark.parametrize(("tool", "first", "second"), SAME)
def test_the_same_call(opened: Any, talk: Any, tool: str, first: dict[str, Any], second: dict[str, Any]) -> None:
    """Order, nulls, spelling of paths, and spaces between words make no other call."""
    assert went(opened, talk, tool, first, second)


@pytest.mark.parametrize(("tool", "first", "second"), OTHER)
def test_another_call(opened: Any, talk: Any, tool: str, first: dict[str, Any], second: dict[str, Any]) -> None:
    """Other arguments ask for something else; and what may act is never the same twice."""
    assert not went(opened, talk, tool, first, second)


@pytest.mark.parametrize("move", ["cd sub", "pushd /x", "make && cd sub && make"])
@pytest.mark.parametrize(("tool", "given"), [("Bash", {"command": "cat a.py"}), ("Grep", {"pattern": "x"})])
def test_a_change_of_folder_between(opened: Any, talk: Any, move: str, tool: str, given: dict[str, Any]) -> None:
    """A relative name means something else in another folder, so these calls are two questions."""
    talk.round((tool, given, BIG))
    talk.round(("Bash", {"command": move}, "ok"))
    talk.round((tool, given, BIG))
    assert opened()(talk) == talk.messages


def test_a_restarted_shell_is_in_another_folder(opened: Any, talk: Any) -> None:
    """So is one that was started anew."""
    talk.round(("bash", {"command": "cat a.py"}, BIG))
    talk.round(("bash", {"restart": True}, "restarted"))
    talk.round(("bash", {"command": "cat a.py"}, BIG))
    assert opened()(talk) == talk.messages


@pytest.mark.parametrize(("tool", "given"), [("Read", {"file_path": "/a"}), ("Bash", {"command": "cd /x && cat a"})])
def test_absolute_names_mean_the_same_everywhere(opened: Any, talk: Any, tool: str, given: dict[str, Any]) -> None:
    """A change of folder says nothing about an absolute path."""
    talk.round((tool, given, BIG))
    talk.round(("Bash", {"command": "cd sub"}, "ok"))
    talk.round((tool, given, BIG))
    assert len(opened()(talk)) == 5


def test_a_change_of_folder_counts_where_it_is_hidden(opened: Any, talk: Any) -> None:
    """The folder was changed although the call that did it, superseded itself, is no longer shown."""
    run = opened()
    talk.round(("Bash", {"command": "cat a"}, BIG))
    talk.round(("Bash", {"command": "cd /x && ls"}, BIG))
    talk.round(("Bash", {"command": "cat a"}, BIG))
    talk.round(("Bash", {"command": "cd /x && ls"}, BIG))
    assert len(run(talk)) == 7
    talk.round(("Bash", {"command": "pwd"}, "/x"))
    assert len(run(talk)) == 9


MOVERS = [
    ("EnterWorktree", {"path": "/wt"}),
    ("mcp__fs__set_directory", {"path": "/wt"}),
    *(
        ("Bash", {"command": command})
        for command in (
            "source ./go.sh",
            ". ./go.sh",
            "make; A=1 . go.sh",
            "if x; then . y; fi",
            'eval "$GO"',
            "$GO",
            "`go`",
            "exec zsh",
        )
    ),
]


@pytest.mark.parametrize(("tool", "given"), MOVERS)
def test_what_may_have_changed_the_folder(opened: Any, talk: Any, tool: str, given: dict[str, Any]) -> None:
    """A tool that nothing is known of, and commands that run what stands elsewhere; absolute names stay the same."""
    talk.round(("Bash", {"command": "git status"}, BIG))
    talk.round(("Read", {"file_path": "/a.py"}, BIG))
    talk.round((tool, given, "ok"))
    talk.round(("Bash", {"command": "git status"}, BIG))
    talk.round(("Read", {"file_path": "/a.py"}, BIG))
    shown = opened()(talk)
    assert shown == [*talk.messages[:3], *talk.messages[5:]]


PROGRAMS = [
    "make",
    "python -m pytest -q . > log 2>&1",
    "cat > a.py <<'EOF'\nx = $y\nEOF\nmake",
    "ls ./src; grep -c x a.py",
    "grep -rn source .",
]


@pytest.mark.parametrize("command", PROGRAMS)
def test_programs_stay_in_the_folder(opened: Any, talk: Any, command: str) -> None:
    """What only runs programs, also with files and a here-document for input and output, goes nowhere."""
    talk.round(("Bash", {"command": "git status"}, BIG))
    talk.round(("Bash", {"command": command, "description": "Don't cd"}, "ok"))
    talk.round(("Bash", {"command": "git status"}, BIG))
    assert len(opened()(talk)) == 5


@pytest.mark.parametrize("part", ["\n", "<<'E'\n", "a=1 ", "; "])
def test_long_commands_take_no_time(opened: Any, talk: Any, part: str) -> None:
    """Whatever they are made of."""
    talk.round(("Bash", {"command": "x" + part * 25_000 + "x"}, "ok"))
    start = time.perf_counter()
    opened()(talk)
    assert time.perf_counter() - start < 2
