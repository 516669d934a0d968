"""Profiles: which stages and hooks run, in what order and when; a checked model of `trimtab.sources`."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator
from pydantic_settings import BaseSettings, InitSettingsSource

from trimtab.errors import ProfileError, Unknown
from trimtab.faults import explain, line
from trimtab.items import Item, Loading, listed
from trimtab.parts import available
from trimtab.plugins import catalog
from trimtab.sources import home, layers_of, project
from trimtab.trust import Wanted
from trimtab.values import Duration, Size, Window
from trimtab.yamlfile import KeyPath, Layer, said

__all__ = ["Item", "Profile", "load", "survey"]

_loading: ContextVar[Loading | None] = ContextVar("trimtab_loading", default=None)


def _now() -> Loading:
    return _loading.get() or Loading()


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
    breakpoints: bool = True
    """Whether a client marks what is to be cached, where the caller marks nothing and the provider wants it marked."""
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
    drop_block: bool | None = None
    """Whether it leaves out thinking that is bound to what an edit changed; else trimtab removes it. Unless said, yes
    where a client of ours sends the request."""
    compaction: bool = False
    """Whether it writes summaries by itself, for stages with a writer of that name."""


class Asking(_Section):
    """The model behind ``Session.open(ask=…)``; unless said, that of the session."""

    model: str = ""
    window: Window | None = None
    """Tokens, answer included."""
    timeout: Duration | None = None
    """Seconds, or ``60s``, that an answer may take; unless said, what the asker has."""


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


class Profile(BaseSettings):
    """A checked profile; `load` makes one."""

    model_config = {"extra": "forbid", "frozen": True, "use_attribute_docstrings": True}

    extends: str | None = None
    """The profile that this one changes: the name of a packaged one, or a path seen from this file."""
    provider: Service
    thresholds: Thresholds = Thresholds()
    ask: Asking = Asking()
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
        return listed(value, info.field_name, _now())

    @classmethod
    def settings_customise_sources(cls, settings_cls: Any, init_settings: Any, *_: Any, **__: Any) -> Any:
        """Make the layers of `load` the sources, the strongest first."""
        return (init_settings, *(InitSettingsSource(settings_cls, layer.data) for layer in _now().layers))


def load(
    name_or_path: str | Path | None = None,
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    plugins: Sequence[Any] = (),
) -> Profile:
    """Find, merge and check a profile; raises `ProfileError` (``file:line: key: what``) or `PluginError`.

    The Python files and commands that a project's files name must be trusted (`trimtab.trust`).
    """
    return _load(name_or_path, None, cwd=cwd, env=env, overrides=overrides, plugins=plugins)


def survey(
    name_or_path: str | Path | None = None,
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
) -> tuple[Profile, list[Wanted]]:
    """Load a profile without what is not trusted, and list what it wants to run and needs trust for.

    What a file wants to run is not known before the file is trusted. Raises like `load`.
    """
    wanted: list[Wanted] = []
    return _load(name_or_path, wanted, cwd=cwd, env=env), wanted


def _load(
    name_or_path: str | Path | None,
    wanted: list[Wanted] | None,
    *,
    cwd: str | Path | None,
    env: Mapping[str, str] | None,
    overrides: Mapping[str, Any] | None = None,
    plugins: Sequence[Any] = (),
) -> Profile:
    env, folder = os.environ if env is None else env, Path(cwd or Path.cwd()).resolve()
    said_by = Layer(dict(overrides or {}), "argument")
    name, layers = layers_of(name_or_path, folder, env, Profile.model_fields)
    found = project(folder)
    there = found.parent if found else folder
    now = Loading((said_by, *layers), catalog(plugins), env, folder, there, str(name_or_path or ""), wanted)
    token = _loading.set(now)
    try:
        profile = Profile.model_validate({})
        profile._layers, profile._name = now.layers, name
    except ValidationError as error:
        faults = sorted(explain(error, (), Profile, now.layers), key=line)
        raise faults[0] if len(faults) == 1 else ProfileError("\n".join(map(str, faults))) from None
    finally:
        _loading.reset(token)
    return profile
