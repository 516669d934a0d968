"""Profiles: which stages and hooks run, in what order and when; a checked model of `trimtab.sources`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator
from pydantic_settings import BaseSettings, InitSettingsSource

from trimtab.errors import ProfileError, Unknown
from trimtab.parts import available
from trimtab.plugins import Catalog, catalog
from trimtab.sources import home, layers_of
from trimtab.values import Duration, Size
from trimtab.yamlfile import KeyPath, Layer, said, where

__all__ = ["Item", "Profile", "load"]


@dataclass(frozen=True, slots=True)
class _Loading:
    """What one profile is loaded from; pydantic-settings hands validators nothing of the caller's."""

    layers: Sequence[Layer] = ()
    plugins: Catalog = field(default_factory=catalog)
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)


_loading: ContextVar[_Loading | None] = ContextVar("trimtab_loading", default=None)


def _now() -> _Loading:
    return _loading.get() or _Loading()


def _part(kind: str, *words: str) -> AfterValidator:
    """Check the name of an installed part, or a URL whose scheme is one."""

    def check(value: str) -> str:
        name, names = value.partition(":")[0], [*available(kind), *words]
        if name not in names:
            error = Unknown(f"no {kind} named {name!r}", given=name, available=names, label="installed")
            raise ValueError(str(error))
        return value.replace("{data}", str(home(_now().env, "XDG_DATA_HOME", ".local/share")))

    return AfterValidator(check)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Cache(_Section):
    """The provider's prompt cache."""

    ttl: Duration | None = None
    """Seconds, or ``5m``, ``1h``: how long a prefix is kept."""
    minimum: Size | None = None
    """Tokens; shorter prefixes are not kept."""


class Price(_Section):
    """Dollars per million tokens."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_1h: float


class Service(_Section):
    """What the server can do; what is not said here comes from the table of known models."""

    kind: Annotated[str, _part("dialect")]
    """The dialect: the wire format of the messages."""
    model: str
    window: Size | None = None
    """Tokens, answer included."""
    cache: Cache = Cache()
    price: Price | None = None
    prefix_bound: bool | None = None
    """Whether thinking is bound to everything before it."""
    factor: float | None = Field(None, gt=0)
    """Tokens of this model for one token of the counter, before calibration."""


class Thresholds(_Section):
    """Tokens: ``reserve`` below the window, the others below what that leaves; less on windows under 200k."""

    reserve: Size = 20_000
    auto: Size = 13_000
    warn: Size = 20_000
    block: Size = 3_000


class Storage(_Section):
    """URLs; ``{data}`` stands for ``~/.local/share/trimtab``."""

    ledger: Annotated[str, _part("ledger")]
    blobs: Annotated[str, _part("blobs")]


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
    counter: Annotated[str, _part("counter", "auto")] = "auto"
    """What counts tokens."""
    _layers: Sequence[Layer] = PrivateAttr(())
    _name: str = PrivateAttr("")

    @property
    def name(self) -> str:
        """What the base was called by: ``default``, ``./team.yaml``."""
        return self._name

    def origin(self, path: KeyPath) -> str:
        """Tell where the value at ``path`` was said: ``file:line``, a variable, ``argument`` or ``default``."""
        return said(path, self._layers) or "default"

    @field_validator("stages", "hooks", mode="plain", json_schema_input_type=list[Any])
    @classmethod
    def _items(cls, value: Any, info: Any) -> tuple[Item, ...]:
        if not isinstance(value, list | tuple):
            raise ValueError(f"a list is needed (- name, or - name: {{option: value}}), not {value!r}")
        return tuple(_item(item, (info.field_name, n), _now()) for n, item in enumerate(value))

    @classmethod
    def settings_customise_sources(cls, settings_cls: Any, init_settings: Any, *_: Any, **__: Any) -> Any:
        """Make the layers of `load` the sources, the strongest first."""
        return (init_settings, *(InitSettingsSource(settings_cls, layer.data) for layer in _now().layers))


def _item(item: Any, path: KeyPath, loading: _Loading) -> Item:
    at = where(path, loading.layers)
    name, options = next(iter(item.items())) if isinstance(item, dict) and len(item) == 1 else (item, None)
    if not isinstance(name, str):
        raise ProfileError(f"a name is needed, or one name with its options indented below it, not {item!r}", where=at)
    found = loading.plugins.get(str(path[0])[:-1], name, at)
    try:
        checked = found.cls.Options.model_validate({} if options is None else options)
    except ValidationError as error:
        raise _explain(error, (*path, name), found.cls.Options, loading.layers) from None
    return Item(name, checked, said(path, loading.layers) or "argument", found.cls)


def _explain(error: ValidationError, prefix: KeyPath, model: Any, layers: Sequence[Layer]) -> ProfileError:
    """Put the first fault that pydantic found, unknown keys before all, in our words."""
    fault = min(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
    path, given, more = prefix + fault["loc"], fault["input"], dict[str, Any]()
    if fault["type"] == "missing":
        return ProfileError("is missing", where=where(path, layers))
    while len(path) > 1 and not said(path, layers):
        path = path[:-1]  # pydantic appends the branch of a union
    if fault["type"] == "extra_forbidden":
        what, given, more = "no such key", path[-1], {"available": _keys(model, fault["loc"][:-1]), "label": "keys"}
    elif fault["type"] == "literal_error":
        what, more = f"{given!r} is none of the words for this", {"available": re.findall(r"'([^']*)'", fault["msg"])}
    else:
        what = str(fault.get("ctx", {}).get("error") or fault["msg"].replace("Input", repr(given), 1))
    return ProfileError(what, where=where(path, layers), given=str(given), **more)


def _keys(model: Any, path: KeyPath) -> list[str]:
    for key in path:
        kind = getattr(model.model_fields.get(key), "annotation", None)
        kinds = [kind for kind in (kind, *get_args(kind)) if isinstance(kind, type) and issubclass(kind, BaseModel)]
        if not kinds:
            return []
        model = kinds[0]
    return list(model.model_fields)


def load(
    name_or_path: str | Path | None = None,
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    plugins: Sequence[Any] = (),
) -> Profile:
    """Find, merge and check a profile; raises `ProfileError` (``file:line: key: what``) or `PluginError`."""
    env = os.environ if env is None else env
    said_by = Layer(dict(overrides or {}), "argument")
    name, layers = layers_of(name_or_path, Path(cwd or Path.cwd()).resolve(), env, Profile.model_fields)
    token = _loading.set(_Loading((said_by, *layers), catalog(plugins), env))
    try:
        profile = Profile.model_validate({})
        profile._layers, profile._name = _now().layers, name
    except ValidationError as error:
        raise _explain(error, (), Profile, _now().layers) from None
    finally:
        _loading.reset(token)
    return profile
