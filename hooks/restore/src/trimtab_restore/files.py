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
LONGEST = 4_000
"""Characters of a command that is looked at: chosen, far above one line; a longer one may change anything."""
PROOF = 2_000
"""Characters of each text that are kept to tell whether a file on disk is the one that the model knows: chosen."""
LINE = 8
"""Characters of a line that tell a file from others: chosen, more than brackets and single words."""

_FAILED = re.compile(
    r"\W*(?:tool_use_error\W+)?(?:(?:error|fatal|failed)\b|traceback|cannot|could not|no such|file (?:does not|not)\b"
    r"|(?:ok|success)\W+false|status\W+(?:error|fail))",
    re.I,
)
_REFUSED = re.compile(
    r"\b(?:abort|block(?:ed|ing)\b|cancel|chosen? to|declin|den(?:ied|y)|disallow|forbid|ignored\b|interrupt|outside\b"
    r"|permi|prevent|refus|reject|skipp|timed out|unable to|unauthori[sz]ed|E(?:ACCES|ISDIR|NOENT|PERM)\b|no such file"
    r"|(?:needs?|requires?) approval|have(?:n.t| not) granted|(?:does|did)(?:n.t| not)\b"
    r"|not (?:\w+ )?(?:accessible|allow|approved|authori|available|executed|exist|found|granted|read\b|run\b))",
    re.I,
)
_NUMBERED = re.compile(r"\s*\d+[\t→]")
_POINTS = re.compile(r"unchanged|not (?:been )?(?:changed|modified)|already|earlier|same as", re.I)
_PATCHED = re.compile(r"^\*\*\* (Add|Delete|Update) File: (.+)$", re.MULTILINE)
_MOVED = re.compile(r"^\*\*\* Move to: (.+)$", re.MULTILINE)
_QUIET = re.compile(r"[12&]?>>?\s*(?:/dev/null|&[12])")
_GIT = r"git\s+(?:(?:--no-pager|-C\s+\S+)\s+){0,4}+"
_READER = re.compile(
    r"\s*(?:(?:cat|cd|cut|diff|echo|grep|head|ls|nl|pwd|rg|sort|stat|tail|tree|true|wc)\b|uniq(?:\s+-\w+)*\s*$"
    rf"|sed\s+-n\s+(['\"]?)[\d,$]+p\1(?=\s|$)(?!.*\s-)|{_GIT}(?:blame|diff|log|show|status)\b|$)"
    r"(?!.*(?:\s--(?:o(?!n)|pre\b|hostname-bin)|\s-\w*o))"
)
_TREE = re.compile(
    rf"\b{_GIT}(?!(?:add|blame|branch|commit|config|diff|fetch|grep|log|ls-files|push|remote|rev-parse|show|status|tag)\b)"
    r"[\w-]|\b(?:patch|black|isort|prettier|gofmt|rustfmt|fmt|format)\b|--(?:fix|write)\b"
)
"""Commands that change files without naming them, as far as a few are known; of git all but those that do not."""
_STREAM = re.compile(r"\b(?:sed|perl)\b")
_IN_PLACE = re.compile(r"\s-(?:\w*i|-in)")


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
    proof: str = ""
    """Starts of what reads brought of it and the model wrote into it; empty: neither, or the last read failed."""

    @property
    def current(self) -> str | None:
        """The content, if it can be relied on."""
        return None if self.stale else self.text

    def knows(self, text: str) -> bool:
        """Whether the model knows something of ``text``: one line of it was read, or written."""
        lines = [line for line in map(str.strip, text.splitlines()) if line]
        least = min(LINE, max(map(len, lines), default=1))
        return any(len(line) >= least and line[: PROOF // 2] in self.proof for line in lines)

    def learn(self, text: str) -> None:
        """Keep the start of what was read or written."""
        self.proof = f"{self.proof[-10 * PROOF :]}\n{text[:PROOF]}"


def files(deeds: Iterable[Deed]) -> list[File]:
    """All files that calls read or edited, the one touched last at the end."""
    known: dict[str, File] = {}
    for deed in deeds:
        if deed.kind in ("ranged_read", "read") and deed.path:
            _read(known, deed, deed.path)
        elif deed.kind == "edit" and deed.result.error:
            continue  # a command that failed may have changed something before, an edit has not
        elif deed.kind == "edit" and deed.path:
            _edit(known, deed, deed.path)
        elif deed.kind not in ("search", "web"):
            _other(known, deed)
    return list(known.values())


def _failed(deed: Deed) -> bool:
    """Whether a call failed or was refused, as far as its result tells; many wires have no flag for it."""
    text = deed.result.text
    if deed.result.error or _FAILED.match(text[:SMALL]):
        return True
    head = text if len(text) <= SMALL else text[:SMALL].lstrip().partition("\n")[0]
    if deed.path:  # which may be that of permissions.py
        head = head.replace(deed.path, "").replace(PurePosixPath(deed.path.replace("\\", "/")).name, "")
    return not _NUMBERED.match(text) and _REFUSED.search(head) is not None


def _touch(known: dict[str, File], path: str, at: int) -> File:
    """The file, now the last one."""
    name = os.path.normpath(path.replace("\\", "/"))
    file = known[name] = known.pop(name) if name in known else File(path)
    file.path, file.at = path, at
    return file


def _read(known: dict[str, File], deed: Deed, path: str) -> None:
    text = _bare(deed.result.text)
    if _failed(deed) or not (text.strip() or deed.result.media):
        for file in _change(known, path):
            file.proof = ""  # the user may not want it to be read any more
        return
    file = _touch(known, path, deed.at)
    file.named |= deed.named
    if len(text) <= SMALL and _POINTS.search(text):
        return
    file.learn(text)
    file.shown = deed.shown or (file.shown and deed.kind == "ranged_read")
    if deed.kind == "read":
        file.text = None if deed.result.media else text
        file.stale = False


def _edit(known: dict[str, File], deed: Deed, path: str) -> None:
    _change(known, path)
    if _failed(deed):
        return
    text = _written(deed)
    file = _touch(known, path, deed.at)
    file.named |= deed.named
    file.learn(deed.words)
    if text is not None:
        file.text, file.stale, file.shown = text, False, deed.shown


def _other(known: dict[str, File], deed: Deed) -> None:
    """A command, a patch, or a tool that nobody knows: what it names it may have changed, unless it only reads."""
    words, fine = deed.words, not _failed(deed)
    for verb, path in _PATCHED.findall(words):
        _change(known, path.strip())
        if fine:
            _patched(known, deed, path.strip())
        if fine and verb == "Delete":
            known.popitem()
    for path in _MOVED.findall(words) if fine else ():
        _patched(known, deed, path.strip())
    if deed.kind == "shell" and reads(words):
        return
    everything = deed.kind == "shell" and anything(words)
    for file in known.values():
        file.stale |= everything or PurePosixPath(file.path.replace("\\", "/")).name in words


def _patched(known: dict[str, File], deed: Deed, path: str) -> None:
    file = _touch(known, path, deed.at)
    file.stale, file.named = True, file.named or deed.named
    file.learn(deed.words)


def _change(known: dict[str, File], path: str) -> list[File]:
    """Whatever may be the same file, perhaps under another name, is out of date."""
    name = os.path.normpath(path.replace("\\", "/"))
    same = [
        file for other, file in known.items() if f"/{other}".endswith(f"/{name}") or f"/{name}".endswith(f"/{other}")
    ]
    for file in same:
        file.stale = True
    return same


def reads(command: str) -> bool:
    """Whether a command surely only reads: a chain of programs of a short table, without redirections."""
    if len(command) > LONGEST:
        return False
    command = _QUIET.sub(" ", command)
    return not re.search(r"[<>`]|\$\(", command) and all(map(_READER.match, re.split(r"[|;&\n]+", command)))


def anything(command: str) -> bool:
    """Whether a command may change files that it does not name."""
    if len(command) > LONGEST or _TREE.search(command):
        return True
    return _STREAM.search(command) is not None and _IN_PLACE.search(command) is not None


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
