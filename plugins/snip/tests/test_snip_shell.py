"""Which commands surely only read: a table, and that nothing written behind a command gets past it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trimtab_snip.shell import readonly

READING = [
    "ls",
    "ls -la src",
    "cat a.py b.py",
    "head -n 20 a.py",
    "tail -5 log.txt",
    "grep -rn 'def main$' src --include='*.py'",
    'grep -n "a\\|b" f.c | head -3',
    'grep "end$" f',
    "grep 'a; rm b' f",
    "grep 'x > y' f",
    "grep '$(rm a)' f",
    "rg --pretty todo",
    "rg -n 'x' src | wc -l",
    "find . -name '*.py' -not -path './x/*'",
    "find . -type f | head",
    "git status",
    "git --no-pager log --oneline -5",
    "git -C /repo diff HEAD~1 -- a.py",
    "git show HEAD:a.py",
    "git branch --list 'feature/*'",
    "git branch -a",
    "pwd",
    "wc -l a.py",
    "tree -L 2 src",
    "stat a.py",
    "file a.bin",
    "which python",
    "nl -ba a.py | sed -n '10,20p'",
    "sed -n '5,$p' a.py",
    "ls missing 2>/dev/null",
    "ls missing > /dev/null 2>&1",
    "ls x 2>&1 | tail -1",
    "ls a && cat b",
    "ls a; pwd",
    "ls a || true",
    "cd /repo && cat a.py",
    "cat 'a b.txt' c\\ d.txt",
    "  ls   -l  ",
    "echo done",
]
WRITING = [
    "",
    "   ",
    "rm a",
    "ls > out.txt",
    "ls >> out.txt",
    "ls 2> err.txt",
    "ls &> out.txt",
    "cat a.py >/dev/nullx",
    "cat <<EOF",
    "cat < a.py",
    "ls; rm a",
    "ls && rm a",
    "ls || rm a",
    "ls | tee out",
    "ls | xargs rm",
    "ls & rm a",
    "ls &",
    "ls\nrm a",
    "ls # what\nrm a",
    "ls $(rm a)",
    "ls `rm a`",
    'ls "$(rm a)"',
    'ls "`rm a`"',
    "ls $FILE",
    'ls "${FILE:=x}"',
    "diff <(rm a) b",
    "cat a >(rm b)",
    "(rm a)",
    "{ ls; }",
    "! ls",
    "sudo ls",
    "env ls",
    "X=1 ls",
    "time ls",
    "./ls",
    "/opt/ls",
    "python -c 1",
    "find . -delete",
    "find . -name x -exec rm {} +",
    "find . '-exec' rm x ';'",
    "find . -{delete,print}",
    "find . -fprint out",
    "git commit -m x",
    "git branch new",
    "git branch -D old",
    "git branch --list -d old",
    "git branch",
    "git",
    "git -c alias.status=!rm status",
    "git diff --output=x",
    "git diff --outp=x",
    "git log --ext-diff -p",
    "git stash list",
    "rg --pre cat x",
    "rg --pre=cat x",
    "tree -o out",
    "tree -aR",
    "file -C -m magic",
    "sed -i s/a/b/ f",
    "sed -n 'w out' f",
    "sed -n '1,2p' -i f",
    "sed 's/a/b/' f",
    "cd sub && ls",
    "cd /repo",
    "cd /repo; ls",
    "cd /repo && rm a",
    "ls |",
    "&& ls",
    "ls 'a",
    'ls "a\\"; rm "b\\"',
    "ls a\\",
]


@pytest.mark.parametrize("command", READING)
def test_commands_that_only_read(command: str) -> None:
    """These are told from others."""
    assert readonly(command)


@pytest.mark.parametrize("command", WRITING)
def test_commands_that_may_write(command: str) -> None:
    """What writes, runs other programs, or is not understood, counts as writing."""
    assert readonly(command) is None


reading = st.sampled_from(READING)
ADDED = [" > {}", " >> {}", " 2> {}", " >{}", " &> {}", "; rm {}", " && rm {}", " | tee {}", " & rm {}", "\nrm {}"]
ADDED += [" $(rm {})", ' "$(rm {})"', " `rm {}`", " <(rm {})", " | xargs rm {}", " || rm {}", "\r\nrm {}"]
joints = st.sampled_from([" | ", " && ", "; ", " || "])


@given(st.lists(reading.filter(lambda one: not one.startswith("cd ")), min_size=1, max_size=4), joints)
def test_joined_commands_read_still(commands: list[str], joint: str) -> None:
    """Pipes and sequences of reading commands only read."""
    assert readonly(joint.join(commands))


@given(
    reading,
    st.sampled_from(ADDED),
    st.from_regex(r"[a-z]{1,8}(\.[a-z]{2})?", fullmatch=True),
)
def test_what_is_added_is_seen(command: str, added: str, file: str) -> None:
    """A file to write to, another command, or a substitution behind a reading command makes it a writing one."""
    assert readonly(command + added.format(file)) is None


@given(st.text(st.sampled_from("ls rmcat'\"\\|&;<>$`(){}#!*-=\n\t/"), max_size=24))
def test_whatever_the_text(text: str) -> None:
    """No text breaks it, and what it says is one spelling: said again, it stays."""
    plain = readonly(text)
    assert plain is None or (readonly(plain) == plain and "rm" not in plain.split(";"))


BASH = shutil.which("bash")
PIECES = [
    "a",
    "'b c'",
    '"d"',
    " ",
    "  ",
    "echo",
    "|",
    "&&",
    ";",
    ">",
    "<",
    "2>&1",
    ">/dev/null",
    "$",
    "$a",
    "`",
    "'",
    '"',
]
PIECES += ["\\", "\\ ", '\\"', "\\'", "#", "(", ")", "{", "&", "\n", "!", "*", "=", "1", "true"]


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=9))
def test_a_real_shell_agrees(pieces: list[str]) -> None:
    """Where a command is said to read, a shell finds nothing else in it: no other program, no file to write to."""
    command = "echo " + "".join(pieces)
    if readonly(command) is None:
        return
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            [BASH, "-c", command],
            capture_output=True,
            cwd=folder,
            env={"PATH": ""},
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert list(Path(folder).iterdir()) == []
    assert done.returncode == 0
    assert not re.search(rb"not found|syntax error|unexpected|No such file", done.stderr), done.stderr


def test_spaces_are_one() -> None:
    """Only the spaces between words are made one; those in quotes are said to the program."""
    assert readonly("  grep   'a  b'\tf  |  head ") == "grep 'a  b' f | head"
    assert readonly("ls 'a b'") != readonly("ls 'a  b'")
    assert readonly("ls '*'") != readonly("ls *")
