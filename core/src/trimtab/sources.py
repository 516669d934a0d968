"""Where the values of a profile come from.

The strongest first: arguments, ``TRIMTAB_…`` variables (``TRIMTAB_THRESHOLDS__AUTO=13k``), the project file
(``trimtab.yaml``, found upward from the working directory), the user file (``trimtab.yaml`` in ``~/.config/trimtab``),
the base profile with all that it extends. Mappings merge, lists replace.

The base is what the caller names, else ``TRIMTAB_PROFILE``, else what the project or else the user file ``extends``,
else ``default``. A base named by caller or variable decides ``stages`` and ``hooks`` alone, so that runs under two
names differ; everything else in the project and the user file still lies over it.

A file is the user's own where it lies in the user's folder and no file of a project led to it. What any other file
wants to run needs his trust (`trimtab.trust`), except the packaged ones.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from importlib import resources
from pathlib import Path
from typing import Any

from trimtab.errors import ProfileError
from trimtab.yamlfile import Layer, parse, where

__all__ = ["CONFIGS", "home", "layers_of", "project"]
CONFIGS = Path(str(resources.files("trimtab") / "configs"))
FILE = "trimtab.yaml"
SWITCHES = {"TRIMTAB_OFF", "TRIMTAB_PROFILE"}


def home(env: Mapping[str, str], variable: str, default: str) -> Path:
    """Find our folder in one of the XDG base folders."""
    return Path(env.get(variable) or Path(env.get("HOME") or Path.home()) / default) / "trimtab"


def layers_of(name: Any, cwd: Path, env: Mapping[str, str], keys: Iterable[str]) -> tuple[str, list[Layer]]:
    """Read what variables, files and the base say, the strongest first; give also what the base is called."""
    ref = named = str(name or env.get("TRIMTAB_PROFILE") or "")
    folder, at, theirs = cwd, "" if name else "TRIMTAB_PROFILE", False
    own, found = home(env, "XDG_CONFIG_HOME", ".config"), project(cwd)
    read = partial(_read, cwd, own, found.parent if found else cwd)
    layers = list(_variables(env, {f"TRIMTAB_{key.upper()}" for key in keys if key != "extends"} | SWITCHES))
    for file in dict.fromkeys(file for file in (found, _in(own)) if file):
        layer = read(file)
        if not ref and layer.data.get("extends"):
            ref, folder, theirs = str(layer.data["extends"]), file.parent, layer.project
            at = where(("extends",), [layer])
        for key in ("extends", "hooks", "stages") if named else ():
            layer.data.pop(key, None)
        layers.append(layer)
    return ref or "default", [*layers, *_chain(ref or "default", folder, at, read, theirs)]


def project(cwd: Path) -> Path | None:
    """Find the nearest project file upward; raises `ProfileError` where one was meant that would not be read."""
    return next((file for place in (cwd, *cwd.parents) if (file := _in(place))), None)


def _in(folder: Path) -> Path | None:
    file = folder / FILE
    if os.path.isfile(file):
        return file
    if os.path.isdir(file):
        raise ProfileError("is a folder; a profile is a file", where=str(file))
    if os.path.isfile(other := file.with_suffix(".yml")):
        raise ProfileError(f"is not read under this name; call it {FILE}", where=str(other))
    return None


def _variables(env: Mapping[str, str], known: set[str]) -> Iterator[Layer]:
    for name in sorted(env.keys() - SWITCHES, key=lambda name: (-name.count("__"), name)):
        if name.startswith("TRIMTAB_") and env[name]:
            first, *rest = name.split("__")
            if name == "TRIMTAB_EXTENDS":
                raise ProfileError("no such variable; TRIMTAB_PROFILE names the profile", where=name)
            if first not in known:
                raise ProfileError("no such variable", where=name, given=first, available=known)
            data = parse(env[name], name, lines=False).data
            for key in reversed([first.removeprefix("TRIMTAB_"), *rest]):
                data = {key.lower(): data}
            yield Layer(data, name)


def _chain(ref: Any, folder: Path, at: str, read: Callable[..., Layer], theirs: bool) -> Iterator[Layer]:
    seen: list[Path] = []
    while ref is not None:
        file = _find(str(ref), folder, at)
        if file in seen:
            circle = " → ".join(other.name for other in [*seen[seen.index(file) :], file])
            raise ProfileError(f"a circle: {circle}", where=at)
        seen.append(file)
        layer = read(file, theirs)
        yield layer
        ref, folder, at = layer.data.get("extends"), file.parent, where(("extends",), [layer])
        theirs = layer.project


def _find(ref: str, folder: Path, at: str) -> Path:
    packaged = "/" not in ref and not ref.endswith((".yaml", ".yml"))
    file = CONFIGS / f"{ref}.yaml" if packaged else (folder / Path(ref).expanduser()).resolve()
    if os.path.isfile(file):
        return file
    names = [other.stem if packaged else other.name for other in file.parent.glob("*.yaml")]
    what, label = (f"no profile named {ref!r}", "packaged") if packaged else (f"no file {ref}", "there")
    raise ProfileError(what, where=at, given=Path(ref).name, available=names, label=label)


_parsed = lru_cache(maxsize=32)(parse)
"""Reading YAML takes 10 ms a file; a process reads the same ones again and again."""


def _read(cwd: Path, own: Path, place: Path, file: Path, theirs: bool = False) -> Layer:
    """Read a file; ``own`` is the user's folder, ``place`` the project's, ``theirs``: whether its file led here."""
    packaged = file.is_relative_to(CONFIGS)
    base = CONFIGS.parent.parent if packaged else cwd
    name = str(file.relative_to(base) if file.is_relative_to(base) else file)
    try:
        layer = _parsed(file.read_text("utf-8-sig"), name)
    except (OSError, UnicodeError) as error:
        raise ProfileError(f"cannot be read: {error}", where=name) from None
    if not isinstance(layer.data, dict | None):
        raise ProfileError("a profile is a mapping (key: value)", where=f"{name}:1")
    project = not packaged and (theirs or not file.parent.resolve().is_relative_to(own.resolve()))
    return Layer(copy.deepcopy(layer.data) or {}, name, layer.places, place if packaged else file.parent, project)
