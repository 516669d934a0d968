"""Where a text may be cut, and what may never leave us: half a character, a lone surrogate, a closing tag."""

from __future__ import annotations

import re
from unicodedata import category

__all__ = ["clean", "clip", "clipped", "first", "last", "neutral"]

_SURROGATE = re.compile("([\ud800-\udbff])([\udc00-\udfff])|[\ud800-\udfff]")
_JOINER = "\u200d"


def clean(text: str) -> str:
    """``text`` without lone surrogates: pairs become the character they stand for, the rest U+FFFD."""

    def whole(match: re.Match[str]) -> str:
        high, low = match.groups()
        return chr(0x10000 + (ord(high) - 0xD800) * 0x400 + ord(low) - 0xDC00) if high else "\ufffd"

    return text if text.isascii() else _SURROGATE.sub(whole, text)


def neutral(text: str, tag: str) -> str:
    """``text`` of the same length in which no ``<tag>`` can be opened or closed, in whatever spelling."""
    return re.sub(rf"<(?=\s*/?\s*{re.escape(tag)})", "[", text, flags=re.IGNORECASE)


def _regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _inside(text: str, at: int) -> bool:
    """Whether a cut before ``text[at]`` would part one visible character (UAX 29, without conjuncts)."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if after < "\u0300":
        return after == "\n" and before == "\r"
    if after == _JOINER or before == _JOINER or category(after) in ("Mc", "Me", "Mn"):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f" or after in "\u0e33\u0eb3":
        return True
    if _regional(after) and _regional(before):
        start = at
        while start > 0 and _regional(text[start - 1]):
            start -= 1
        return (at - start) % 2 == 1
    if "\u1160" <= after <= "\u11ff":
        return "\u1100" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
    return "\u1100" <= after <= "\u115f" and "\u1100" <= before <= "\u115f"


def first(text: str, size: int) -> str:
    """At most the first ``size`` characters of ``text``, cut between whole characters."""
    while _inside(text, size):
        size -= 1
    return text[:size]


def last(text: str, size: int) -> str:
    """At most the last ``size`` characters of ``text``, cut between whole characters."""
    at = max(len(text) - size, 0)
    while _inside(text, at):
        at += 1
    return text[at:]


def clip(text: str, size: int, lines: int) -> str:
    """The start of ``text``, at most ``size`` characters and ``lines`` lines; ends at a newline past half."""
    end = -1
    for _ in range(lines):
        end = text.find("\n", end + 1, size + 1)
        if end < 0:
            break
    else:
        return text[:end]
    if len(text) <= size:
        return text
    newline = text.rfind("\n", 0, size + 1)
    return text[:newline] if newline > size // 2 else first(text, size)


def clipped(text: str, most: int) -> str:
    """At most about ``most`` characters of ``text``: two thirds its head, how much is left out, one third its tail.

    The tail begins with no dash, for a line that only the cut begins must not pass for a title of `titled`.
    """
    if len(text) <= most:
        return text
    head, tail = first(text, most * 2 // 3), last(text, most // 3).lstrip("-")
    return f"{head}\n[{len(text) - len(head) - len(tail):,} characters are left out here]\n{tail}"
