"""What pydantic finds wrong in a profile, in our words: where, what, the nearest right thing, what is available."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from trimtab.errors import ProfileError, TrimtabError
from trimtab.yamlfile import KeyPath, Layer, said, where

__all__ = ["Faults", "explain", "line"]


class Faults(ValueError):  # noqa: N818 - several, each an error
    """Faults in our words, which pydantic hands through as one of its own."""

    def __init__(self, faults: list[TrimtabError]) -> None:
        self.faults = faults


def explain(error: ValidationError, prefix: KeyPath, model: Any, layers: Sequence[Layer]) -> list[TrimtabError]:
    """Put what pydantic found in our words, one fault a place: unknown keys before all, missing ones last."""
    faults: dict[str, TrimtabError] = {}
    ranks = {"extra_forbidden": 0, "missing": 2}
    for found in sorted(error.errors(), key=lambda found: ranks.get(found["type"], 1)):
        cause = found.get("ctx", {}).get("error")
        for fault in cause.faults if isinstance(cause, Faults) else [_fault(found, prefix, model, layers)]:
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


def line(fault: TrimtabError) -> tuple[str, int]:
    """Tell the file and the line of a fault, to sort by."""
    name, _, number = fault.where.partition(": ")[0].rpartition(":")
    return (name, int(number)) if number.isdigit() else (fault.where, 0)


def _keys(model: Any, path: KeyPath) -> list[str]:
    for key in path:
        kind = getattr(model.model_fields.get(key), "annotation", None)
        kinds = [kind for kind in (kind, *get_args(kind)) if isinstance(kind, type) and issubclass(kind, BaseModel)]
        if not kinds:
            return []
        model = kinds[0]
    return list(model.model_fields)
