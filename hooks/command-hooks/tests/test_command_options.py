"""What a profile may say, and what it is told where it says it wrongly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from trimtab import ProfileError, load
from trimtab_command_hooks import CommandHooks, Options
from trimtab_command_hooks.words import line, resolved, split


def argvs(folder: Path, **options: Any) -> list[list[str]]:
    """The command lines of a hook with these options, as the user is asked to trust them."""
    hook = CommandHooks(Options(**options))
    hook.folder = hook.project = folder
    return [list(argv) for argv in hook.runs()]


def test_the_short_forms_and_the_nesting_mean_the_same() -> None:
    """A text, a list of words, a mapping and a group with a matcher."""
    nested = {"hooks": [{"type": "command", "command": "./keep.sh -v"}]}
    for said in ("./keep.sh -v", ["./keep.sh", "-v"], {"command": "./keep.sh -v"}, nested):
        assert Options(pre_compact=[said]) == Options(PreCompact=[nested])
    short = {"command": "./keep.sh -v", "matcher": "auto", "timeout": 5}
    group = {"matcher": "auto", "hooks": [{"command": "./keep.sh -v", "timeout": 5}]}
    assert Options(pre_compact=[short]) == Options(PreCompact=[group])


def test_sixty_seconds_unless_said() -> None:
    """A number is seconds; a text has its unit."""
    groups = Options(pre_compact=["a", {"command": "b", "timeout": 30}, {"command": "c", "timeout": "2m"}]).pre_compact
    assert [group.hooks[0].timeout for group in groups] == [60, 30, 120]


@pytest.mark.parametrize(
    ("matcher", "word", "runs"),
    [
        (None, "auto", True),
        ("", "auto", True),
        ("*", "auto", True),
        ("auto", "auto", True),
        ("auto", "manual", False),
        ("auto|manual", "manual", True),
        ("auto|man", "manual", False),
        ("man.*", "manual", True),
        ("man.*", "auto", False),
    ],
)
def test_a_matcher_covers_the_whole_word(matcher: str | None, word: str, runs: bool) -> None:
    """Nothing or a star is all, else it is a regular expression."""
    (group,) = Options(pre_compact=[{"matcher": matcher, "command": "./keep.sh"}]).pre_compact
    assert group.matches(word) is runs


def test_words_are_split_without_a_shell(tmp_path: Path) -> None:
    """Quotes and the two variables are understood, and what is in quotes is no shell's."""
    assert split("a 'b c' \"d | e\" f\\;g") == ["a", "b c", "d | e", "f;g"]
    words = split('python3 "$CLAUDE_PROJECT_DIR"/.claude/hooks/keep.py ${TRIMTAB_PROJECT_DIR}')
    assert resolved(words, Path("/own"), tmp_path) == ["python3", f"{tmp_path}/.claude/hooks/keep.py", str(tmp_path)]
    assert resolved(["./keep.sh", "./x"], Path("/own"), tmp_path) == ["/own/keep.sh", "./x"]


@pytest.mark.parametrize(
    "text", ["a | b", "a && b", "a > b", "a; b", "a $HOME", 'a "$HOME"', "a `b`", 'a "$(b)"', "X=1 a", "a *", "a\nb"]
)
def test_what_only_a_shell_understands_is_an_error(text: str) -> None:
    """It would run, and do something else."""
    with pytest.raises(ValueError, match="is for a shell"):
        split(text)


def test_programs_are_found_from_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a path from the profile's folder or the user's, without one on the PATH; arguments stay as they are."""
    monkeypatch.setenv("HOME", "/home/ann")
    given = ["./a.sh ./b", "hooks/c.sh", "~/d.sh ~/e", "/bin/f", "python3 ./g.py"]
    assert argvs(tmp_path, session_start=given) == [
        [f"{tmp_path}/a.sh", "./b"],
        [f"{tmp_path}/hooks/c.sh"],
        ["/home/ann/d.sh", "/home/ann/e"],
        ["/bin/f"],
        ["python3", "./g.py"],
    ]


def test_a_shell_runs_where_it_is_asked_for(tmp_path: Path) -> None:
    """The line names its files in full where the folder needs no quotes, for trust looks at the files it names."""
    assert argvs(tmp_path, pre_compact=[{"command": "$CLAUDE_PROJECT_DIR/a.sh | sort", "shell": True}]) == [
        ["/bin/sh", "-c", f"{tmp_path}/a.sh | sort"]
    ]
    text = '"$CLAUDE_PROJECT_DIR"/a.sh | sort'
    assert line(text, Path("/a b")) == ["/bin/sh", "-c", text, "sh", "/a b/a.sh"]
    assert line("cat '$CLAUDE_PROJECT_DIR/x", Path("/a b"))[4:] == ["'/a b/x"]


def test_all_commands_ask_for_trust_once(tmp_path: Path) -> None:
    """Of all three events, each command line once."""
    assert argvs(tmp_path, pre_compact=["a", "b", "a"], post_compact=["b", "c"], session_start=["d"]) == [
        ["a"],
        ["b"],
        ["c"],
        ["d"],
    ]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("PreCompact: ./a.sh", "a list is needed"),
        ("PreCompcat: []", "no such key; did you mean 'pre_compact'"),
        ("PreCompact: [{hooks: [{command: a, tiemout: 3}]}]", "did you mean 'timeout'"),
        ("PreCompact: [{command: a, tiemout: 3}]", "did you mean 'timeout'"),
        ("PreCompact: [{matcher: auto, hook: []}]", "did you mean 'hooks'"),
        ("PreCompact: [{matcher: atuo, command: a}]", "the matcher 'atuo' never matches; did you mean 'auto'"),
        ("SessionStart: [{matcher: auto, command: a}]", "the matcher 'auto' never matches"),
        ("PreCompact: [{matcher: '(', command: a}]", r"'\(' is no regular expression"),
        ("PreCompact: [{hooks: [{type: http, command: a}]}]", "'http' is none of the words for this"),
        ("PreCompact: [{command: a, timeout: 0}]", "greater than 0"),
        ("PreCompact: [{command: a, timeout: soon}]", "duration"),
        ("PreCompact: [{command: a | b}]", "add `shell: true`"),
        ("PreCompact: ['a \"b']", "cannot be split"),
        ("PreCompact: [{command: [a, b], shell: true}]", "a shell takes a text"),
        ("PreCompact: [{command: 7}]", "a command is a text or a list of texts"),
        ("PreCompact: ['']", "a command is a text or a list of texts"),
        ("PreCompact: [7]", "a mapping is needed"),
        ('PreCompact: ["a\\0b"]', "NUL"),
        ("{PreCompact: [a], pre_compact: [b]}", "no such key"),
    ],
)
def test_errors_say_where_and_what(tmp_path: Path, said: str, told: str) -> None:
    """File and line, and the nearest right word."""
    path = tmp_path / "trimtab.yaml"
    path.write_text(f"extends: minimal\nhooks:\n- command-hooks:\n    {said}\n")
    with pytest.raises(ProfileError, match=told) as caught:
        load(path, env={})
    assert "trimtab.yaml:4: " in str(caught.value)


SETTINGS = """
{
  "PreCompact": [
    {"matcher": "manual", "hooks": [{"type": "command", "command": "./hook.py one"}]},
    {
      "matcher": "auto",
      "hooks": [{"type": "command", "command": "\\"$CLAUDE_PROJECT_DIR\\"/hook.py two", "timeout": 30}]
    }
  ],
  "SessionStart": [{"matcher": "compact", "hooks": [{"type": "command", "command": "./hook.py three"}]}]
}
"""


def test_sections_of_claude_codes_settings_can_be_pasted(run: Any, script: Any) -> None:
    """JSON is YAML: the matchers choose what runs, and the texts reach the summariser and the model."""
    script("import sys; print('Say', sys.argv[1])")
    it = run(**yaml.safe_load(SETTINGS))
    request = it.compact()
    assert it.guides() == ("Say one",)
    assert "Say three" in str(request.messages)
