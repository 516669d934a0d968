"""Looks for options that no docstring explains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel

__all__ = ["undocumented"]


def undocumented(options: type[BaseModel], path: str = "") -> list[str]:
    """Paths of the fields that lack a description, and of the models (those below too) that lack a docstring."""
    missing = [] if vars(options).get("__doc__") else [path or options.__name__]
    for name, field in options.model_fields.items():
        place = f"{path}.{name}" if path else name
        if not field.description:
            missing.append(place)
        for model in _models(field.annotation):
            missing += undocumented(model, place)
    return missing


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)
