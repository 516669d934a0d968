"""What one message holds that a rule speaks of; a message never changes, so it is looked at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from trimtab_pins.options import Rule
from trimtab_pins.paths import Parts, named, parts

if TYPE_CHECKING:
    from trimtab.conversation import Block, Message
    from trimtab.view import Result, View

__all__ = ["Finder", "Hit"]

PIECE, OVERLAP = 2_000, 500
"""Characters that an expression is searched in at a time, and how many of them it sees again (chosen)."""

NOTHING = 300
"""Characters up to which the answer to a read may say that it brings no text (chosen)."""

_NO_READ = re.compile(
    r"\s*<?(?:tool_use_)?error\b|[^\n]*: no such file|.*\b(?:unchanged|not (?:been )?(?:changed|modified)) since\b",
    re.IGNORECASE | re.DOTALL,
)
"""How such an answer reads: a failure where the format has no mark for one, or a reference to an earlier read."""

_ADDED = re.compile(
    r"<(system-reminder|environment_context|user_instructions|local-command-\w+)>.*?</\1>"
    r"|# AGENTS\.md instructions for [^\n]*\s*<INSTRUCTIONS>.*?</INSTRUCTIONS>",
    re.DOTALL,
)
"""What Claude Code and Codex say in the user's name, in messages or blocks of its own (seen in recorded sessions)."""


class Hit(NamedTuple):
    """What a rule pins or leaves as one, and (of a read) the file."""

    blocks: tuple[Block, ...]
    path: Parts = ()


class Finder:
    """One rule, made ready."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._holds = _test(rule)
        self._path = parts(rule.file) if rule.file is not None else ()
        self._tool = rule.tool.lower() if rule.tool is not None else ""
        everyone = rule.last is not None or rule.tag is not None
        role = rule.first or rule.role
        self._roles = (role,) if role else ("assistant", "user") if everyone else ("user",)

    def __call__(self, view: View, message: Message) -> Iterator[Hit]:
        """What the message holds, in its order."""
        rule = self.rule
        if rule.file is not None:
            yield from (Hit((one.block,), path) for one in _results(view, message) if (path := self._read(one)))
        elif rule.tool is not None:
            for one in _results(view, message):
                if fnmatchcase(one.tool.lower(), self._tool) and self._holds(one.text):
                    yield Hit((one.block,))
        elif rule.first is not None or rule.last is not None:
            if said := tuple(block for block in self._texts(message) if _ADDED.sub("", block.text).strip()):
                yield Hit(said)
        else:
            yield from (Hit((block,)) for block in self._texts(message) if self._holds(block.text))
            if rule.tag is not None and rule.role is None:
                found = (message.blocks[n] for n in message.results)
                yield from (Hit((block,)) for block in found if self._holds(block.text))

    def _texts(self, message: Message) -> Iterator[Block]:
        said = message.blocks if message.role in self._roles else ()
        return (block for block in said if block.type == "text" and block.text.strip())

    def _read(self, result: Result) -> Parts:
        """The path of a read that brought this file; empty for anything else."""
        if result.tool_class not in ("ranged_read", "read") or not result.path or result.error:
            return ()
        if not result.media and len(result.text) <= NOTHING and _NO_READ.match(result.text):
            return ()
        path = parts(result.path)
        return path if named(self._path, path) else ()


def _results(view: View, message: Message) -> Iterator[Result]:
    """The results that hold anything."""
    blocks = (message.blocks[n] for n in message.results)
    return (view.result(message, block) for block in blocks if block.media or block.text.strip())


def _test(rule: Rule) -> Callable[[str], bool]:
    """Whether a text holds what the rule looks for."""
    if rule.contains is not None:
        words = rule.contains
        return lambda text: words in text
    if rule.tag is not None:
        word = re.compile(rf"(?<!\w){re.escape(rule.tag)}(?![\w-])")
        return lambda text: word.search(text) is not None
    if rule.match is not None:
        pattern = re.compile(rule.match)
        return lambda text: any(
            pattern.search(text, start, start + PIECE) for start in range(0, len(text) or 1, PIECE - OVERLAP)
        )
    return lambda text: True
