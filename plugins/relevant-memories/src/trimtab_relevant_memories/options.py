"""The keys of `relevant-memories` in a profile."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from trimtab import StageOptions

__all__ = ["MemoriesOptions"]


def _within(folder: Path) -> Path:
    if folder.is_absolute() or ".." in folder.parts or str(folder).startswith("~"):
        raise ValueError(f"{str(folder)!r} is no folder below the profile's; write a path below that, as memories")
    return folder


class MemoriesOptions(StageOptions):
    """Where the memories lie, who picks, and how much is shown."""

    folder: Annotated[Path, AfterValidator(_within)] = Path("memories")
    """The folder of memory files (``.md``), below the folder of the profile that lists the stage."""
    count: int = Field(5, gt=0)
    """Files that may be shown for one message of the user."""
    lines: int = Field(200, gt=0)
    """Lines of each file."""
    bytes: int = Field(4_096, gt=0)
    """Bytes (UTF-8) of each file, in whole lines."""
    pick: Literal["model", "words"] = "model"
    """Who picks: a model that is asked in the background (where there is none, ``words``), or the words in common."""
