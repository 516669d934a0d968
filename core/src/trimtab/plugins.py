"""Finds stages and hooks: entry-point group ``trimtab``, sorted; a broken one is recorded, the rest load.

A profile may also name a Python file, which needs no packaging.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from inspect import isroutine
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any, Literal

import pluggy
from pydantic import BaseModel

from trimtab import hookspecs
from trimtab.errors import PluginError, ProfileError
from trimtab.stage import Hook, Stage, StageOptions

__all__ = ["Catalog", "Found", "catalog", "from_file", "manager"]

_lock = RLock()
"""A file is run once in a process; whoever comes second waits until it has run."""


@dataclass(frozen=True, slots=True)
class Found:
    """A stage or hook class and the distribution that brings it; a ``broken`` one has an error instead of a class."""

    name: str
    kind: Literal["broken", "hook", "stage"]
    distribution: str
    version: str
    cls: Any = None
    error: str = ""


@dataclass(slots=True)
class Catalog:
    """All stages and hooks that a profile may list, by name."""

    stages: dict[str, Found] = field(default_factory=dict)
    hooks: dict[str, Found] = field(default_factory=dict)
    broken: list[Found] = field(default_factory=list)

    def get(self, kind: str, name: str, where: str) -> Found:
        """Look a name up; raises `PluginError` if its plugin is broken, `ProfileError` if there is none."""
        table = self.stages if kind == "stage" else self.hooks
        if name in table:
            return table[name]
        for plugin in self.broken:
            if plugin.name == name:
                source = f"{plugin.distribution} {plugin.version}"
                raise PluginError(f"{kind} {name!r} of {source} cannot be used: {plugin.error}", where=where)
        what = f"no {kind} named {name!r}"
        if name in (self.hooks if kind == "stage" else self.stages):
            other = "hook" if kind == "stage" else "stage"
            raise ProfileError(f"{name!r} is a {other}; it goes under {other}s:", where=where)
        raise ProfileError(what, where=where, given=name, available=table, label="installed")


def catalog(extra: Sequence[Any] = ()) -> Catalog:
    """List what is installed, and what ``extra`` (classes, modules) gives or raises `PluginError` for."""
    given = (found for thing in extra for found in _found(thing, "plugins=", "(argument)"))
    groups: dict[tuple[str, str], dict[Any, Found]] = {}
    for found in (*_installed(), *given):
        groups.setdefault((found.kind, found.name), {}).setdefault(found.cls, found)
    result = Catalog()
    for (kind, name), group in groups.items():
        sources = " and ".join(f"{found.distribution} {found.version}" for found in group.values())
        for found in group.values():
            if kind == "broken":
                result.broken.append(found)
            elif len(group) > 1:
                error = f"{sources} give a {kind} of this name; uninstall one"
                result.broken.append(Found(name, "broken", found.distribution, found.version, error=error))
            else:
                (result.stages if kind == "stage" else result.hooks)[name] = found
    return result


@cache
def _installed() -> list[Found]:
    found: list[Found] = []
    for point in sorted(entry_points(group="trimtab"), key=lambda point: (point.name, point.value)):
        source = (point.dist.name, point.dist.version) if point.dist else ("?", "?")
        try:
            found += _found(point.load(), *source)
        except (Exception, SystemExit) as error:
            kind = "" if isinstance(error, PluginError) else f"{type(error).__name__}: "
            found.append(Found(point.name, "broken", *source, error=" ".join(f"{kind}{error}".split())))
    return found


def from_file(path: Path, source: bytes, name: str, where: str) -> list[Found]:
    """Run ``source``, the content of a Python file, and give its stages and hooks in the order of definition.

    Those count that are defined in it and have a name; ``stage()`` may give others. Raises `PluginError`, which calls
    the file ``name``.
    """
    try:
        module = _module(path, source)
        own = [cls for cls in vars(module).values() if isinstance(cls, type) and cls.__module__ == module.__name__]
        own = [cls for cls in own if issubclass(cls, Stage | Hook) and hasattr(cls, "name")]
        return list(_classes(dict.fromkeys([*own, *_checked(module, "stage").hook.stage()]), name, ""))
    except (Exception, SystemExit) as error:
        raise PluginError(_where_in(path, name, error), where=where) from error


def _where_in(path: Path, name: str, error: BaseException) -> str:
    """Tell what a file raised, and in which line of it: ``./my_hooks.py:3: NameError: …``."""
    if isinstance(error, PluginError):
        return f"{name}: {error}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    what = str(error)
    if isinstance(error, SyntaxError) and not lines:
        lines, what = [error.lineno], error.msg
    if isinstance(error, ImportError) and (path.parent / f"{(error.name or '').partition('.')[0]}.py").is_file():
        what += " (a file cannot import its neighbours; make one file of both)"
    place = f"{name}:{lines[-1]}" if lines and lines[-1] else name
    return f"{place}: {type(error).__name__}: {' '.join(what.split())}"


def _module(path: Path, source: bytes) -> ModuleType:
    """Run what was read, not what the file holds by now, under a name that no import finds."""
    name = f"{path.stem}@{hashlib.sha256(bytes(path) + bytes(1) + source).hexdigest()[:16]}"
    with _lock:
        if name not in sys.modules:
            module = sys.modules[name] = ModuleType(name)  # dataclasses and pydantic look there
            module.__file__ = str(path)
            try:
                exec(compile(source, path, "exec", dont_inherit=True), vars(module))
            except BaseException:
                del sys.modules[name]
                raise
        return sys.modules[name]


def _found(thing: Any, distribution: str, version: str) -> Iterator[Found]:
    classes = [thing]
    if not isinstance(thing, type):
        hooks = [cls for cls in vars(thing).values() if isinstance(cls, type) and issubclass(cls, Hook)]
        classes = [*_checked(thing, "stage").hook.stage(), *(cls for cls in hooks if hasattr(cls, "name"))]
        if not classes:
            raise PluginError(f"{thing.__name__} has neither a stage() marked @hookimpl nor a Hook class")
    yield from _classes(classes, distribution, version)


def _classes(classes: Iterable[Any], distribution: str, version: str) -> Iterator[Found]:
    for cls in classes:
        base = Stage if isinstance(cls, type) and issubclass(cls, Stage) else Hook
        if not (isinstance(cls, type) and issubclass(cls, base) and isinstance(getattr(cls, "name", 0), str)):
            raise PluginError(f"{cls!r} is not a Stage or Hook class with a name")
        if not issubclass(cls.Options, StageOptions if base is Stage else BaseModel):
            raise PluginError(f"{cls.__name__}.Options is not a subclass of {base.__name__}Options")
        if getattr(cls, "propose", None) is Stage.propose:
            raise PluginError(f"{cls.__name__} has no propose()")
        if base is Hook:
            _checked(cls, "post_compact", "pre_compact", "session_start")
        yield Found(cls.name, "stage" if base is Stage else "hook", distribution, version, cls)


def _checked(thing: Any, *allowed: str) -> pluggy.PluginManager:
    """Register a module or class alone; a hook that is misspelt, unmarked or out of place is an error."""
    for name in dir(thing) if isinstance(thing, type) else list(vars(thing)):
        value = getattr(thing, name)
        marked = hasattr(value, "trimtab_impl")
        if isroutine(value) and marked and name not in allowed:
            what = f"{thing.__name__}.{name} is marked @hookimpl, but is no hook here"
            raise PluginError(what, given=name, available=allowed, label="hooks")
        if isroutine(value) and not marked and name in allowed:
            raise PluginError(f"{thing.__name__}.{name} is not marked @hookimpl")
    return _manager([(thing, thing.__name__)])


def manager(hooks: Sequence[Any]) -> pluggy.PluginManager:
    """Make one profile's plugin manager of its `hooks:` items, named ``name#0``, …; called as listed."""
    plugins = [(hook.made(), f"{hook.name}#{n}") for n, hook in enumerate(hooks)]
    return _manager(reversed(plugins))  # pluggy calls first what was registered last


def _manager(plugins: Iterable[tuple[Any, str]]) -> pluggy.PluginManager:
    result = pluggy.PluginManager("trimtab")
    result.add_hookspecs(hookspecs)
    for plugin, name in plugins:
        result.register(plugin, name)
    result.check_pending()
    return result
