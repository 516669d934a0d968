"""Wire values of any format: SDK objects as mappings, structural copies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trimtab.texts.cutting import clean

__all__ = ["copied", "field_of", "fields_of", "fields_or_none", "mended"]


def fields_of(value: Any) -> Mapping[str, Any]:
    """A mapping, or the fields of an SDK object; raises `TypeError` for anything else."""
    found = _dumped(value)
    if not isinstance(found, Mapping):
        raise TypeError(f"expected a mapping, got {type(value).__name__}")
    return found


def fields_or_none(value: Any) -> Mapping[str, Any]:
    """The same; of anything else no fields."""
    found = _dumped(value)
    return found if isinstance(found, Mapping) else {}


def field_of(value: Any, name: str) -> Any:
    """One field of a mapping or of an object, without a copy of all of it; None where there is none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _dumped(value: Any) -> Any:
    if isinstance(value, Mapping) or not hasattr(value, "model_dump"):
        return value
    return value.model_dump(mode="json", exclude_none=True)


def copied(value: Any) -> Any:
    """A structural copy; strings and numbers are shared, so that of a long message is cheap."""
    if isinstance(value, Mapping):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [copied(item) for item in value]
    return value


def mended(value: Any) -> Any:
    """A copy in which U+FFFD stands for each lone surrogate."""
    if isinstance(value, str):
        return value if value.isascii() else clean(value)
    if isinstance(value, Mapping):
        return {mended(key): mended(item) for key, item in value.items()}
    return [mended(item) for item in value] if isinstance(value, list) else value
