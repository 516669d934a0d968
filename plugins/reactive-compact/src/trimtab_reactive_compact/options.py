"""The keys of `reactive-compact` in a profile."""

from __future__ import annotations

from typing import Literal

from trimtab import StageOptions
from trimtab.summary import Keep

__all__ = ["ReactiveOptions"]


class ReactiveOptions(StageOptions):
    """How much stays as it was said, and who summarises the rest."""

    keep: Keep | None = None
    """The newest messages that stay, as far as they fit; without it as much as fits."""
    writer: Literal["mechanical", "model"] = "model"
    """Who summarises the older rounds; ``model`` is ``mechanical`` too where nobody can be asked."""
