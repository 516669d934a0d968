"""The stage and its tool: which text, from where, how much, in what the model may write."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field
from trimtab import Size, Stage, StageOptions, Tool, ToolError

from trimtab_read_result.stored import find, part

if TYPE_CHECKING:
    from trimtab.view import View

__all__ = ["ReadOptions", "ReadResult"]

TOOL = "read_result"
"""The tool's name."""


class ReadOptions(StageOptions):
    """How much comes at once."""

    most: Annotated[Size, Field(ge=1)] = 20_000
    """Characters that one call reads at most."""


class ReadResult(Stage):
    """Edits nothing; by its tool the model reads stored originals back, where it has no files of the store."""

    name: ClassVar[str] = "read-result"
    Options: ClassVar[type[StageOptions]] = ReadOptions
    options: ReadOptions

    def propose(self, view: View) -> Generator[Any, Any, None]:
        """Nothing."""
        yield from ()

    def tools(self, view: View) -> Sequence[Tool]:
        """The tool."""
        most = self.options.most
        id, offset, limit = (
            {"type": "string", "description": "The path that your context shows, or its file name."},
            {"type": "integer", "minimum": 0, "description": "Characters to skip; 0 unless given."},
            {"type": "integer", "minimum": 1, "description": f"Characters to read; at most, and unless given, {most}."},
        )
        schema = {"type": "object", "properties": {"id": id, "offset": offset, "limit": limit}, "required": ["id"]}
        description = (
            "Read back what was taken out of your context: a long or old tool result, a long argument, or all that a "
            'summary stands for. Your context shows where it is stored, as in "Full text: /…/0123….txt". The last line '
            "of the answer says how much is left and the offset to go on with."
        )
        return [Tool(TOOL, description, schema)]

    def call_tool(self, view: View, name: str, input: Mapping[str, Any]) -> Generator[Any, Any, str]:
        """A part of a stored text; raises `ToolError` where there is none, or none there."""
        yield from ()
        text = find(view, input.get("id"))
        limit = min(_number(input, "limit", self.options.most, 1), self.options.most)
        return part(text, _number(input, "offset", 0, 0), limit)


def _number(given: Mapping[str, Any], key: str, unless: int, least: int) -> int:
    """A whole number, also as the text or the fraction that models write; raises `ToolError`."""
    value = given.get(key)
    try:
        number = unless if value is None else int(value)
    except (OverflowError, TypeError, ValueError):
        number = -1
    if number < least:
        raise ToolError(f"{key} must be a whole number of characters, {least} or more")
    return number
