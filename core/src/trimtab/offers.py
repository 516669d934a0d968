"""The tools that stages offer the model, and what they answer to a call (R13)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from trimtab.dialect import Tool
from trimtab.edits import KERNEL
from trimtab.errors import TrimtabError, plain, told
from trimtab.hooks import BROKEN, bounded
from trimtab.neighbours import Refused
from trimtab.report import Report
from trimtab.rules import data
from trimtab.stage import Stage
from trimtab.view import View

__all__ = ["NOTE", "TOOLS", "offered", "returned", "tools_of"]

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Names of tools that providers take."""

TOOLS = "tools"
"""The kernel's note of the tools that stages offer in this session: each with the name of its stage."""

NOTE = f"{KERNEL}stage:{TOOLS}"
"""Its whole key."""


def offered(view: View, stages: Sequence[Stage], taken: Sequence[str], report: Report, *, strict: bool) -> list[Any]:
    """The tools of all stages as they are noted, but for names that are taken; a stage that fails offers none."""
    rows: list[Any] = []
    for stage in stages:
        try:
            mine = [_row(stage.name, tool) for tool in bounded(stage.tools(view), view.projection)]
        except (*BROKEN, Refused) as error:
            if strict:
                raise
            report.failures.append(f"{stage.name}: {told(error)}")
            continue
        rows += [row for row in mine if row["name"] not in (*taken, *(other["name"] for other in rows))]
    return rows


def _row(stage: str, tool: Any) -> dict[str, Any]:
    if not isinstance(tool, Tool):
        raise TrimtabError(f"tools() may not give {type(tool).__name__}")
    name, description, schema = plain(tool.name), plain(tool.description), data(tool.schema)
    if not NAME.fullmatch(name) or not isinstance(schema, dict) or _broken(description):
        raise TrimtabError(f"no provider takes the tool {name[:80]!r}: a name, a text and a schema are needed")
    return {"stage": stage, "name": name, "description": description, "schema": schema}


def _broken(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)


def tools_of(rows: Iterable[Any]) -> dict[str, tuple[str, Tool]]:
    """The tools that were noted: name to the stage's name and the tool."""
    return {row["name"]: (row["stage"], Tool(row["name"], row["description"], row["schema"])) for row in rows}


def returned(steps: Any, view: View) -> tuple[str, list[Any]]:
    """Run a stage's answer to a call to its end: the text of the result, and what is to be noted."""
    notes: list[Any] = []
    for _ in bounded(iter(int, 1), view.projection):
        try:
            notes.append(next(steps))
        except StopIteration as stop:
            text = plain(stop.value or "Done.")
            if _broken(text):
                raise TrimtabError("its text holds half of a character") from None
            return text, notes
    raise AssertionError("bounded ends with an error")
