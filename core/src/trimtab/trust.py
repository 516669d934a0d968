"""Whose code may run: what a project's profile wants to run needs the user's trust, by place and content."""

from __future__ import annotations

import glob
import hashlib
import itertools
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from trimtab.errors import PluginError
from trimtab.parts import part
from trimtab.sources import home

__all__ = ["Code", "Entry", "State", "Store", "Wanted", "command", "missing", "python", "refusal"]

State = Literal["changed", "new", "trusted"]
WORDS = re.compile(r"[\s;|&()<>\"'`=,]+")
"""What stands between the words of a shell's line, or of ``--option=file``."""

PATTERN = re.compile(r"[*?\[]")
"""What makes a pattern of a word; it may also be a file's own name."""

MATCHES = 1_000
"""Files that one pattern may cover (chosen)."""

SCRIPTED = re.compile(r"(python|pypy|ruby|perl|node|deno|php)[\d.]*|(ba|da|z|k|fi)?sh")
"""Programs whose first argument, where it is no option, is a script."""


@dataclass(frozen=True, slots=True)
class Code:
    """A Python file, or a command line, with the SHA-256 of the files that it names, by their absolute paths."""

    kind: Literal["command", "python"]
    words: tuple[str, ...]
    """The command line; of a Python file its absolute path."""
    folder: str
    """What relative words are seen from."""
    sha256: dict[str, str]

    @property
    def key(self) -> tuple[Any, ...]:
        """What it is, whatever it contains: the same bytes elsewhere need their own trust."""
        return self.kind, self.words, self.folder

    def __str__(self) -> str:
        return _plain(shlex.join(self.words) if self.kind == "command" else self.words[0])


@dataclass(frozen=True, slots=True)
class Entry(Code):
    """One thing that the user trusts, since when (ISO 8601), and for which profile he was asked."""

    time: str
    profile: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a profile wants to run, as it is called there, where it says so, and whether the user trusts it."""

    code: Code
    name: str
    where: str
    state: State
    changed: tuple[str, ...] = ()
    """The files that are other than when they were trusted."""

    def __str__(self) -> str:
        if self.state != "changed":
            return f"{self.name} is not trusted yet"
        files = [os.path.relpath(path, self.code.folder) for path in self.changed]
        files = [] if self.code.kind == "python" else files
        return f"{self.name} changed since it was trusted" + (f" ({_plain(', '.join(files))})" if files else "")


def _plain(text: str) -> str:
    """One line that cannot change a terminal, so that nobody is shown another command than the one he trusts."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def python(path: Path, source: bytes) -> Code:
    """A Python file with this content."""
    return Code("python", (str(path),), str(path.parent), {str(path): hashlib.sha256(source).hexdigest()})


def command(argv: Sequence[str], folder: Path) -> Code:
    """A command line, seen from ``folder``: it covers each regular file that one of its words names.

    So it covers a script behind its interpreter, in the line of a shell or in ``--option=file``, also one that is seen
    from a folder that another word names, and all below ``folder`` that a pattern with ``*`` fits. An installed program
    (one in a folder of ``PATH`` outside ``folder``) may be updated; what a script reads in its turn is not looked for.
    Raises `PluginError` where such a file cannot be read.
    """
    words, at = tuple(map(str, argv)), os.path.abspath(folder)
    parts = {
        part for word in words for part in (word, *WORDS.split(word), *_unquoted(word)) if part and "\0" not in part
    }
    sha256 = {}
    places = [at, *(path for text in parts if os.path.isdir(path := os.path.join(at, text)) and _inside(path, at))]
    for path in sorted({path for text in parts for path in _files(text, at, places)}):
        try:
            with open(path, "rb") as file:
                sha256[path] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise PluginError(f"cannot be read: {error.strerror}", where=path) from None
    return Code("command", words, at, sha256)


def _unquoted(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # quotes that do not end
        return []


def _files(word: str, folder: str, places: Sequence[str]) -> Iterator[str]:
    """The regular files that a word of a command names; ``places``: what it may be seen from."""
    installed = [os.path.join(folder, place) for place in os.environ.get("PATH", os.defpath).split(os.pathsep)]
    variables = re.sub(r"\$(PWD\b|\{PWD\}|\(pwd\))", lambda _: folder, word)
    expanded = os.path.expandvars(os.path.expanduser(variables))
    program = None if os.sep in word else shutil.which(word, path=os.pathsep.join(installed))
    names = [name for name in (word, expanded) if name] + ([program] if program else [])
    for path in (str(Path(place, name)) for name in names for place in places):  # `..` stays: links lead elsewhere
        below = PATTERN.search(path) and Path(os.path.normpath(path)).is_relative_to(folder)
        for file in (path, *(itertools.islice(glob.iglob(path), MATCHES) if below else ())):
            if os.path.isfile(file) and (_inside(file, folder) or os.path.dirname(file) not in installed):
                yield file


def _inside(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(folder) or Path(path).resolve().is_relative_to(Path(folder).resolve())


def missing(argv: Sequence[str], folder: Path) -> PluginError | None:
    """The error for a program, or the script behind its interpreter, that is a file which is not there.

    An interpreter says so too, but Python exits with 2, which for a hook means to block.
    """
    files = [word for word in argv[:1] if os.sep in word]
    if len(argv) > 1 and SCRIPTED.fullmatch(os.path.basename(argv[0])) and not argv[1].startswith("-"):
        files.append(argv[1])
    for name in files:
        file = Path(folder, os.path.expanduser(name))
        if not file.exists():
            there = [other.name for other in file.parent.glob("*")]
            return PluginError(f"no file {name}", given=file.name, available=there, label="there")
    return None


def refusal(wanted: Iterable[Wanted], program: str = "trimtab trust") -> PluginError | None:
    """The error for what of this the user does not trust, if anything."""
    bad = [one for one in wanted if one.state != "trusted"]
    if not bad:
        return None
    it = "it" if len(bad) == 1 else "them"
    return PluginError(f"{', '.join(map(str, bad))}: read {it}, then run `{program}`", where=bad[0].where)


class Store:
    """What the user trusts: one file of JSON, for him alone, read anew each time it is asked."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._rows = part("trust", "file")(file)

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Store:
        """The one in the user's data folder."""
        return cls(home(env, "XDG_DATA_HOME", ".local/share") / "trust.json")

    def entries(self) -> list[Entry]:
        """All that is trusted, in order of time; raises `StorageError` where the file cannot be read."""
        found: list[Entry] = self._rows.rows(_entry)
        return found

    def ask(self, code: Code, name: str = "", where: str = "") -> Wanted:
        """Look up whether this is trusted as it is now."""
        name = _plain(name) or str(code)
        entry = next((entry for entry in self.entries() if entry.key == code.key), None)
        if entry is None:
            return Wanted(code, name, where, "new")
        paths = sorted({*entry.sha256, *code.sha256})
        changed = tuple(path for path in paths if entry.sha256.get(path) != code.sha256.get(path))
        return Wanted(code, name, where, "changed" if changed else "trusted", changed)

    def guard(self, folder: Path, where: str) -> Callable[[Sequence[str]], None]:
        """Make the check of a hook listed there: it raises `PluginError` for a command that is not trusted as it is."""

        def check(argv: Sequence[str]) -> None:
            if error := refusal([self.ask(command(argv, folder), where=where)]):
                raise error

        return check

    def add(self, wanted: Iterable[Wanted]) -> None:
        """Trust this from now on, with the content that was looked at."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        new = [Entry(**asdict(one.code), time=now, profile=os.path.abspath(one.where)) for one in wanted]
        keys = {entry.key for entry in new}
        self._change(lambda entries: [*(entry for entry in entries if entry.key not in keys), *new])

    def remove(self, removed: Callable[[Entry], bool]) -> list[Entry]:
        """Trust these no longer; gives them."""
        gone: list[Entry] = []

        def kept(entries: list[Entry]) -> list[Entry]:
            gone.extend(entry for entry in entries if removed(entry))
            return [entry for entry in entries if entry not in gone]

        self._change(kept)
        return gone

    def _change(self, change: Callable[[list[Entry]], list[Entry]]) -> None:
        self._rows.change(lambda: [asdict(entry) for entry in change(self.entries())])


def _entry(said: dict[str, Any]) -> Entry:
    entry = Entry(**{**said, "words": tuple(said["words"])})
    texts = [entry.folder, entry.time, entry.profile, *entry.words, *entry.sha256, *entry.sha256.values()]
    if entry.kind not in ("command", "python") or not entry.words or not all(isinstance(text, str) for text in texts):
        raise ValueError("an entry is not as trimtab writes it")
    return entry
