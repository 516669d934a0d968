"""The things that must stay: where each was said last, and what the view shows of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from trimtab.toolclass import classify, path_of

from trimtab_verify.words import around, named, plain, said, stored, texts

if TYPE_CHECKING:
    from trimtab.conversation import Block, Message
    from trimtab.projection import Item
    from trimtab.view import View

    from trimtab_verify.options import VerifyOptions

__all__ = ["Check", "File", "Found", "Words", "checks"]

SHOWN, NAMED = "shown", "named"
WHOLE = ("content", "contents", "file_text")
"""Arguments of a call that hold all of a file."""


class Found(NamedTuple):
    """Where something was said last: what it is known by, its message and block, and its place in the words."""

    key: str
    message: Message
    block: Block
    span: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Words:
    """A fact or a pattern: the newest text that it matches stays in sight."""

    what: str
    pattern: re.Pattern[str]

    def found(self, view: View, message: Message) -> Found | None:
        """The last match in a message as it was said."""
        for block in reversed(message.blocks):
            for match in reversed(list(self._matches(said(block)))):
                return Found(plain(match[0]), message, block, match.span())
        return None

    def shows(self, view: View, item: Item) -> set[str]:
        """All matches at one place of the view, in one spelling."""
        return {plain(match[0]) for text in texts(view, item) for match in self._matches(text)}

    def fine(self, found: Found, shown: set[str], folder: Path) -> bool:
        """Whether the newest match is among what is shown."""
        return found.key in shown

    def back(self, view: View, found: Found) -> str:
        """What to put back: the sentence around the match."""
        return around(said(found.block), *found.span)

    def _matches(self, text: str) -> Iterator[re.Match[str]]:
        return (match for match in self.pattern.finditer(text) if match[0].strip())


@dataclass(frozen=True, slots=True)
class File:
    """A file that was read, or written as a whole: it stays in sight or in reach."""

    what: str
    path: str

    def found(self, view: View, message: Message) -> Found | None:
        """The last block of a message that holds it."""
        blocks = [block for block in message.blocks if self._holds(view, message, block)]
        return Found("", message, blocks[-1]) if blocks else None

    def shows(self, view: View, item: Item) -> set[str]:
        """`SHOWN` where its content stands, or a way to a stored original; `NAMED` where only its name does."""
        if item.message is not None:
            blocks = (block for block in item.message.blocks if self._holds(view, item.message, block))
            return {SHOWN} if any(self._leads(view, block) for block in blocks) else set()
        text = "\n".join(texts(view, item))
        if not named(text, self.path):
            return set()
        return {SHOWN if item.fold is None or any(map(view.is_stored, stored(text))) else NAMED}

    def fine(self, found: Found, shown: set[str], folder: Path) -> bool:
        """Whether it is in sight, or named while it can be read again."""
        return SHOWN in shown or (NAMED in shown and os.path.isfile(folder / self.path))

    def back(self, view: View, found: Found) -> str:
        """What to put back: a line that names it, and where its text is stored as far as that is known."""
        path = (path_of(found.block.input) or view.result(found.message, found.block).path) or self.path
        ways = [where for where in (view.stored(found.block),) if found.block.id in view.projection.state.faces]
        covering = (item for item in view.messages if item.fold and found.message.id in item.covers)
        ways += [where for item in covering for where in stored(item.text) if view.is_stored(where)]
        return f"{path}: {f'stored in {ways[0]}' if ways else 'to be read again if it is needed'}"

    def _holds(self, view: View, message: Message, block: Block) -> bool:
        """Whether a block, as it was said, is a read of the file, or a call that wrote all of it."""
        if block.type == "tool_use" and any(isinstance(block.input.get(key), str) for key in WHOLE):
            kind, path = classify(block.name, block.input, view.context.tools), path_of(block.input)
            return kind == "edit" and self._same(path)
        if block.type != "tool_result" or block.error:
            return False
        result = view.result(message, block)
        return result.tool_class in ("ranged_read", "read") and self._same(result.path)

    def _same(self, path: str | None) -> bool:
        return path is not None and f"/{normal(path)}".endswith(f"/{self.path.lstrip('/')}")

    @staticmethod
    def _leads(view: View, block: Block) -> bool:
        """Whether a block stands as it was said, or says where its text is stored."""
        state = view.projection.state
        face, where = state.faces.get(block.id), view.stored(block)
        if block.id in state.evicts:
            return False
        return face is None or (where in (face.text or "") and view.is_stored(where))


Check = File | Words


def checks(options: VerifyOptions) -> list[Check]:
    """What the options name: facts, then patterns, then files."""
    found: list[Check] = [Words(fact, _fact(fact)) for fact in options.facts]
    found += [Words(pattern.pattern, pattern) for pattern in options.patterns]
    return [*found, *(File(file, normal(file)) for file in options.files)]


def normal(path: str) -> str:
    """A path without detours, with slashes."""
    return os.path.normpath(path.replace("\\", "/"))


def _fact(fact: str) -> re.Pattern[str]:
    """A fact as a pattern: any spaces between its words; a number at its ends is not a part of a longer one."""
    start, end = r"(?<!\d)" * fact[0].isdigit(), r"(?![.,]?\d)" * fact[-1].isdigit()
    return re.compile(start + r"\s+".join(map(re.escape, fact.split())) + end, re.IGNORECASE)
