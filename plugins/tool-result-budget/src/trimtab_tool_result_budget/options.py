"""The keys of `tool-result-budget` in a profile."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from trimtab import StageOptions
from trimtab.values import size

__all__ = ["BudgetOptions", "HeadTail", "Limits"]


def _positive(value: Any) -> int:
    number = size(value)
    if number == 0:
        raise ValueError("0 is not a size in characters; write at least 1")
    return number


def _limit(value: Any) -> int | str:
    if value == "off":
        return "off"
    try:
        return _positive(value)
    except ValueError:
        raise ValueError(f"{value!r} is not a limit; write characters, as 24_000 or 24k, or off") from None


_NUMBER = {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]}
Characters = Annotated[int, BeforeValidator(_positive), WithJsonSchema(_NUMBER)]
Limit = Annotated[int | Literal["off"], BeforeValidator(_limit), WithJsonSchema(_NUMBER)]


class Limits(BaseModel):
    """Characters per tool class: a larger result is stored and previewed; ``off``: never."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    read: Limit = 24_000
    """A file read whole."""
    ranged_read: Limit = 30_000
    """A part of a file: asked for by line, so needed most."""
    search: Limit = 12_000
    """Found lines and lists of files."""
    shell: Limit = 4_000
    """Output of commands."""
    edit: Limit | None = None
    """Answers of editing tools; unless given, as ``other``."""
    web: Limit | None = None
    """Fetched pages and web searches; unless given, as ``other``."""
    other: Limit = 6_000
    """All other tools."""


class HeadTail(BaseModel):
    """Sizes of the ``head-tail`` preview, in characters."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    head: Characters = 6_000
    """From the start."""
    tail: Characters = 2_000
    """From the end."""


class BudgetOptions(StageOptions):
    """What is too big, and what is shown instead; all sizes in characters."""

    limits: Limits = Limits()
    """By tool class."""
    tools: dict[str, Limit] = Field(default_factory=dict)
    """By tool name, before the class: ``{Read: off, Bash: 8_000}``."""
    empty: Literal["leave", "name"] = "name"
    """Whether an empty result says that its tool finished: about 8 tokens, for models that stop at an empty one."""
    message: Limit = 200_000
    """For all results that one user message brings; above it the largest go first."""
    preview: Literal["head", "head-tail", "names"] = "names"
    """What is shown of a stored result."""
    head: Characters = 2_000
    """Size of the ``head`` preview."""
    head_tail: HeadTail = HeadTail()
    """Sizes of the ``head-tail`` preview."""
    names: Characters = 8_000
    """Size of the ``names`` preview, its short head included."""
    lines: Characters = 2_000
    """Lines that a preview, or the result of reading a stored text back, shows at most."""

    def limit(self, tool: str, tool_class: str) -> float:
        """The limit for a tool's results in characters; infinite where it is off."""
        named = self.tools.get(tool) or getattr(self.limits, tool_class, None) or self.limits.other
        return math.inf if named == "off" else named

    @property
    def most(self) -> float:
        """The limit for one message in characters; infinite where it is off."""
        return math.inf if self.message == "off" else self.message
