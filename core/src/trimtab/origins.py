"""Where a profile says what: origins of values, and errors that start with them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from trimtab.errors import ProfileError
from trimtab.plugins import Catalog, catalog
from trimtab.yamlfile import KeyPath, Layer, shown

__all__ = ["LOADING", "Loading", "explain", "said", "where"]


@dataclass(frozen=True)
class Loading:
    """What one profile is loaded from: layers, the strongest first; plugins; the environment."""

    layers: Sequence[Layer] = ()
    plugins: Catalog = field(default_factory=catalog)
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)


LOADING: ContextVar[Loading | None] = ContextVar("trimtab_loading", default=None)
"""Set while `load` runs: pydantic-settings hands validators nothing of the caller's."""


def said(path: KeyPath, layers: Sequence[Layer]) -> str | None:
    """Find the origin of exactly this path; a list comes from one layer as a whole."""
    listed = next((path[:n] for n, key in enumerate(path) if isinstance(key, int)), None)
    for layer in layers:
        if (place := layer.origin(path)) or (listed and layer.origin(listed)):
            return place
    return None


def where(path: KeyPath, layers: Sequence[Layer]) -> str:
    """Write ``file:line: key.path`` for an error, by the nearest key that was said."""
    near = path
    while near and not said(near, layers):
        near = near[:-1]
    place = said(near, layers if near else layers[-1:])
    return f"{place}: {shown(path)}" if place else shown(path)


def explain(error: ValidationError, prefix: KeyPath, model: Any, layers: Sequence[Layer]) -> ProfileError:
    """Put the first fault that pydantic found, unknown keys before all, in our words."""
    fault = min(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
    path, kind, given = prefix + fault["loc"], fault["type"], fault["input"]
    while kind != "missing" and len(path) > 1 and not said(path, layers):
        path = path[:-1]  # pydantic appends the branch of a union
    what, more = fault["msg"].replace("Input", repr(given), 1), dict[str, Any]()
    if kind == "missing":
        what = "is missing"
    elif kind == "value_error":
        what = str(fault["ctx"]["error"])
    elif kind == "extra_forbidden":
        what = "no such key"
        more = {"given": str(path[-1]), "available": _keys(model, fault["loc"][:-1]), "label": "keys"}
    elif kind == "literal_error":
        what = f"{given!r} is none of the words for this"
        more = {"given": str(given), "available": re.findall(r"'([^']*)'", fault["ctx"]["expected"])}
    return ProfileError(what, where=where(path, layers), **more)


def _keys(model: Any, path: KeyPath) -> list[str]:
    for key in path:
        kind = getattr(model.model_fields.get(key), "annotation", None)
        kinds = [kind for kind in (kind, *get_args(kind)) if isinstance(kind, type) and issubclass(kind, BaseModel)]
        if not kinds:
            return []
        model = kinds[0]
    return list(model.model_fields)
