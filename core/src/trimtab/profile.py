"""Profiles: which stages and hooks run, in what order and when; a checked model of `trimtab.sources`."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator
from pydantic_settings import BaseSettings, InitSettingsSource

from trimtab.errors import PluginError, ProfileError, TrimtabError, Unknown
from trimtab.parts import available
from trimtab.plugins import Catalog, catalog
from trimtab.sources import home, layers_of
from trimtab.stage import StageOptions
from trimtab.values import Duration, Size, Window
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


def _part(kind: str, root: str = "") -> AfterValidator:
    """Check the name of an installed part, or a URL whose scheme is one; ``root`` makes a URL of a path."""

    def check(value: str) -> str:
        name, names = value.partition(":")[0], available(kind)
        if root and name == value:
            path = value if value.startswith(("/", "{data}")) else "/absolute/path"
            raise ValueError(f"{value!r} is no URL; write {root}{path}")
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
    step: Annotated[Size, Field(gt=0)] | None = None
    """Tokens; what is read is a multiple of it."""


def _ascending(cliffs: tuple[tuple[int, float], ...] | None) -> tuple[tuple[int, float], ...] | None:
    if list(cliffs or ()) != sorted(dict(cliffs or ()).items()):
        raise ValueError("cliffs must ascend, each at more tokens than the one before; write [[200k, 2], [400k, 3]]")
    return cliffs


class Price(_Section, allow_inf_nan=False):
    """Dollars per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_read: float = Field(ge=0)
    cache_write: float = Field(ge=0)
    cache_write_1h: float = Field(ge=0)
    cliffs: Annotated[tuple[tuple[Size, Annotated[float, Field(gt=0)]], ...] | None, AfterValidator(_ascending)] = None
    """``[[200k, 2]]``: the input of a request with more than 200k tokens costs twice as much; ``[]``: none do."""


class Service(_Section, allow_inf_nan=False):
    """What the server can do; what is not said here comes from the table of known models."""

    kind: Annotated[str, _part("dialect")]
    """The dialect: the wire format of the messages."""
    model: str
    window: Window | None = None
    """Tokens, answer included."""
    cache: Cache = Cache()
    price: Price | None = None
    prefix_bound: bool | None = None
    """Whether thinking is bound to everything before it."""
    factor: float | None = Field(None, gt=0)
    """Tokens of this model for one token of the counter, before calibration."""
    cache_edits: bool | str = False
    """Whether it deletes results from its cache on request; a text is the beta header that this needs."""
    context_management: bool = False
    """Whether it clears old results and thinking by itself when a request parameter says so."""


class Answers(_Section):
    """The model behind ``Session.open(ask=…)``; unless said, that of the session."""

    model: str = ""
    window: Window | None = None
    """Tokens, answer included."""


class Thresholds(_Section):
    """Tokens: ``reserve`` below the window, the others below what that leaves; less on windows under 200k."""

    reserve: Size = 20_000
    auto: Size = 13_000
    warn: Size = 20_000
    block: Size = 3_000


class Storage(_Section):
    """URLs, in which ``{data}`` stands for ``~/.local/share/trimtab``, and what `trimtab gc` may remove there."""

    ledger: Annotated[str, _part("ledger", "sqlite:///")]
    blobs: Annotated[str, _part("blobs", "file://")]
    keep_days: int | None = Field(None, ge=1)
    """Days after its last decision for which a session is kept; unless said, for ever."""
    max_bytes: Size | None = None
    """Bytes of rows and originals above which the sessions that were used longest ago go; unless said, any number."""

    def __iter__(self) -> Generator[tuple[str, Any], None, None]:
        """Yield the stores: kind and URL."""
        yield from (("ledger", self.ledger), ("blobs", self.blobs))


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
    ask: Answers = Answers()
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
    counter: Annotated[str, _part("counter")] = "auto"
    """What counts tokens."""
    _layers: Sequence[Layer] = PrivateAttr(())
    _name: str = PrivateAttr("")

    @property
    def name(self) -> str:
        """What the base was called by: ``default``, ``./team.yaml``."""
        return self._name

    @property
    def sources(self) -> list[str]:
        """What was read, the strongest first: variables and files."""
        return [layer.name for layer in self._layers if layer.name != "argument"]

    def origin(self, path: KeyPath) -> str:
        """Tell where the value at ``path`` was said: ``file:line``, a variable, ``argument`` or ``default``."""
        return said(path, self._layers) or "default"

    @field_validator("stages", "hooks", mode="plain", json_schema_input_type=list[Any])
    @classmethod
    def _items(cls, value: Any, info: Any) -> tuple[Item, ...]:
        if not isinstance(value, list | tuple):
            raise ValueError(f"a list is needed (- name, or - name: {{option: value}}), not {value!r}")
        items, faults, listed = list[Item](), list[TrimtabError](), [_named(item)[0] for item in value]
        for n, item in enumerate(value):
            try:
                items.append(_item(item, (info.field_name, n), _now(), listed))
            except _Faults as several:
                faults += several.faults
            except (PluginError, ProfileError) as fault:
                faults.append(fault)
        instead = {item.name: getattr(item.options, "unless", None) for item in items}
        for n, item in enumerate(items if not faults else ()):
            chain = [item.name]
            while (following := instead.get(chain[-1])) and following not in chain:
                chain.append(following)
            if following == item.name:
                what = f"stages that wait for each other would never run: {' → '.join([*chain, item.name])}"
                faults.append(ProfileError(what, where=where((info.field_name, n, item.name, "unless"), _now().layers)))
        if faults:
            raise _Faults(faults)
        return tuple(items)

    @classmethod
    def settings_customise_sources(cls, settings_cls: Any, init_settings: Any, *_: Any, **__: Any) -> Any:
        """Make the layers of `load` the sources, the strongest first."""
        return (init_settings, *(InitSettingsSource(settings_cls, layer.data) for layer in _now().layers))


class _Faults(ValueError):  # noqa: N818 - several, each an error
    """Faults in our words, which pydantic hands through as one of its own."""

    def __init__(self, faults: list[TrimtabError]) -> None:
        self.faults = faults


def _named(item: Any) -> tuple[Any, Any]:
    return next(iter(item.items())) if isinstance(item, dict) and len(item) == 1 else (item, None)


def _item(item: Any, path: KeyPath, loading: _Loading, listed: Sequence[Any]) -> Item:
    at = where(path, loading.layers)
    name, options = _named(item)
    if not isinstance(name, str):
        raise ProfileError(f"a name is needed, or one name with its options indented below it, not {item!r}", where=at)
    found = loading.plugins.get(str(path[0])[:-1], name, at)
    try:
        checked = found.cls.Options.model_validate({} if options is None else options)
    except ValidationError as error:
        raise _Faults(_explain(error, (*path, name), found.cls.Options, loading.layers)) from None
    unless = checked.unless if isinstance(checked, StageOptions) and "unless" in checked.model_fields_set else None
    if unless is not None and unless not in listed:
        what, at = f"no stage named {unless!r} is listed", where((*path, name, "unless"), loading.layers)
        names = {other for other in listed if isinstance(other, str)}
        raise ProfileError(what, where=at, given=unless, available=names, label="listed")
    return Item(name, checked, said(path, loading.layers) or "argument", found.cls)


def _explain(error: ValidationError, prefix: KeyPath, model: Any, layers: Sequence[Layer]) -> list[TrimtabError]:
    """Put what pydantic found in our words, one fault a place: unknown keys before all, missing ones last."""
    faults: dict[str, TrimtabError] = {}
    ranks = {"extra_forbidden": 0, "missing": 2}
    for found in sorted(error.errors(), key=lambda found: ranks.get(found["type"], 1)):
        cause = found.get("ctx", {}).get("error")
        for fault in cause.faults if isinstance(cause, _Faults) else [_fault(found, prefix, model, layers)]:
            faults.setdefault(fault.where, fault)
    return list(faults.values())


def _fault(found: Any, prefix: KeyPath, model: Any, layers: Sequence[Layer]) -> ProfileError:
    path, kind, given, more = prefix + found["loc"], found["type"], found["input"], dict[str, Any]()
    if kind == "missing":
        alone = path[0] in ("provider", "storage") and "price" not in path
        what = "is missing; say it, or begin the file with `extends: default` (or minimal)" if alone else "is missing"
        return ProfileError(what, where=where(path, layers))
    while len(path) > 1 and not said(path, layers):
        path = path[:-1]  # pydantic appends the branch of a union
    if kind == "extra_forbidden":
        what, given, more = "no such key", path[-1], {"available": _keys(model, found["loc"][:-1]), "label": "keys"}
        return ProfileError(what, where=where(path, layers), given=str(given), **more)
    if kind == "literal_error":
        what, more = f"{given!r} is none of the words for this", {"available": re.findall(r"'([^']*)'", found["msg"])}
    elif kind in ("dict_type", "model_type"):
        what = f"a mapping is needed (key: value), not {given!r}"
        more = {"available": _keys(model, found["loc"]), "label": "keys"}
    else:
        what = str(found.get("ctx", {}).get("error") or found["msg"].replace("Input", repr(given), 1))
    what = _empty(what) if given is None else what
    return ProfileError(what, where=where(path, layers), given=str(given), **more)


def _empty(what: str) -> str:
    """Say of an empty value that it is empty, and what it should be."""
    for start, instead in (("None is ", ", "), ("None ", "; it ")):
        if what.startswith(start):
            return f"is empty{instead}{what.removeprefix(start)}"
    return f"is empty; {what.removesuffix(', not None')}"


def _line(fault: TrimtabError) -> tuple[str, int]:
    name, _, line = fault.where.partition(": ")[0].rpartition(":")
    return (name, int(line)) if line.isdigit() else (fault.where, 0)


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
        faults = sorted(_explain(error, (), Profile, _now().layers), key=_line)
        raise faults[0] if len(faults) == 1 else ProfileError("\n".join(map(str, faults))) from None
    finally:
        _loading.reset(token)
    return profile
