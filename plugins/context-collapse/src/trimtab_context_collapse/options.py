"""The keys of `context-collapse` in a profile."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from trimtab import StageOptions

__all__ = ["CollapseOptions"]


class CollapseOptions(StageOptions):
    """What is folded, and how old it must be; ages are in requests."""

    mode: Literal["spans", "stale-reads"] = "spans"
    """``spans``: runs of old rounds; ``stale-reads``: results that a later one supersedes."""
    writer: Literal["mechanical"] = "mechanical"
    """Who writes the notes of ``spans``."""
    rounds: int = Field(6, ge=1)
    """The shortest run that ``spans`` folds, in rounds."""
    age: int = Field(50, ge=1)
    """``spans`` folds rounds that were first sent more than this many requests ago."""
    cold_age: int = Field(20, ge=1)
    """The same for runs of which the provider's cache holds nothing, where it is less."""
