"""The sections of a summary without a model: the same run gives the same text, always."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from trimtab.summary.facts import Deed, Facts, facts
from trimtab.summary.prompt import SECTIONS
from trimtab.texts import clean, clipped, flat, name_of, tokens

if TYPE_CHECKING:
    from trimtab.projection import Item
    from trimtab.view import View

__all__ = ["RULE", "mechanical"]

NOTE = "<collapsed>\n"
"""How a note begins that rules made of a run (`context-collapse`): it is told anew from the messages."""
RULE = "Written by rule."
"""The first line of each, by which it is known again."""

QUOTED = "What is quoted was said; what is missing stands behind this summary or in the full text."

EARLIER = "Earlier summaries, made otherwise, said:"

CHARACTERS = 3.5
"""Characters of a token, to begin with; what is too long by our count is made shorter."""

SMALLEST = 200
"""Characters for all sections together, below which there are none: only by whom the summary was written."""

LEAST = 40
"""Characters below which a section is left out: what would stand in it says nothing (chosen)."""

SHARES = {
    "request": 0.03,
    "current": 0.1,
    "said": 0.32,
    "earlier": 0.15,
    "tasks": 0.05,
    "files": 0.12,
    "errors": 0.08,
    "names": 0.05,
    "work": 0.1,
}
"""How the sections share the room, first come first served (chosen; the user's words are what no tool brings back)."""

SHORT, LONG = 160, 600
"""Characters of a text that is quoted on one line; of the latest words."""

LATEST = 3
"""The last calls that are listed as current work."""


def mechanical(view: View, run: Sequence[Item], room: float) -> str:
    """The sections about a run in at most about ``room`` tokens; those with nothing in them are left out.

    The user's messages stand verbatim as far as they fit, the first and the newest before others, but for those that
    are pinned whole, for these are carried; files with what was done to them; commands and failures with their
    outcomes; open tasks; the last state. Of earlier summaries that a model wrote the text is carried on, of our own
    the facts are told anew.
    """
    found, earlier = facts(view, run), _earlier(run)
    size = int(CHARACTERS * room)
    while True:
        text = clean("\n".join(_lines(found, earlier, size)))
        tokens = view.count(text)
        if tokens <= room or not size:
            return text
        size = int(size * min(0.9, room / tokens))
        size *= size >= SMALLEST


def _lines(found: Facts, earlier: str, size: int) -> Iterator[str]:
    tasks = [f"- {flat(status, 40)}: {flat(task, SHORT)}" for status, task in found.tasks]
    files = [_file(path, done) for path, done in found.files.items()]
    writers: dict[str, Callable[[int], Iterable[str]]] = {
        "request": partial(_request, found),
        "current": partial(_current, found),
        "said": partial(_said, [text for text in found.said if text not in found.pinned]),
        "earlier": partial(_quoted, earlier),
        "tasks": partial(_fitting, tasks),
        "files": partial(_fitting, files),
        "errors": partial(_fitting, _errors(found.deeds)),
        "names": partial(_concepts, found),
        "work": partial(_work, found),
    }
    made: dict[str, list[str]] = {}
    left = 0
    for name, share in SHARES.items():  # what one does not need is for those behind it
        left += int(share * size)
        made[name] = list(writers[name](left)) if left >= LEAST else []
        left -= sum(map(len, made[name]))
    bodies = (
        made["request"],
        made["names"],
        made["files"],
        made["errors"],
        made["work"] + made["earlier"],
        made["said"],
        made["tasks"],
        made["current"],
        _next(found) if made["tasks"] else [],
    )
    yield RULE
    if any(bodies):
        yield QUOTED
    for heading, body in zip(SECTIONS, bodies, strict=True):
        if body:
            yield f"\n{heading}"
            yield from body


def _fitting(lines: Sequence[str], room: int) -> list[str]:
    """The newest of these lines that fit, in order, and how many others there are."""
    start = len(lines)
    while start and room >= len(lines[start - 1]):
        start -= 1
        room -= len(lines[start]) + 1
    return [f"({start:,} earlier ones are left out)"] * (start > 0) + list(lines[start:])


# ------------------------------------------------------------------ sections


def _request(found: Facts, room: int) -> Iterator[str]:
    if found.said and found.said[0] not in found.pinned:
        yield f"The user began with: {flat(found.said[0], min(SHORT, room // 2))}"
    if found.said[1:] and found.said[-1] not in found.pinned:
        yield f"The user's latest message in this part: {flat(found.said[-1], min(SHORT, room // 2))}"


def _concepts(found: Facts, room: int) -> Iterator[str]:
    tools = Counter(name_of(deed.call.name) for deed in found.deeds)
    kinds = Counter(PurePath(path).suffix for path in found.files)
    kinds.pop("", None)
    said = (name for text in (*found.said, *found.told) for name in dict.fromkeys(tokens(text)))
    names = Counter(name for name in said if "/" not in name)
    for title, counts in (("Tools used", tools), ("Kinds of files", kinds), ("Names said most", names)):
        text, left = "", room
        for name, count in counts.most_common(20):
            left -= len(name) + 5
            if left < 0 or (counts is names and count == 1):
                break
            text += f", {flat(name, SHORT)} {count}×"
        if text:
            yield f"{title}: {text[2:]}"


def _file(path: str, done: Counter[str]) -> str:
    verbs = (f"{verb} {count}×" if count > 1 else verb for verb, count in done.items())
    return f"- {flat(path, SHORT)}: {', '.join(verbs)}"


def _errors(deeds: Iterable[Deed]) -> list[str]:
    """Each failing call once, the latest of equal ones; and whether the same call went well later."""
    lines: dict[str, str] = {}
    for deed in deeds:
        key = deed.what
        if deed.failed:
            lines.pop(key, None)
            lines[key] = f"- {key}: {deed.line or 'failed'}"
        elif key in lines and not lines[key].endswith("later)"):
            lines[key] += " (went well later)"
    return list(lines.values())


def _work(found: Facts, room: int) -> Iterator[str]:
    if told := [f"- {flat(text, SHORT)}" for text in found.told[:-1]]:
        yield "What the assistant said:"
        yield from _fitting(told, room // 2)
    if commands := [f"- {deed.what}: {deed.outcome}" for deed in found.deeds if deed.command]:
        yield "Commands:"
        yield from _fitting(commands, room // 2)


def _quoted(earlier: str, room: int) -> Iterator[str]:
    if earlier:
        yield EARLIER
        yield from (f"  {line}" for line in clipped(earlier, room).splitlines())


def _said(texts: Sequence[str], room: int) -> Iterator[str]:
    """Each message whole where it fits, else cut, else by a line: the first, then the newest, until nothing fits."""
    shown: dict[int, str] = {}
    for n in [0, *range(len(texts) - 1, 0, -1)] if texts else []:
        forms = (texts[n], clipped(texts[n], room // 3), flat(texts[n], SHORT))
        text = next((text for text in forms if len(text) <= room), None)
        if text is None:
            break
        shown[n] = text
        room -= len(text) + len("User: \n")
    for n, text in sorted(shown.items()):
        if n == min(shown.keys() - {0}, default=0) > 1:
            yield f"({n - 1:,} messages are left out here)"
        yield f"User: {text}"


def _current(found: Facts, room: int) -> Iterator[str]:
    if found.told:
        yield f"The assistant said last in this part: {flat(found.told[-1], min(LONG, room // 2))}"
    calls = [f"- {flat(deed.what, SHORT // 2)}: {flat(deed.outcome, SHORT // 2)}" for deed in found.deeds[-LATEST:]]
    yield from _fitting(calls, room // 2)


def _next(found: Facts) -> list[str]:
    order = sorted(found.tasks, key=lambda task: "progress" not in task[0])
    return [f"Go on with: {flat(task, SHORT)}" for _, task in order[:1]]


# ------------------------------------------------------------------ earlier summaries


def _earlier(run: Sequence[Item]) -> str:
    """What earlier summaries said that cannot be told anew from the messages: those that were not made here."""
    return "\n".join(filter(None, (_carried(item.fold.text) for item in run if item.fold is not None)))


def _carried(text: str) -> str:
    if text.startswith(NOTE):
        return ""
    lines = text.splitlines()
    first = next((n for n, line in enumerate(lines) if line in SECTIONS), None)
    if RULE not in lines[:first]:
        return "\n".join(line for line in lines[first:] if not line.startswith(("<", "</")))
    if EARLIER not in lines:
        return ""
    carried = lines[lines.index(EARLIER) + 1 :]
    end = next((n for n, line in enumerate(carried) if not line.startswith("  ")), len(carried))
    return "\n".join(line[2:] for line in carried[:end])
