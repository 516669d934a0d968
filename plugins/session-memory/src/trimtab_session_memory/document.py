"""The memory as Markdown: ten sections under fixed headings, read, put together, and kept to a size."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from trimtab.texts import first, last

__all__ = ["HEADINGS", "INSTRUCTIONS", "Sections", "fitted", "merged", "parse", "render", "shown"]

INSTRUCTIONS: Mapping[str, str] = {
    "# Title": "The work in five to ten words, by which this session can be told from others.",
    "# Current state": "What is being done right now, what is unfinished, and the very next step.",
    "# Task specification": "What the user asked for, with every rule and decision of theirs, in their words.",
    "# Files and functions": "Which files, functions and lines matter, and what each holds or why it was changed.",
    "# Workflow": "Commands that are run, in which order, and how their output is to be read.",
    "# Errors and corrections": "What went wrong, what mended it, what the user corrected, what not to try again.",
    "# Codebase and system": "The parts of the system and how they work together.",
    "# Learnings": "What worked well, what did not, what to avoid; nothing that stands elsewhere.",
    "# Key results": "Answers, tables and figures that the user asked for, in full.",
    "# Worklog": "What was done, step by step, a short line for each; the newest last.",
}
"""What each section is for, by its heading."""

HEADINGS = tuple(INSTRUCTIONS)

NEWEST = "# Worklog"
"""The section that grows at its end: of this one the newest lines are kept."""

Sections = dict[str, str]
"""The text of each section that has one, by heading, in the order of `HEADINGS`."""

_HEADING = re.compile(r"(#{1,3}) +(\S.*?)[ \t:]*", re.ASCII)
_NAMES = {heading[2:].lower(): heading for heading in HEADINGS}


def parse(text: str) -> Sections:
    """The sections of a document; headings that are not ours are part of the text they stand in.

    What stands before the first heading is left out, and so are instructions. The first heading
    sets the level, for a model may choose another: below it is text. A heading that comes twice adds to its section.
    """
    found: dict[str, list[str]] = {heading: [] for heading in HEADINGS}
    level, lines = "", None
    for line in text.split("\n"):
        match = _HEADING.fullmatch(line.rstrip())
        heading = _NAMES.get(match[2].lower()) if match and match[1] in (level or match[1]) else None
        if match and heading:
            level, lines = level or match[1], found[heading]
        elif lines is not None and line.strip().strip("_*") not in INSTRUCTIONS.values():
            lines.append(line.rstrip())
    texts = {heading: "\n".join(lines).strip("\n") for heading, lines in found.items()}
    return {heading: text for heading, text in texts.items() if text.strip()}


def render(sections: Mapping[str, str]) -> str:
    """The whole document; a section without a text shows its instruction. Without sections: the empty template."""
    return _joined({heading: sections.get(heading) or f"_{INSTRUCTIONS[heading]}_" for heading in HEADINGS})


def shown(sections: Mapping[str, str]) -> str:
    """The sections that have a text."""
    return _joined(sections)


def _joined(sections: Mapping[str, str]) -> str:
    return "\n\n".join(f"{heading}\n{text}" for heading, text in sections.items()) + "\n"


def merged(old: Mapping[str, str], new: Mapping[str, str]) -> Sections:
    """The old sections with those that were written anew."""
    texts = {heading: new.get(heading) or old.get(heading, "") for heading in HEADINGS}
    return {heading: text for heading, text in texts.items() if text}


# ------------------------------------------------------------------ sizes


def fitted(sections: Mapping[str, str], count: Callable[[str], float], each: float, total: float) -> Sections:
    """The sections with at most ``each`` tokens apiece and ``total`` together, the longest cut at the end of a line."""
    sizes = {heading: count(text) for heading, text in sections.items()}
    most = _most(sorted(sizes.values()), each, total)
    return {
        heading: text if sizes[heading] <= most else _cut(heading, text, count, most)
        for heading, text in sections.items()
    }


def _most(sizes: Sequence[float], each: float, total: float) -> float:
    """The size to which the longest must be cut so that all have room; ``sizes`` rise."""
    left = total
    for n, size in enumerate(sizes):
        share = left / (len(sizes) - n)
        if size > share:
            return min(each, share)
        left -= size
    return each


def _cut(heading: str, text: str, count: Callable[[str], float], most: float) -> str:
    """The first lines, of the worklog the last ones, and how many characters are gone; some of a line too long."""
    newest = heading == NEWEST
    lines = text.split("\n")
    kept = list(_room(reversed(lines) if newest else lines, count, most - count(_mark(text))))
    if not kept:
        room = int(most * len(text) / count(text) / 2)
        kept = [last(text, room) if newest else first(text, room)]
    if newest:
        kept.reverse()
    body = "\n".join(kept)
    mark = _mark(text[len(body) :])
    return f"{mark}\n{body}" if newest else f"{body}\n{mark}"


def _room(lines: Iterator[str] | Sequence[str], count: Callable[[str], float], room: float) -> Iterator[str]:
    for line in lines:
        room -= count(line + "\n")
        if room < 0:
            return
        yield line


def _mark(gone: str) -> str:
    return f"[{len(gone):,} characters are left out here: the section was too long]"
