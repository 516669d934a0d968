"""The keys of `micro-compact` in a profile."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from trimtab import StageOptions
from trimtab.toolclass import ToolClass
from trimtab.values import Size

__all__ = ["MicroOptions"]

CLEARED: tuple[ToolClass, ...] = ("read", "ranged_read", "search", "shell", "web", "edit")

Requests = Annotated[int, Field(ge=0)]


class MicroOptions(StageOptions):
    """Which results are old, and what is shown of them."""

    form: Literal["cleared", "digest"] = "cleared"
    """``cleared``: a line and the way back; ``digest``: also the names that nothing else shows."""
    classes: tuple[ToolClass, ...] | None = None
    """Tool classes whose results go; by default all but ``other`` if ``cleared``, and all if ``digest``."""
    tools: dict[str, Literal["keep", "clear"]] = Field(default_factory=dict)
    """By tool name, before the class: ``{Task: clear, Grep: keep}``."""
    keep: Annotated[int, Field(ge=0)] = 5
    """``cleared``: how many of the newest results of these tools stay."""
    age: Requests = 10
    """``digest``, and old ``inputs``: results sent with more requests than this are old."""
    cold_age: Requests = 3
    """``digest``: the same where the provider's cache holds nothing any more."""
    share: Annotated[float, Field(gt=0, lt=1)] = 0.25
    """``digest``: of a result's size, what its names may take."""
    most: Size = 3_000
    """``digest``: characters that are shown of a result at most."""
    media: Size = 1_000
    """Tokens: images and documents of this size or larger are cleared when they are old."""
    inputs: bool = False
    """Whether long old inputs of writes are shortened too; a model may learn to write shortened calls."""

    def goes(self, tool: str, tool_class: ToolClass) -> bool:
        """Whether results of a tool may be cleared or shortened."""
        named = self.tools.get(tool)
        classes = self.classes if self.classes is not None or self.form == "digest" else CLEARED
        return named == "clear" if named else classes is None or tool_class in classes
