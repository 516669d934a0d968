"""Profiles: which stages and hooks run, in what order and when; from YAML, the environment and arguments.

Sources, the strongest first: arguments, ``TRIMTAB_…`` variables (``TRIMTAB_THRESHOLDS__AUTO=13k``), the
project file (``trimtab.yaml``, found upward from the working directory), the user file (``trimtab.yaml`` in
``~/.config/trimtab``), the base profile with all that it extends. Mappings merge, lists replace.

The base is what the caller names, else ``TRIMTAB_PROFILE``, else what the project or else the user file
``extends``, else ``default``. A base named by caller or variable decides ``stages`` and ``hooks`` alone, so
that runs under two names differ; everything else in the project and the user file still lies over it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import PrivateAttr, ValidationError, field_validator
from pydantic_settings import BaseSettings, InitSettingsSource

from trimtab.errors import ProfileError
from trimtab.origins import LOADING, Loading, explain, said, where
from trimtab.plugins import catalog
from trimtab.settings import Installed, Service, Storage, Thresholds, home
from trimtab.yamlfile import KeyPath, Layer, parse

__all__ = ["Item", "Profile", "load"]
CONFIGS = Path(str(resources.files("trimtab") / "configs"))
SWITCHES = {"TRIMTAB_OFF", "TRIMTAB_PROFILE"}


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of ``stages:`` or ``hooks:``; ``options`` is a ``cls.Options``, ``where`` its origin."""

    name: str
    options: Any
    where: str
    cls: type[Any]


class Profile(BaseSettings):
    """A checked profile; `load` makes one."""

    model_config = {"extra": "forbid", "frozen": True, "use_attribute_docstrings": True}

    extends: str | None = None
    """The profile that this one changes: the name of a packaged one, or a path seen from this file."""
    provider: Service
    thresholds: Thresholds = Thresholds()
    stages: tuple[Item, ...] = ()
    """``name`` or ``name: {options}``, in the order in which they run."""
    hooks: tuple[Item, ...] = ()
    """``name`` or ``name: {options}``, in the order in which they are called."""
    tools: dict[str, Literal["edit", "other", "read", "search", "shell", "web"]] = {}
    """Tool name or glob to tool class."""
    storage: Storage
    strict: bool = False
    """Raise where a plugin fails or a request would be invalid, instead of going on without."""
    history: Literal["sent", "unsent"] = "sent"
    """Whether messages that an answer follows count as sent."""
    counter: Annotated[str, Installed("counter", "auto")] = "auto"
    """What counts tokens."""
    _layers: Sequence[Layer] = PrivateAttr(())
    _name: str = PrivateAttr("")

    @property
    def name(self) -> str:
        """What the base was called by: ``default``, ``./team.yaml``."""
        return self._name

    def origin(self, path: KeyPath) -> str:
        """Tell where the value at ``path`` was said: ``file:line``, a variable, ``argument``, ``default``."""
        return said(path, self._layers) or "default"

    @field_validator("stages", "hooks", mode="plain", json_schema_input_type=list[Any])
    @classmethod
    def _items(cls, value: Any, info: Any) -> tuple[Item, ...]:
        if not isinstance(value, list | tuple):
            raise ValueError(f"a list is needed (- name, or - name: {{option: value}}), not {value!r}")
        loading = LOADING.get() or Loading()
        return tuple(_item(item, (info.field_name, n), loading) for n, item in enumerate(value))

    @classmethod
    def settings_customise_sources(cls, settings_cls: Any, init_settings: Any, *_: Any, **__: Any) -> Any:
        """Make the layers of `load` the sources, the strongest first."""
        layers = (LOADING.get() or Loading()).layers
        return (init_settings, *(InitSettingsSource(settings_cls, layer.data) for layer in layers))


def _item(item: Any, path: KeyPath, loading: Loading) -> Item:
    at = where(path, loading.layers)
    name, options = next(iter(item.items())) if isinstance(item, dict) and len(item) == 1 else (item, None)
    if not isinstance(name, str):
        what = f"a name is needed, or one name with its options indented below it, not {item!r}"
        raise ProfileError(what, where=at)
    found = loading.plugins.get(str(path[0])[:-1], name, at)
    try:
        checked = found.cls.Options.model_validate({} if options is None else options)
    except ValidationError as error:
        raise explain(error, (*path, name), found.cls.Options, loading.layers) from None
    return Item(name, checked, said(path, loading.layers) or "argument", found.cls)


def load(
    name_or_path: str | Path | None = None,
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    plugins: Sequence[Any] = (),
) -> Profile:
    """Find, merge and check a profile; raises `ProfileError` (``file:line: key: what``) or `PluginError`."""
    env, cwd = os.environ if env is None else env, Path(cwd or Path.cwd()).resolve()
    ref = named = str(name_or_path or env.get("TRIMTAB_PROFILE") or "")
    folder, at = cwd, "" if name_or_path else "TRIMTAB_PROFILE"
    layers = [Layer(dict(overrides or {}), "argument"), *_variables(env)]
    project = [file for place in (cwd, *cwd.parents) if (file := place / "trimtab.yaml").is_file()]
    user = home(env, "XDG_CONFIG_HOME", ".config") / "trimtab.yaml"
    for file in dict.fromkeys([*project[:1], *([user] if user.is_file() else [])]):
        layer = _read(file, cwd)
        if not ref and layer.data.get("extends"):
            ref, folder, at = str(layer.data["extends"]), file.parent, where(("extends",), [layer])
        for key in ("extends", "hooks", "stages") if named else ():
            layer.data.pop(key, None)
        layers.append(layer)
    layers += _chain(ref or "default", folder, at, cwd)
    token = LOADING.set(Loading(layers, catalog(plugins), env))
    try:
        profile = Profile.model_validate({})
    except ValidationError as error:
        raise explain(error, (), Profile, layers) from None
    finally:
        LOADING.reset(token)
    profile._layers, profile._name = layers, ref or "default"
    return profile


def _variables(env: Mapping[str, str]) -> Iterator[Layer]:
    known = {f"TRIMTAB_{key.upper()}" for key in Profile.model_fields if key != "extends"} | SWITCHES
    for name in sorted(env.keys() - SWITCHES, key=lambda name: (-name.count("__"), name)):
        if name.startswith("TRIMTAB_") and env[name]:
            first, *rest = name.split("__")
            if first not in known:
                raise ProfileError("no such variable", where=name, given=first, available=known)
            data = parse(env[name], name, lines=False).data
            for key in reversed([first[len("TRIMTAB_") :], *rest]):
                data = {key.lower(): data}
            yield Layer(data, name)


def _chain(ref: Any, folder: Path, at: str, cwd: Path) -> Iterator[Layer]:
    seen: list[Path] = []
    while ref is not None:
        file = _find(str(ref), folder, at)
        if file in seen:
            circle = " → ".join(other.name for other in [*seen[seen.index(file) :], file])
            raise ProfileError(f"a circle: {circle}", where=at)
        seen.append(file)
        layer = _read(file, cwd)
        yield layer
        ref, folder, at = layer.data.get("extends"), file.parent, where(("extends",), [layer])


def _find(ref: str, folder: Path, at: str) -> Path:
    if "/" in ref or ref.endswith((".yaml", ".yml")):
        file, what, label = (folder / Path(ref).expanduser()).resolve(), f"no file {ref}", "there"
    else:
        file, what, label = CONFIGS / f"{ref}.yaml", f"no profile named {ref!r}", "packaged"
    if not file.is_file():
        names = [other.stem if label == "packaged" else other.name for other in file.parent.glob("*.yaml")]
        raise ProfileError(what, where=at, given=Path(ref).name, available=names, label=label)
    return file


def _read(file: Path, cwd: Path) -> Layer:
    base = CONFIGS.parent.parent if file.is_relative_to(CONFIGS) else cwd
    name = str(file.relative_to(base) if file.is_relative_to(base) else file)
    try:
        layer = parse(file.read_text("utf-8-sig"), name)
    except (OSError, UnicodeError) as error:
        raise ProfileError(f"cannot be read: {error}", where=name) from None
    if not isinstance(layer.data, dict | None):
        raise ProfileError("a profile is a mapping (key: value)", where=f"{name}:1")
    return Layer(layer.data or {}, name, layer.places)
