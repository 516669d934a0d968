"""The texts that stand where results were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trimtab.texts import clean, clip, last_number, name_of, neutral, size, way

if TYPE_CHECKING:
    from trimtab.view import Result

__all__ = ["TAG", "empty", "persisted", "start_of"]

TAG = "persisted-output"


def empty(result: Result) -> str:
    """Says that nothing came: an empty last result makes some models stop."""
    return f"[{name_of(result.tool)} {'failed' if result.error else 'finished'} with no output]"


def persisted(result: Result, path: str, title: str = "", body: str = "") -> str:
    """Tool, size, where the full text lies, how to read a part of it, and a preview if there is one."""
    what = f"{name_of(result.tool)}: {size(result.text)}, too much to show here."
    inner = [what, way(path, file=result.tool_class in ("ranged_read", "read"))]
    if body:
        inner.append(f"Preview ({title}):\n{body}")
    return f"<{TAG}>\n{neutral(chr(10).join(inner), TAG)}\n</{TAG}>"


def start_of(result: Result, path: str, most: int, lines: int) -> str:
    """The first ``most`` characters of what was read back from ``path``, and how to get the rest; no other file."""
    text = clean(result.text)
    shown = clip(text, most, lines)
    rest = text[len(shown) :]
    more = f"{len(rest):,} more characters, {rest.count(chr(10)):,} lines"
    if not rest.startswith("\n"):
        how = "the last line goes on; read it by characters, as with cut -c"
    elif number := last_number(shown):
        how = f"read on from line {number + 1} with a smaller range"
    elif result.tool_class == "read":
        how = f"read on from line {shown.count(chr(10)) + 2} with an offset and a limit"
    else:
        how = "ask for a smaller range"
    return f"{shown}\n[{more} of {path} are not shown: {how}]"
