"""Results that a later one supersedes: reads of what was read or written again, texts that came again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from trimtab import Replace
from trimtab.texts import ARGUMENT, SMALL, flat, last_number, name_of, pieces, size, spelled, worth
from trimtab.toolclass import PATHS

if TYPE_CHECKING:
    from trimtab.view import Result, View

__all__ = ["stale"]

SETTLED = 10
"""Requests after the last edit of what a read shows: while editing goes on, its lines are what exact edits are made of.

84 of 100 references find their newest source within so many requests (measured).
"""
PATH = 1_000
"""Characters shown of a path."""
START = "[Superseded: "

_WHOLE = ("content", "file_text")
_REPLACED = ("old_str", "old_string")


def stale(view: View) -> Iterator[Replace]:
    """Replacements of superseded results, the newest of them first."""
    newest: dict[str, Result] = {}
    later: dict[str, list[Result]] = {}
    for result in reversed(view.results):
        why = _why(result, newest.get(result.text), later.get(result.path or "", ()))
        if why is not None:
            text = f"{START}{_what(result)}. {why} This one: {view.stored(result.block)}]"
            if worth(text, result.shown_text):
                yield Replace(result, text, why.partition(",")[0].rstrip("."))
        if not result.replaced:
            newest.setdefault(result.text, result)
        if result.path is not None and result.tool_class in ("edit", "ranged_read", "read"):
            later.setdefault(result.path, []).append(result)


def _why(result: Result, same: Result | None, later: Sequence[Result]) -> str | None:
    """What superseded a result and where that stands, in words; ``later``: what touched its file, newest first."""
    if result.media or len(result.text) <= SMALL or result.shown_text.startswith(START):
        return None
    if same is not None:
        return f"The same text came again later, see the result of {_call(same)}."
    if result.error or result.tool_class not in ("ranged_read", "read"):
        return None
    again = next((n for n, one in enumerate(later) if _covers(one, result)), None)
    if again is not None:
        changed = any(_edits(one) for one in later[again:])
        return f"The file was read again later{', after it was changed' * changed}, {_see(later[again])}."
    edits = [one for one in later if _edits(one)]
    if written := next((one for one in edits if _writes_all(one)), None):
        return f"The file was written anew since, {_see(written)}."
    touching = next((one for one in edits if _touches(one, result)), None)
    if touching is not None and touching.age > SETTLED:
        return f"The file was changed since, {_see(touching)}. Read it again before you rely on its lines."
    return None


def _edits(result: Result) -> bool:
    return result.tool_class == "edit" and not result.error


def _covers(later: Result, read: Result) -> bool:
    """Whether a later read shows all the lines that ``read`` does; a small one may say that nothing changed."""
    if later.tool_class == "edit" or later.error or later.replaced or len(later.text) <= SMALL:
        return False
    if later.input == read.input or later.tool_class == read.tool_class == "read":
        return True
    have, need = _lines(later.text), _lines(read.text)
    if have is None or need is None:
        return later.tool_class == "read"
    return have[0] <= need[0] and need[1] <= have[1]


def _lines(text: str) -> tuple[int, int] | None:
    """The first and the last line of a text that numbers its lines itself."""
    end = last_number(text)
    return None if end is None else (int(next(pieces(text)).number), end)


def _writes_all(edit: Result) -> bool:
    """Whether the call holds the file's whole new content, and nothing that says how to mix it with the old."""
    given = edit.input.keys() - {*PATHS, "command", "description"}
    return len(given) == 1 and given <= {*_WHOLE} and "append" not in edit.tool.lower()


def _touches(edit: Result, read: Result) -> bool:
    """Whether an edit replaced what the read shows; true where the call does not tell what it replaced."""
    old = next((edit.input[key] for key in _REPLACED if isinstance(edit.input.get(key), str)), "")
    return all(line.strip() in read.text for line in old.splitlines())


def _what(result: Result) -> str:
    """Tool, path, size and fingerprint."""
    mark = hashlib.sha256(result.text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_call(result)}: {size(result.text)}, SHA-256 {mark}"


def _see(later: Result) -> str:
    """Where what superseded a read of the same path stands."""
    return f"see the later {name_of(later.tool)} of that path"


def _call(result: Result) -> str:
    """A call by its tool and its path, else the start of its first argument."""
    named = flat(result.path, PATH) if result.path else flat(next(map(spelled, result.input.values()), ""), ARGUMENT)
    return f"{name_of(result.tool)} {named}".rstrip()
