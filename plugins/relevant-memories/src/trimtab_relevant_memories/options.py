"""The keys of `relevant-memories` in a profile."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field
from trimtab import StageOptions

__all__ = ["MemoriesOptions"]


class MemoriesOptions(StageOptions):
    """Where the memories lie, who picks, and how much is shown."""

    folder: Path = Path("memories")
    """The folder of memory files (``.md``); a relative path is seen from the folder of the profile that lists it."""
    count: int = Field(5, gt=0)
    """Files that may be shown for one message of the user."""
    lines: int = Field(200, gt=0)
    """Lines of each file."""
    bytes: int = Field(4_096, gt=0)
    """Bytes (UTF-8) of each file, in whole lines."""
    pick: Literal["model", "words"] = "model"
    """Who picks: a model that is asked in the background (where there is none, ``words``), or the words in common."""
