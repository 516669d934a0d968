"""The three previews: ``head``, ``head-tail`` and ``names``; the same text and view give the same one."""

from __future__ import annotations

from collections.abc import Callable

from trimtab.texts import clean, clip, last, names, numbers_own

from trimtab_tool_result_budget.options import BudgetOptions

__all__ = ["head_tail", "preview"]

TITLES = {
    "head": "its start",
    "head-tail": "its start and its end",
    "names": "its start, then by line number the names that stand nowhere else here",
}


def preview(text: str, options: BudgetOptions, shown: Callable[[str], int]) -> tuple[str, str]:
    """What kind of preview it is, in words, and the preview of ``text`` that ``options`` ask for.

    ``shown`` tells how many blocks of the view show a name, the text's own included.
    """
    text, title = clean(text), TITLES[options.preview]
    match options.preview:
        case "head":
            body = clip(text, options.head, options.lines)
        case "head-tail":
            body = head_tail(text, options.head_tail.head, options.head_tail.tail, options.lines)
        case "names":
            body = names(text, options.names, options.lines, shown)
            title += "; line numbers are the file's own" if numbers_own(text) else ""
    return title, body


def head_tail(text: str, head: int, tail: int, lines: int) -> str:
    """The first ``head`` and the last ``tail`` characters of ``text``, and between them what is left out."""
    if len(text) <= head + tail:
        return clip(text, head + tail, lines)
    start = clip(text, head, lines - lines // 4)
    end = last(text, tail)
    newline = end.find("\n")
    if 0 <= newline < tail // 2:
        end = end[newline + 1 :]
    end = "\n".join(end.split("\n")[-max(lines // 4, 1) :])
    omitted = text[len(start) : len(text) - len(end)]
    return f"{start}\n[{len(omitted):,} characters, {omitted.count(chr(10)):,} lines left out]\n{end}"
