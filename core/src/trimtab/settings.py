"""The sections of a profile."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from trimtab.errors import Unknown
from trimtab.origins import LOADING
from trimtab.parts import available
from trimtab.values import Duration, Size

__all__ = ["Cache", "Installed", "Price", "Service", "Storage", "Thresholds", "home"]


def home(env: Mapping[str, str], variable: str, default: str) -> Path:
    """Find our folder in one of the XDG base folders."""
    return Path(env.get(variable) or Path(env.get("HOME") or Path.home()) / default) / "trimtab"


def Installed(kind: str, *words: str) -> AfterValidator:  # noqa: N802 - reads as a type
    """Check the name of a part, or a URL whose scheme is one; ``words`` are allowed beside what is there."""

    def check(value: str) -> str:
        name, names = value.partition(":")[0], [*available(kind), *words]
        if name not in names:
            what = f"no {kind} named {name!r}"
            raise ValueError(str(Unknown(what, given=name, available=names, label="installed")))
        loading = LOADING.get()
        data = home(loading.env if loading else os.environ, "XDG_DATA_HOME", ".local/share")
        return value.replace("{data}", str(data))

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

    kind: Annotated[str, Installed("dialect")]
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

    ledger: Annotated[str, Installed("ledger")]
    blobs: Annotated[str, Installed("blobs")]
