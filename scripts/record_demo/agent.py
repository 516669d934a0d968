"""The scripted agent: it says a text, calls tools, and gets their results."""

from __future__ import annotations

import re
from typing import Any

from scripts.record_demo.recording import Recording
from scripts.record_demo.tools import ROOT, ToolError, Tools

__all__ = ["Agent", "Call", "bash", "edit", "glob", "grep", "read", "write"]

Call = tuple[str, dict[str, Any]]


def read(path: str, offset: int = 0, limit: int = 0) -> Call:
    """A file, or ``limit`` lines of it from line ``offset``."""
    part = {"offset": offset, "limit": limit} if limit else {}
    return "Read", {"file_path": f"{ROOT}/{path}", **part}


def grep(pattern: str, path: str = "", glob: str = "*.py") -> Call:
    """All lines that match."""
    return "Grep", {"pattern": pattern, "path": f"{ROOT}/{path}", "glob": glob, "output_mode": "content"}


def glob(pattern: str) -> Call:
    """All files whose path matches."""
    return "Glob", {"pattern": pattern}


def bash(command: str, description: str) -> Call:
    """A shell command."""
    return "Bash", {"command": command, "description": description}


def edit(path: str, old: str, new: str) -> Call:
    """One replacement in a file."""
    return "Edit", {"file_path": f"{ROOT}/{path}", "old_string": old, "new_string": new}


def write(path: str, content: str) -> Call:
    """A new file."""
    return "Write", {"file_path": f"{ROOT}/{path}", "content": content}


class Agent:
    """Runs each call on the tools and writes everything into the recording."""

    def __init__(self, recording: Recording, tools: Tools) -> None:
        self.recording = recording
        self._tools = tools

    def asked(self, text: str, after: float = 0.0) -> None:
        """Let the person say something, ``after`` seconds (give or take a tenth) of silence."""
        self.recording.wait(0.9 * after, 1.1 * after)
        self.recording.user(text)

    def say(self, text: str, *calls: Call, fails: bool = False) -> str:
        """One response; returns its results joined. ``fails``: whether a call is meant to fail."""
        ids = self.recording.assistant(text, calls)
        results, failed = [], False
        for id, (name, input) in zip(ids, calls, strict=True):
            try:
                result, error = self._tools.run(name, input), False
            except ToolError as refused:
                result, error = self._tools.mask(str(refused)), True
            self.recording.wait(0.2, 12 if name == "Bash" else 1)
            self.recording.result(id, result, error)
            results.append(result)
            failed |= error
        if failed is not fails:
            raise SystemExit(f"the story has gone wrong at {calls}:\n" + "\n".join(results)[-3000:])
        return "\n".join(results)

    def plain(self, path: str) -> str:
        """The text of a file as it is now."""
        return self._tools.plain(path)

    def lines(self, path: str, first: str, last: str = "") -> str:
        """The text of a file from the line that matches ``first`` to the next that matches ``last``."""
        lines = self.plain(path).splitlines()
        start = next(number for number, line in enumerate(lines) if re.search(first, line))
        end = next(number for number in range(start, len(lines)) if re.search(last or first, lines[number]))
        return "\n".join(lines[start : end + 1])
