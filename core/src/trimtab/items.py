"""The entries of ``stages:`` and ``hooks:``: names of what is installed, and Python files, with their options."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from trimtab.errors import PluginError, ProfileError, TrimtabError, told
from trimtab.faults import Faults, explain
from trimtab.plugins import Catalog, Found, catalog, from_file
from trimtab.stage import Hook, StageOptions
from trimtab.trust import Store, Wanted, command, python, refusal
from trimtab.yamlfile import KeyPath, Layer, layer_of, said, where

__all__ = ["Item", "Loading", "listed"]


@dataclass(frozen=True, slots=True)
class Loading:
    """What one profile is loaded from; pydantic-settings hands validators nothing of the caller's."""

    layers: Sequence[Layer] = ()
    plugins: Catalog = field(default_factory=catalog)
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)
    cwd: Path = field(default_factory=Path.cwd)
    project: Path = field(default_factory=Path.cwd)
    """The folder of the project's file; where there is none, the working directory."""
    named: str = ""
    """The profile that the caller named."""
    wanted: list[Wanted] | None = None
    """Where to list what the profile wants to run, and go on without what is not trusted."""

    def store(self, path: KeyPath) -> Store | None:
        """Where that must be trusted which ``path`` wants to run; None where it needs no trust."""
        layer = layer_of(path, self.layers)
        return Store.of(self.env) if layer and layer.project else None

    def folder(self, path: KeyPath) -> Path:
        """Where relative paths at ``path`` are seen from."""
        layer = layer_of(path, self.layers)
        return layer.folder if layer and layer.folder else self.cwd

    def allowed(self, wanted: Sequence[Wanted]) -> bool:
        """Whether all of this is trusted; raises `PluginError` where nothing lists it instead."""
        error = refusal(wanted, shlex.join(["trimtab", "trust", *([self.named] if self.named else [])]))
        if self.wanted is not None:
            self.wanted.extend(wanted)
        elif error:
            raise error
        return error is None


@dataclass(frozen=True, slots=True)
class Item:
    """A stage or hook that is listed; ``options`` is a ``cls.Options``, ``where`` its origin."""

    name: str
    options: Any
    where: str
    cls: type[Any]
    folder: Path = field(default_factory=Path.cwd)
    """Of the file that lists it; of a packaged one the project's; the working directory where no file does."""
    project: Path = field(default_factory=Path.cwd)
    """The folder of the project's file, else the working directory."""
    store: Store | None = None
    """Where the commands that it runs must be trusted: a project's file lists it."""
    path: KeyPath = ()
    """Where its options stand in the profile."""

    def made(self) -> Any:
        """Make the hook that this lists; raises `PluginError`."""
        try:
            hook = self.cls(self.options)
            hook.folder, hook.project = self.folder, self.project
            hook.guard = self.store.guard(self.folder, self.where) if self.store else None
        except (Exception, SystemExit) as error:
            raise PluginError(f"hook {self.name!r} cannot be made: {told(error)}", where=self.where) from error
        return hook

    def runs(self) -> list[list[str]]:
        """The command lines that the hook may start; raises `PluginError`."""
        hook = self.made()
        try:
            return [list(argv) for argv in hook.runs()]
        except (Exception, SystemExit) as error:
            raise PluginError(f"hook {self.name!r}: runs() failed: {told(error)}", where=self.where) from error


def listed(value: Sequence[Any], key: str, now: Loading) -> tuple[Item, ...]:
    """Check what stands at ``key``, ``stages`` or ``hooks``; raises `Faults`."""
    entries, items, faults = list[_Entry](), list[Item](), list[TrimtabError]()
    for n, item in enumerate(value):
        with _noted(faults):
            entries.append(_entry(item, (key, n), now))
    known, names = dict(getattr(now.plugins, key)), _names(value, entries)
    for entry in entries:
        for found in entry.found:
            with _noted(faults):
                items.append(_item(found, entry, now, known, names))
    instead = {item.name: getattr(item.options, "unless", None) for item in items}
    for item in items if not faults else ():
        chain = [item.name]
        while (following := instead.get(chain[-1])) and following not in chain:
            chain.append(following)
        if following == item.name:
            what = f"stages that wait for each other would never run: {' → '.join([*chain, item.name])}"
            faults.append(ProfileError(what, where=where((*item.path, "unless"), now.layers)))
    if faults:
        raise Faults(faults)
    return tuple(items)


@contextmanager
def _noted(faults: list[TrimtabError]) -> Iterator[None]:
    try:
        yield
    except Faults as several:
        faults += several.faults
    except (PluginError, ProfileError) as fault:
        faults.append(fault)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry of a list, and what it names; nothing where that is a file that is not trusted."""

    path: KeyPath
    name: str
    options: Any
    found: Sequence[Found]


def _named(item: Any) -> tuple[Any, Any]:
    return next(iter(item.items())) if isinstance(item, dict) and len(item) == 1 else (item, None)


def _is_file(name: Any) -> bool:
    return isinstance(name, str) and (
        name.startswith(("./", "../", "/", "~")) or name.endswith(".py") or ".py:" in name
    )


def _names(value: Sequence[Any], entries: Sequence[_Entry]) -> set[str] | None:
    """Tell the names in a list; None where a file does not tell what it would give."""
    names = [name for name, _ in map(_named, value) if isinstance(name, str)]
    if {name for name in names if _is_file(name)} - {entry.name for entry in entries if entry.found}:
        return None
    return {found.name for entry in entries for found in entry.found}.union(n for n in names if not _is_file(n))


def _entry(item: Any, path: KeyPath, now: Loading) -> _Entry:
    at, kind = where(path, now.layers), str(path[0])[:-1]
    name, options = _named(item)
    if not isinstance(name, str):
        raise ProfileError(f"a name is needed, or one name with its options indented below it, not {item!r}", where=at)
    if not _is_file(name):
        return _Entry(path, name, options, [now.plugins.get(kind, name, at)])
    file, _, only = name.partition(".py:")
    file = f"{file}.py" if only else name
    found = _in_file(file, kind, path, now)
    if only and found:
        names = {one.name for one in found}
        if only not in names:
            raise ProfileError(f"no {kind} named {only!r} in {file}", where=at, given=only, available=names)
        found = [one for one in found if one.name == only]
    if options is not None and len(found) > 1:
        what = f"{file} gives {len(found)} {kind}s; name the one that has these options, as {file}:{found[0].name}"
        raise ProfileError(what, where=at, available=[one.name for one in found])
    return _Entry(path, name, options, found)


def _in_file(name: str, kind: str, path: KeyPath, now: Loading) -> list[Found]:
    """Give what a Python file defines, or nothing where it is not trusted."""
    at, store = where(path, now.layers), now.store(path)
    file = Path(os.path.abspath(now.folder(path) / os.path.expanduser(name)))
    if file.suffix != ".py" or not file.is_file():
        there = [other.name for other in file.parent.glob("*.py")]
        what = f"no file {name}" if file.suffix == ".py" else f"{name} is no Python file (its name ends in .py)"
        raise ProfileError(what, where=at, given=file.name, available=there, label="there")
    try:
        source = file.read_bytes()
    except OSError as error:
        raise ProfileError(f"{name} cannot be read: {error.strerror}", where=at) from None
    if store and not now.allowed([store.ask(python(file, source), name, at)]):
        return []
    given = from_file(file, source, name, at)
    found = [one for one in given if one.kind == kind]
    if not found:
        hint = f"; {given[0].name!r} in it goes under {given[0].kind}s:" if given else ""
        raise PluginError(f"{name} has no {kind.title()} class with a name{hint}", where=at)
    return found


def _item(found: Found, entry: _Entry, now: Loading, known: dict[str, Found], names: Set[str] | None) -> Item:
    """Check one; ``known`` is what gave each name so far, ``names`` what an ``unless`` may name."""
    path = (*entry.path, entry.name)
    if (other := known.setdefault(found.name, found)).cls is not found.cls:
        both = f"{found.distribution} and {other.distribution} {other.version}".rstrip()
        what = f"{both} give a {found.kind} named {found.name!r}; rename one"
        raise PluginError(what, where=where(entry.path, now.layers))
    try:
        options = found.cls.Options.model_validate({} if entry.options is None else entry.options)
    except ValidationError as error:
        raise Faults(explain(error, path, found.cls.Options, now.layers)) from None
    unless = options.unless if isinstance(options, StageOptions) and "unless" in options.model_fields_set else None
    if unless is not None and names is not None and unless not in names:
        what, at = f"no stage named {unless!r} is listed", where((*path, "unless"), now.layers)
        raise ProfileError(what, where=at, given=unless, available=names, label="listed")
    origin = said(entry.path, now.layers) or "argument"
    folder, store = now.folder(entry.path), now.store(entry.path)
    item = Item(found.name, options, origin, found.cls, folder, now.project, store, path)
    if item.store and found.kind == "hook" and found.cls.runs is not Hook.runs:
        at = where(entry.path, now.layers)
        now.allowed([item.store.ask(command(argv, item.folder), where=at) for argv in item.runs()])
    return item
