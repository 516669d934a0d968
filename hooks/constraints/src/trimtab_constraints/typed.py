"""What of a user's message the user typed: harness texts, code, logs and quotes are blanked, places stay."""

from __future__ import annotations

import re

__all__ = ["ENDS", "typed"]

ENDS = 10_000
"""Characters looked at from each end of a message; instructions stand before or after what is pasted. Chosen."""
UNCLOSED = 50
"""Names of elements that a text may open and never close before it is taken to hold none. Chosen."""

_HARNESS = re.compile(
    r"""\s*(?:
      This\ session\ is\ being\ continued\ from\ a\ previous\ conversation
    | Caveat:\ The\ messages\ below\ were\ generated
    | Base\ directory\ for\ this\ skill:
    | \[Request\ interrupted
    | \#\ AGENTS\.md\ instructions
    | Your\ task\ is\ to\ create\ a\ detailed\ summary
    | Here\ is\ a\ demonstration
    | The\ project's\ memory\ file\ [^\n]+:\n
    | \[[^\[\]\n]*(?:\bnot\ from\ the\ user\b[^\[\]\n]*|\b(?:assistant\ said|tool\ returned):)\]
    | <(memory[\w-]*|restored|put-back|said-earlier|summary|system-reminder)\b(?![\s\S]*</\1>)   # cut off
    | \w+(?::[\w*|-]+)?\ hook\ (?:feedback|additional\ context|success|(?:(?:non-)?blocking\ )?error):
    | (?:Your\ )?proposed\ edit\ has\ introduced
    )""",
    re.VERBOSE | re.IGNORECASE,
)
"""How texts begin that agents' harnesses and our own inserts put into the user's mouth."""
_PROMPT = re.compile(r"(?:^|\n)[^\n]{0,80}(?:bash-\$|[\w~/)\]] ?[$#%])\s*\Z")
"""A message that ends with a shell's prompt is a tool's output."""
_OPEN = re.compile(r"^[ \t]*<([A-Za-z][\w:.-]*)(?:\s[^<>\n]*)?>", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)
_NOISE = re.compile(
    r"""(?:
      [ \t]*[>|]                                         # quotes, tables
    | (?:[ ]{4,}|\t)(?![ \t]*(?:[-*•]|\d{1,3}[.)])[ ])   # indented: code
    | [ \t]*[$%#➜❯][ ]?(?:[a-z.~/-]+[ ])(?=.*[-/.|=])     # shell lines
    | [ \t]*(?:\+|-{2,}|={3,}|@@|\#!|//|/\*|<!--)        # diffs, rules, comments
    | \W{0,3}\d{4}-\d\d-\d\d[T ]\d\d:\d\d                # log lines
    | \W{0,3}\d\d:\d\d:\d\d
    | \W{0,2}(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|FAIL|PASS|OK)\b(?!\S*[A-Z]{3}[^:]*\bRULE)[\]:\s]
    | [ \t]*(?:at[ ]\S+[ ]?\(|File[ ]"|[\w.]*(?:Error|Exception|Warning):|fatal:|panic:|npm[ ]ERR
       |error(?:\[\w+\])?:|Usage:)
    | \S+:\d+(?::\d+)?:?[ ]                              # file:line
    | [ \t]*[\w.-]+@[\w.-]+[:~]                          # user@host
    )""",
    re.VERBOSE,
)
_TRACE = re.compile(r"\s*(?:Traceback \(most recent call last\)|Debugger attached|goroutine \d+|Caused by:)")


def typed(text: str) -> str:
    """The text with all that is not prose of the user as blanks: the same length, the same places, linear time.

    Of more than twice `ENDS` characters the middle is blank.
    """
    if _HARNESS.match(text) or _PROMPT.search(text[-200:]):
        return " " * len(text)
    text = _fences(_tags(text))
    return _lines(_blank(text, [(ENDS, len(text) - ENDS)]) if len(text) > 2 * ENDS else text)


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += text[at:start], re.sub(r"[^\n]", " ", text[start:end])
        at = end
    return "".join([*parts, text[at:]])


def _tags(text: str) -> str:
    """Without elements that begin a line; what is never closed is no element."""
    spans: list[tuple[int, int]] = []
    unclosed: set[str] = set()
    end = 0
    for found in _OPEN.finditer(text):
        name = found[1]
        if len(unclosed) > UNCLOSED:
            break
        if found.start() < end or name in unclosed:
            continue
        close = text.find(f"</{name}>", found.end())
        if close < 0:
            unclosed.add(name)
            continue
        end = close + len(name) + 3
        spans.append((found.start(), end))
    return _blank(text, spans)


def _fences(text: str) -> str:
    """Without fenced code; a fence that is never closed ends with the text."""
    spans: list[tuple[int, int]] = []
    start, mark = -1, ""
    for found in _FENCE.finditer(text):
        if start < 0:
            start, mark = found.start(), found[1]
        elif found[1].startswith(mark):
            spans.append((start, found.end()))
            start = -1
    return _blank(text, [*spans, (start, len(text))] if start >= 0 else spans)


def _lines(text: str) -> str:
    spans: list[tuple[int, int]] = []
    at, trace = 0, False
    for line in text.splitlines(keepends=True):
        trace = bool(_TRACE.match(line)) or (trace and bool(line.strip()))
        if trace or _NOISE.match(line):
            spans.append((at, at + len(line)))
        at += len(line)
    return _blank(text, spans)
