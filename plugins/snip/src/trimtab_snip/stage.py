"""The stage: what goes because of a later call, or because the model says so."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from trimtab import Drop, Insert, Note, Replace, Stage, StageOptions, Tool

from trimtab_snip import model
from trimtab_snip.options import SnipOptions
from trimtab_snip.redundant import redundant
from trimtab_snip.words import TOOL

if TYPE_CHECKING:
    from trimtab.view import View

__all__ = ["Snip"]


class Snip(Stage):
    """Takes rounds out of the view: those that a later call superseded, or those that the model names by their tags."""

    name: ClassVar[str] = "snip"
    Options: ClassVar[type[StageOptions]] = SnipOptions
    options: SnipOptions

    def free(self, view: View) -> Iterator[Insert | Note]:
        """In mode ``model`` remind the model of what could go."""
        if self._asks(view) and self.options.nudge:
            yield from model.remind(view, self.options.nudge)

    def propose(self, view: View) -> Generator[Drop | Replace, Any, None]:
        """Drop rounds or shorten results."""
        if self.options.mode == "redundant":
            yield from redundant(view, self.options)
        elif self._asks(view):
            yield from model.asked_for(view)

    def _asks(self, view: View) -> bool:
        """Whether the model has the tool."""
        return self.options.mode == "model" and view.stage_tools and TOOL.name in view.tool_names

    def tags(self) -> bool:
        """In mode ``model``; without a `when` nothing could ever go, so then there is no need of them."""
        return self.options.mode == "model" and bool(self.options.when.words)

    def tools(self, view: View) -> Sequence[Tool]:
        """The tool ``snip``, where messages are tagged."""
        return [TOOL] if self.tags() else []

    def call_tool(self, view: View, name: str, input: Mapping[str, Any]) -> Generator[Note, Any, str]:
        """Note what the model wants to go; raises `ToolError` where nothing of it may."""
        return (yield from model.call(view, input, self.options))
