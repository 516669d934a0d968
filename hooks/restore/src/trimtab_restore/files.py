"""The files that were read and edited, the one touched last at the end, and what is known of each one's content."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from trimtab.texts import SMALL
from trimtab.toolclass import PATHS

from trimtab_restore.history import Deed

__all__ = ["File", "files"]

WHOLE = ("content", "contents", "file_text")
"""Arguments that hold all of a file; of a tool that writes or creates, and beside a path alone."""
LONGEST = 20_000
"""Characters of a command that is looked at; a longer one may change anything."""

_BAD = re.compile(
    r"\W*(?:tool_use_error\W+)?(?:error|fatal|traceback|cannot|could not|failed|no such|file (?:does not|not)\b)", re.I
)
_POINTS = re.compile(r"unchanged|not (?:been )?(?:changed|modified)|already|earlier|same as", re.I)
_PATCHED = re.compile(r"^\*\*\* (Add|Delete|Update) File: (.+)$", re.MULTILINE)
_MOVED = re.compile(r"^\*\*\* Move to: (.+)$", re.MULTILINE)
_QUIET = re.compile(r"[12&]?>>?\s*(?:/dev/null|&[12])")
_READER = re.compile(
    r"\s*(?:(?:cat|cd|cut|diff|echo|grep|head|ls|nl|pwd|rg|sort|stat|tail|tree|true|uniq|wc)\b"
    r"|sed\s+-n\b(?!.*\s-i)|git\s+(?:blame|diff|log|show|status)\b|$)(?!.*(?:--output|--pre\b|\s-o))"
)
_TREE = re.compile(
    r"\bgit\s+(?:-C\s+\S+\s+)?(?:am|apply|checkout|cherry-pick|clean|merge|pull|rebase|reset|restore|revert|stash|switch)"
    r"|\b(?:patch|black|isort|prettier|gofmt|rustfmt)\b|\b(?:fmt|format)\b|--(?:fix|write)\b|\b(?:sed|perl)\b.*\s-\w*i"
)
"""Commands that change files without naming them, as far as a few are known."""


@dataclass(slots=True)
class File:
    """A file: its path as it was called last, and its newest content as read or written (None: never whole)."""

    path: str
    text: str | None = None
    stale: bool = False
    """Whether something may have changed it since."""
    shown: bool = False
    """Whether the view shows its content."""
    named: bool = False
    """Whether the view shows a call that names it."""
    at: int = 0
    """The place on the path of what touched it last."""

    @property
    def current(self) -> str | None:
        """The content, if it can be relied on."""
        return None if self.stale else self.text


def files(deeds: Iterable[Deed]) -> list[File]:
    """All files that calls read or edited, the one touched last at the end."""
    known: dict[str, File] = {}
    for deed in deeds:
        if deed.result.error:
            continue
        if deed.kind in ("ranged_read", "read") and deed.path:
            _read(known, deed, deed.path)
        elif deed.kind == "edit" and deed.path:
            _edit(known, deed, deed.path)
        elif deed.kind not in ("search", "web"):
            _other(known, deed)
    return list(known.values())


def _touch(known: dict[str, File], path: str, at: int) -> File:
    """The file, now the last one."""
    name = os.path.normpath(path.replace("\\", "/"))
    file = known[name] = known.pop(name) if name in known else File(path)
    file.path, file.at = path, at
    return file


def _read(known: dict[str, File], deed: Deed, path: str) -> None:
    text = deed.result.text
    if len(text) <= SMALL and _BAD.match(text):
        return
    file = _touch(known, path, deed.at)
    file.named |= deed.named
    if len(text) <= SMALL and _POINTS.search(text):
        return
    file.shown = deed.shown or (file.shown and deed.kind == "ranged_read")
    if deed.kind == "read":
        file.text = None if deed.result.media else _bare(text)
        file.stale = False


def _edit(known: dict[str, File], deed: Deed, path: str) -> None:
    text = _written(deed)
    unsure = len(deed.result.text) <= SMALL and _BAD.match(deed.result.text) is not None
    _change(known, path)
    if unsure:
        return
    file = _touch(known, path, deed.at)
    file.named |= deed.named
    if text is not None:
        file.text, file.stale, file.shown = text, False, deed.shown


def _other(known: dict[str, File], deed: Deed) -> None:
    """A command, a patch, or a tool that nobody knows: what it names it may have changed, unless it only reads."""
    words = deed.words
    for verb, path in _PATCHED.findall(words):
        _change(known, path.strip())
        file = _touch(known, path.strip(), deed.at)
        file.stale, file.named = True, file.named or deed.named
        if verb == "Delete":
            known.popitem()
    for path in _MOVED.findall(words):
        _touch(known, path.strip(), deed.at).stale = True
    if deed.kind == "shell" and reads(words):
        return
    everything = deed.kind == "shell" and (len(words) > LONGEST or _TREE.search(words) is not None)
    for file in known.values():
        file.stale |= everything or PurePosixPath(file.path.replace("\\", "/")).name in words


def _change(known: dict[str, File], path: str) -> None:
    """Whatever may be the same file under another name is out of date."""
    name = os.path.normpath(path.replace("\\", "/"))
    for other, file in known.items():
        file.stale |= f"/{other}".endswith(f"/{name}") or f"/{name}".endswith(f"/{other}")


def reads(command: str) -> bool:
    """Whether a command surely only reads: a chain of programs of a short table, without redirections."""
    command = _QUIET.sub(" ", command[: LONGEST + 1])
    return (
        len(command) <= LONGEST
        and not re.search(r"[<>`]|\$\(", command)
        and all(map(_READER.match, re.split(r"[|;&\n]+", command)))
    )


def _written(deed: Deed) -> str | None:
    """The whole content that a call wrote; None where it wrote a part, or where that is not sure."""
    given = {key: value for key, value in deed.call.input.items() if value is not None}
    whole = [value for key, value in given.items() if key in WHOLE and isinstance(value, str)]
    creates = given.get("command") in ("create", "write") or re.search(r"write|create", deed.call.name, re.I)
    return whole[0] if len(whole) == 1 and creates and given.keys() <= {*WHOLE, *PATHS, "command"} else None


def _bare(text: str) -> str:
    """A read without the reminders that agents add at its end."""
    bare = text.rstrip()
    while bare.endswith("</system-reminder>") and "<system-reminder>" in bare:
        text = bare = bare[: bare.rfind("<system-reminder>")].rstrip()
    return text
