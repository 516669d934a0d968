"""Mode ``redundant``: calls that a later one superseded; whole rounds of them go, else their results are shortened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trimtab import Drop, Replace
from trimtab.texts import SMALL, name_of, size, worth

from trimtab_snip.calls import places, question
from trimtab_snip.options import SnipOptions

if TYPE_CHECKING:
    from trimtab.view import Result, Round, View

__all__ = ["redundant"]

_FAILED = re.compile(
    r"\s*(?:<returncode>\s*-?[1-9]|<?(?:tool_use_)?(?:error|exception|traceback)\b"
    r"|[^\n]{0,200}: (?:no such file|not found|permission denied))",
    re.IGNORECASE,
)
"""How a failure begins where the format has no mark for it."""

_POINTS = re.compile(r"unchanged|not (?:been )?(?:changed|modified)|already|earlier|previous|same as", re.IGNORECASE)
"""What a short answer says that points back to the earlier one instead of repeating it."""


def redundant(view: View, options: SnipOptions) -> Iterator[Drop | Replace]:
    """Drop rounds that are nothing but superseded calls; in others replace the results of such calls.

    From the newest round but one back: where a target ends the pass, least of the prefix has been written anew.
    """
    gone = _superseded(view, options)
    for round in reversed(view.rounds[:-1]):
        blocks = [block for item in round.messages if item.message for block in item.message.blocks]
        results = [gone[block.id] for block in blocks if block.id in gone]
        pinned = {pin.block for pin in view.pins}
        if not results or round.open or any(block.id in pinned for block in blocks):
            continue
        if _nothing_else(round, gone):
            tools = dict.fromkeys(name_of(result.tool) for result in results)
            yield Drop(round, f"called again later: {', '.join(tools)}")
            continue
        for result in reversed(results):
            text = _again(result, view.stored(result.block), options)
            if worth(text, result.shown_text):
                yield Replace(result, text, f"called again later: {name_of(result.tool)}")


def _superseded(view: View, options: SnipOptions) -> dict[str, Result]:
    """The results whose call was answered again: with success, or at all where they are errors themselves."""
    found: dict[str, Result] = {}
    asked: set[str] = set()
    answered: set[str] = set()
    where = places(view)
    for result in reversed(view.results):
        if result.call is None or (options.tools and result.tool not in options.tools):
            continue
        key = question(result, where[result.call.id])
        if key is None:
            continue
        if options.by == "tool":
            key = result.tool
        if not result.media and key in (asked if result.error else answered):
            found[result.id] = result
        asked.add(key)
        if (
            not result.error
            and not _FAILED.match(result.text)
            and not (len(result.text) <= SMALL and _POINTS.search(result.text))
        ):
            answered.add(key)
    return found


def _nothing_else(round: Round, gone: dict[str, Result]) -> bool:
    """Whether a round holds only thinking, calls, and results that all are superseded."""
    for item in round.messages:
        for block in item.message.blocks if item.message else ():
            said = block.type == "text" and block.text.strip()
            other = block.server or block.type not in ("text", "thinking", "tool_result", "tool_use")
            if said or other or (block.type == "tool_result" and block.id not in gone):
                return False
    return True


def _again(result: Result, path: str, options: SnipOptions) -> str:
    """What was there, how big, where it stands now, and where the old text lies."""
    how = "The same call was made again" if options.by == "input" else "The tool was called again"
    tool = name_of(result.tool)
    return f"[{tool}: {size(result.text)}. {how} later, its result stands further down. This older one: {path}]"
