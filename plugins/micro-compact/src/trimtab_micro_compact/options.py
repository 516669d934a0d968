"""The keys of `micro-compact` in a profile."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from trimtab import StageOptions
from trimtab.toolclass import ToolClass
from trimtab.values import Size

__all__ = ["Form", "MicroOptions", "Server"]

Form = Literal["cleared", "digest"]


CLEARED: tuple[ToolClass, ...] = ("read", "ranged_read", "search", "shell", "web", "edit")

Requests = Annotated[int, Field(ge=0)]

LIVE = 10
"""Results beside the newest ``keep`` that may be live before evictions begin: a batch is larger (chosen)."""


class Server(BaseModel):
    """What a provider with `context_management` is told of clearing old results by itself."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    trigger: Annotated[Size, Field(gt=0)] = 150_000
    """Tokens: it clears from this size on; at most nine tenths of ``thresholds.auto``."""
    clear_at_least: Size = 60_000
    """Tokens that it must be able to clear, or it waits; lowered with ``trigger`` on small windows."""
    inputs: tuple[ToolClass, ...] = ()
    """Tool classes whose calls lose their inputs too."""
    thinking: Literal["all"] | Annotated[int, Field(ge=1)] = "all"
    """Of how many of the newest turns thinking stays."""

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.clear_at_least >= self.trigger:
            raise ValueError(f"clear_at_least ({self.clear_at_least:,}) must be below trigger ({self.trigger:,})")
        return self


class MicroOptions(StageOptions):
    """Which results are old, and what is shown of them."""

    form: Form = "cleared"
    """``cleared``: a line and the way back; ``digest``: also the names that nothing else shows."""
    classes: tuple[ToolClass, ...] | None = None
    """Tool classes whose results go; by default all but ``other`` if ``cleared``, and all if ``digest``."""
    tools: dict[str, Literal["keep", "clear"]] = Field(default_factory=dict)
    """By tool name, before the class: ``{Task: clear, Grep: keep}``."""
    keep: Annotated[int, Field(ge=0)] = 5
    """``cleared``, and what the provider clears or evicts: how many of the newest results of these tools stay."""
    trigger: Annotated[int, Field(gt=0)] | None = None
    """Results: the provider evicts once more than this many could go; by default ``keep`` and 10."""
    server: Server = Server()
    """Where the provider clears old results by itself."""
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

    @model_validator(mode="after")
    def _in_batches(self) -> Self:
        if self.trigger is not None and self.trigger <= self.keep:
            raise ValueError(
                f"trigger ({self.trigger}) must be above keep ({self.keep}): what is between goes together"
            )
        return self

    @property
    def most_live(self) -> int:
        """Results that could go, but are left to the cache together."""
        return self.keep + LIVE if self.trigger is None else self.trigger

    def goes(self, tool: str, tool_class: ToolClass, form: Form | None = None) -> bool:
        """Whether results of a tool may be cleared or shortened, in another form than the profile's if one is given."""
        named = self.tools.get(tool)
        classes = self.classes if self.classes is not None or (form or self.form) == "digest" else CLEARED
        return named == "clear" if named else classes is None or tool_class in classes
