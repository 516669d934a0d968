"""The scripted agent's tools. They really run, in a scratch copy; only what names the machine is masked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["HOME", "ROOT", "ToolError", "Tools", "copy"]

HOME = "/home/user"
ROOT = f"{HOME}/trimtab"
"""Where the session says the repository lies."""

SHELL_LIMIT = 30_000
"""Characters of shell output; Claude Code's own limit."""

SKIPPED = re.compile(r"(^|/)demo\.jsonl$|^scripts/record_demo/")
"""The recording and its script are not in the tree that they show: else results would tell what is said next."""


class ToolError(Exception):
    """A tool says no; its text goes to the agent as an error result."""


def copy(source: Path, target: Path) -> None:
    """Copy what git tracks or would track, and make that one commit of a new repository."""
    listing = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    told = subprocess.run(listing, cwd=source, capture_output=True, text=True, check=True)
    for name in sorted(filter(None, told.stdout.split("\0"))):
        path = source / name
        if not SKIPPED.search(name) and path.is_file() and not path.is_symlink():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / name)
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        author = ["-c", "user.name=user", "-c", "user.email=user@example.com", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *author, *command], cwd=target, check=True)


class Tools:
    """Tools over the folder ``root``; each returns its text or raises `ToolError`."""

    def __init__(self, root: Path, home: Path) -> None:
        self._root = root
        self._home = home

    def run(self, name: str, input: dict[str, Any]) -> str:
        """The result of one call, masked."""
        return self.mask(getattr(self, name.lower())(**input))

    def mask(self, text: str) -> str:
        """The text without this machine: its folders, its Python, its speed."""
        for real, told in (
            (str(self._root), ROOT),
            (str(self._home), HOME),
            (sys.prefix, f"{ROOT}/.venv"),
            (sys.base_prefix, "/usr"),
        ):
            text = text.replace(real, told)
        return re.sub(r"\b\d+\.\d+ ?s\b", "1.00s", text)

    def plain(self, path: str) -> str:
        """The text of a file of the tree as it is now; not a tool."""
        return (self._root / path).read_text(encoding="utf-8")

    def read(self, file_path: str, offset: int = 1, limit: int = 2000) -> str:
        """Numbered lines of a file."""
        lines = self._real(file_path).read_text(encoding="utf-8").splitlines()
        shown = lines[offset - 1 : offset - 1 + limit]
        return "\n".join(f"{number}→{line}" for number, line in enumerate(shown, offset))

    def glob(self, pattern: str) -> str:
        """Paths that match, sorted."""
        found = sorted(path for path in self._root.glob(pattern) if self._visible(path))
        return "\n".join(map(str, found)) or "No files found"

    def grep(self, pattern: str, path: str, glob: str, output_mode: str) -> str:
        """Lines that match a regular expression, or only the files that have some."""
        start, hits = self._real(path), []
        for file in filter(self._visible, sorted(start.rglob(glob)) if start.is_dir() else [start]):
            name = file.relative_to(self._root)
            lines = enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
            found = [f"{name}:{number}:{line}" for number, line in lines if re.search(pattern, line)]
            hits += found if output_mode == "content" else [str(name)][: len(found)]
        return "\n".join(hits) or "No matches found"

    def edit(self, file_path: str, old_string: str, new_string: str) -> str:
        """Replace one occurrence; shows the lines around it."""
        file = self._real(file_path)
        text = file.read_text(encoding="utf-8")
        if text.count(old_string) != 1:
            raise ToolError(f"{text.count(old_string)} matches of the string to replace, not one: {file_path}")
        file.write_text(text.replace(old_string, new_string), encoding="utf-8")
        first = text[: text.index(old_string)].count("\n") + 1
        shown = self.read(file_path, max(1, first - 3), new_string.count("\n") + 7)
        return f"The file {file_path} has been updated. This is a snippet of it:\n{shown}"

    def write(self, file_path: str, content: str) -> str:
        """Make a file."""
        file = self._real(file_path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
        return f"File created successfully at: {file_path}"

    def bash(self, command: str, description: str = "") -> str:
        """Output and errors of a shell command, cut at the limit; a failing one raises `ToolError`."""
        told = subprocess.run(
            ["bash", "-c", command],
            cwd=self._root,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=240,
        )
        output = told.stdout.rstrip("\n")
        if len(output) > SHELL_LIMIT:
            left = output[SHELL_LIMIT:].count("\n") + 1
            output = f"{output[:SHELL_LIMIT]}\n\n... [{left} lines truncated] ..."
        if told.returncode:
            raise ToolError(f"Exit code {told.returncode}\n{output}")
        return output

    def _environment(self) -> dict[str, str]:
        sources = [self._root / "core" / "src", *sorted(self._root.glob("plugins/*/src"))]
        return {
            "PATH": f"{sys.prefix}/bin:{os.environ['PATH']}",
            "PYTHONPATH": ":".join(map(str, sources)),  # the copy's code, not the installed one
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "HOME": str(self._home),
            "TMPDIR": str(self._home),
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "COLUMNS": "100",
        }

    def _visible(self, path: Path) -> bool:
        return path.is_file() and not {".git", "__pycache__"} & set(path.parts)

    def _real(self, path: str) -> Path:
        return self._root / Path(path).relative_to(ROOT)
