"""Which shell commands surely only read. What this grammar and these tables do not know counts as writing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from functools import lru_cache

__all__ = ["readable", "readonly"]

_TOKEN = re.compile(
    r"""[ \t]*(?:
        (?P<quiet>(?:[12]?>&[12]|(?:[12]|&)?>>?[ \t]*/dev/null)(?=[ \t|;]|&&|$))
      | (?P<joint>&&|\|\||\|&?|;)
      | (?P<word>(?:
            '[^'\n\r]*'
          | "(?:[^"`$\\\n\r]|\\[^"\n\r]|\$(?=[)|"\ ]))*"
          | \\[^"'\n\r]
          | [\w./,:=@%+^*?\[\]~!-]
        )+)
    )""",
    re.VERBOSE,
)
"""No variables, substitutions, groups, braces, comments, new lines, background, files as input or output.

A quote behind a backslash is left out too: not all shells read it alike.
"""

_DOCUMENT = re.compile(r"<<-?[ \t]*(['\"])(\w+)\1(.*)\n(?:.*\n)*?[ \t]*\2(?=\n|$)")
_FILES = re.compile(r"[12&]?>>?(?![&(])|<(?![<(])")

LONGEST = 20_000
"""Characters of a command."""

_LINES = re.compile(r"(?:\d+|\$)(?:,(?:\d+|\$))?p")
_LISTING = {"--all", "--list", "--no-color", "--remotes", "--show-current", "-a", "-r", "-v", "-vv"}
_PLAIN = ("cat", "echo", "grep", "head", "ls", "nl", "pwd", "stat", "tail", "true", "wc", "which")

_ACTING = {name: re.compile("(?!)") for name in _PLAIN} | {
    "file": re.compile(r"--c|-(?!-).*C"),
    "find": re.compile(r"-(?:delete|exec|execdir|fls|fprint0?|fprintf|ok|okdir)$"),
    "rg": re.compile(r"--(?:hostname-bin|pre)(?:=|$)"),
    "tree": re.compile(r"--o|-(?!-).*[Ro]"),
}
"""Command to how those of its arguments begin that write a file or run a program."""


def _git(arguments: Sequence[str]) -> bool:
    rest = list(arguments)
    while rest and rest[0] in ("--no-pager", "-C"):
        del rest[: 1 + (rest[0] == "-C")]
    if not rest:
        return False
    action, *rest = rest
    if action == "branch":
        names = [one for one in rest if not one.startswith("-")]
        return bool(rest) and ("--list" in rest or not names) and _LISTING.issuperset(set(rest).difference(names))
    # diffs can be written to a file, or made by a program; git takes shortened options
    return action in ("diff", "log", "show", "status") and not any(one.startswith(("--ex", "--ou")) for one in rest)


def _sed(arguments: Sequence[str]) -> bool:
    """Only ``-n``, a range of lines to print, and files."""
    quiet, script, *files = [*arguments, "", ""]
    return quiet == "-n" and bool(_LINES.fullmatch(script)) and not any(file.startswith("-") for file in files)


@lru_cache(maxsize=4_096)
def readable(command: str) -> bool:
    """Whether this grammar reads the command: what it runs stands there, not in a variable or a substitution.

    For this, new lines part commands, and input and output may be files and quoted here-documents. It does not read
    very long ones: to look for the ends of many documents takes the square of their number.
    """
    if len(command) > LONGEST:
        return False
    command, at = _FILES.sub(" ", _DOCUMENT.sub(r"\3", command)).strip().replace("\n", ";"), 0
    while at < len(command) and (match := _TOKEN.match(command, at)):
        at = match.end()
    return at == len(command)


@lru_cache(maxsize=4_096)  # all commands of a session are judged before every request
def readonly(command: str) -> str | None:
    """The command with single spaces between its words if it surely only reads, else None.

    One or more commands of the table, joined by ``|``, ``&&``, ``||`` or ``;``. A ``cd`` to an absolute path may stand
    in front with ``&&``.
    """
    command = command.strip(" \t\n")
    tokens: list[str] = []
    parts: list[list[str]] = [[]]
    at = 0
    while at < len(command):
        match = _TOKEN.match(command, at)
        if match is None:
            return None
        at = match.end()
        tokens.append(match[0].strip(" \t"))
        if match["word"]:
            parts[-1].append(match["word"])
        elif match["joint"]:
            parts.append([])
    calls = [[shlex.split(word)[0] for word in part] for part in parts]
    if len(calls) > 1 and len(calls[0]) == 2 and tokens[:1] == ["cd"] and tokens[2] == "&&" and calls[0][1][:1] == "/":
        del calls[0]
    return " ".join(tokens) if all(map(_reads, calls)) else None


def _reads(call: Sequence[str]) -> bool:
    """Whether a command only reads when called with these arguments."""
    name, *arguments = call or [""]
    if name in ("git", "sed"):
        return _git(arguments) if name == "git" else _sed(arguments)
    return name in _ACTING and not any(map(_ACTING[name].match, arguments))
