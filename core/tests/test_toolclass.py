"""Tool classes by name, with the patterns that the packaged profiles ship."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab.profile import load
from trimtab.toolclass import classify, path_of

SHIPPED = load("minimal", env={}, cwd="/").tools
ARGUMENTS = st.dictionaries(st.sampled_from(["command", "offset", "path", "limit"]), st.none() | st.text())

KNOWN = {
    "read": """
        Read NotebookRead read read_file read_many_files open mcp__filesystem__read_text_file
        mcp__github__get_file_contents filesystem__read_multiple_files""",
    "search": """
        Grep Glob LS grep find ls glob list_dir grep_files search_file_content grep_search list_directory
        find_file search_dir search_file mcp__filesystem__directory_tree mcp__github__search_code
        mcp__filesystem__list_directory_with_sizes mcp__serena__find_symbol mcp__linear-server__list_issues""",
    "shell": """
        Bash BashOutput bash shell exec_command write_stdin local_shell execute_bash execute_ipython_cell
        run_shell_command mcp__desktop-commander__start_process""",
    "edit": """
        Edit MultiEdit Write NotebookEdit edit write apply_patch str_replace_editor edit_file replace
        write_file str_replace_based_edit_tool mcp__filesystem__edit_file mcp__github__push_files insert create""",
    "web": """
        WebFetch WebSearch web_search web_fetch google_web_search browser browser_click fetch
        mcp__playwright__browser_navigate mcp__fetch__fetch mcp__brave-search__brave_web_search
        mcp__context7__get-library-docs mcp__chrome-devtools__take_snapshot""",
    "other": """
        TodoWrite Task think finish update_plan AskUserQuestion mcp__linear-server__update_issue frobnicate""",
}


@pytest.mark.parametrize(("kind", "tools"), KNOWN.items())
def test_shipped(kind: str, tools: str) -> None:
    """The tools of the known agents and of common MCP servers are in their class, in any case."""
    assert {tool: classify(tool, {}, SHIPPED) for tool in tools.split()} == dict.fromkeys(tools.split(), kind)
    assert {classify(tool.upper(), {}, SHIPPED) for tool in tools.split()} == {kind}


def test_precedence() -> None:
    """An exact name wins over every glob, then the longest glob, whatever the order."""
    patterns = {"*": "other", "mcp__*": "web", "mcp__files__*": "read", "MCP__files__grep": "search"}
    for those in (patterns, dict(reversed(patterns.items()))):
        found = [classify(tool, {}, those) for tool in ("x", "mcp__x", "mcp__files__x", "mcp__files__grep")]
        assert found == ["other", "web", "read", "search"]


@pytest.mark.parametrize(
    ("tool", "input", "kind"),
    [
        ("Read", {"file_path": "a.py"}, "read"),
        ("Read", {"file_path": "a.py", "offset": 10}, "ranged_read"),
        ("Read", {"file_path": "a.py", "offset": None, "limit": None}, "read"),
        ("read", {"path": "a.py", "limit": 50}, "ranged_read"),
        ("read_file", {"file_path": "a.py", "start_line": 1, "end_line": 9}, "ranged_read"),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, "read"),
        ("str_replace_editor", {"command": "view", "path": "a.py", "view_range": [1, 9]}, "ranged_read"),
        ("str_replace_editor", {"command": "str_replace", "path": "a.py"}, "edit"),
        ("Bash", {"command": "view", "limit": 5}, "shell"),
        ("Grep", {"pattern": "x", "head_limit": 5, "offset": 3}, "search"),
    ],
)
def test_by_arguments(tool: str, input: Mapping[str, Any], kind: str) -> None:
    """A read of a part is a ranged read, an editor that views reads; nothing else looks at arguments."""
    assert classify(tool, input, SHIPPED) == kind


def test_patterns_stay_apart() -> None:
    """What one profile says about a tool is never remembered for another."""
    for _ in range(3):
        kinds = [classify("x", {}, {"x": kind}) for kind in ("read", "web", "read")]
        assert kinds == ["read", "web", "read"]


@pytest.mark.parametrize(
    ("input", "path"),
    [
        ({"file_path": "/a.py", "path": "/b"}, "/a.py"),
        ({"path": "src"}, "src"),
        ({"notebook_path": "/n.ipynb"}, "/n.ipynb"),
        ({"path": "", "filename": "f.txt"}, "f.txt"),
        ({"path": 5}, None),
        ({"path": ["a"]}, None),
        ({"command": "cat a.py"}, None),
        ({}, None),
    ],
)
def test_path_of(input: Mapping[str, Any], path: str | None) -> None:
    """The path is the first text under a known key."""
    assert path_of(input) == path


@given(st.text(max_size=20), ARGUMENTS)
def test_never_fails(tool: str, input: dict[str, Any]) -> None:
    """Any name with any arguments has a class."""
    assert classify(tool, input, SHIPPED) in {
        "edit",
        "other",
        "ranged_read",
        "read",
        "search",
        "shell",
        "web",
    }
