"""The keys of `context-collapse` in a profile."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from trimtab import Amount, StageOptions

__all__ = ["CollapseOptions"]


class CollapseOptions(StageOptions):
    """What is folded, and how old it must be; ages are in requests, shares are of the effective window."""

    mode: Literal["spans", "stale-reads"] = "spans"
    """``spans``: runs of old rounds; ``stale-reads``: results that a later one supersedes."""
    writer: Literal["mechanical", "model"] = "mechanical"
    """Who writes the notes of ``spans``."""
    rounds: int = Field(6, ge=1)
    """The shortest run that the mechanical writer folds, in rounds."""
    age: int = Field(50, ge=1)
    """The mechanical writer folds rounds that were first sent more than this many requests ago."""
    cold_age: int = Field(20, ge=1)
    """The same for runs of which the provider's cache holds nothing, where it is less."""
    stage_at: Amount = 0.90
    """Tokens, or a share, from which the model summarises old spans in the background."""
    force_at: Amount = 0.95
    """Tokens, or a share, from which a request waits for what is not yet summarised."""
    span: Amount = 0.10
    """Tokens, or a share, of the view that one summary stands for, at least."""
    tail: Amount = 0.20
    """Tokens, or a share, at the end of the view that the model does not summarise."""
    fallback: Literal["mechanical", "none"] = "mechanical"
    """What a request that waits gets where the model gives no usable summary."""
    drain: Literal["commit", "restore"] = "commit"
    """When a request was refused as too large: fold all that is summarised, or show again all that was folded."""
