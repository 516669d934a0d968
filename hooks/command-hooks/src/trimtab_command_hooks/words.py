"""From what a profile says to an argv: split without a shell, and the names of the project's folder filled in."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

__all__ = ["VARIABLES", "line", "resolved", "split"]

VARIABLES = ("CLAUDE_PROJECT_DIR", "TRIMTAB_PROJECT_DIR")
"""What a command finds its project by: in its environment, and in its words."""

_VARIABLE = re.compile(rf"\$(?:({'|'.join(VARIABLES)})\b|\{{({'|'.join(VARIABLES)})\}})")
_QUOTED = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_SHELL = re.compile(r"^\s*\w+=|[$`|&;<>*?()\n]")


def split(text: str) -> list[str]:
    """The words of a command line; raises ValueError where only a shell could tell them."""

    def bare(quoted: re.Match[str]) -> str:
        return re.sub(r"\\.|[^$`]", "", quoted[0], flags=re.DOTALL) if quoted[0].startswith('"') else ""

    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{text!r} cannot be split into words: {str(error).lower()}") from None
    if found := _SHELL.search(_QUOTED.sub(bare, _VARIABLE.sub("", text.strip()))):
        raise ValueError(f"{found[0]!r} in {text!r} is for a shell, and none is used; add `shell: true`, or quote it")
    return words


def resolved(words: Sequence[str], folder: Path, project: Path) -> list[str]:
    """The argv to start: the project for its variables, the user's for ``~``, the program as seen from ``folder``."""
    argv = [_VARIABLE.sub(lambda _: str(project), word) for word in words]
    argv = [os.path.expanduser(word) if word.startswith("~/") else word for word in argv]
    return [str(folder / argv[0]) if "/" in argv[0] else argv[0], *argv[1:]]


def line(text: str, project: Path) -> list[str]:
    """The argv of a shell for its line, with the files that trust must see.

    The project's folder stands for its variables where that needs no quotes. Elsewhere the shell finds it in its
    environment, and the words that hold it follow as arguments.
    """
    if shlex.quote(str(project)) == str(project):
        return ["/bin/sh", "-c", _VARIABLE.sub(lambda _: str(project), text)]
    try:
        words = shlex.split(text)
    except ValueError:  # for the shell to complain of
        words = text.split()
    named = (word for word in words if _VARIABLE.search(word))
    return ["/bin/sh", "-c", text, "sh", *(_VARIABLE.sub(lambda _: str(project), word) for word in named)]
