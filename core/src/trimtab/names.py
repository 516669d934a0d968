"""Which names the view shows, and in how many blocks: an index that follows the projection."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from trimtab.conversation import Block
from trimtab.projection import Item, Projection

__all__ = ["Names"]

_WORD = re.compile(r"[\w./\\-]+")
_PART = re.compile(r"\w+")
_NAME = re.compile(r"[\w./\\-]*\w")


def _words(text: str) -> set[str]:
    """Paths and the identifiers in them."""
    words = {word.rstrip("./\\-") for word in _WORD.findall(text)}
    return words.union(*(_PART.findall(word) for word in words if not word.isalnum()))


class Names:
    """Counts blocks by name, looking only at items that are new since the last question."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._items: list[Item] = []
        self._at: tuple[Projection, int] | None = None

    def shown(self, projection: Projection, name: str) -> int:
        """In how many blocks of the view ``name`` stands; a phrase is looked for in every text."""
        if not _NAME.fullmatch(name):
            return sum(name in text for item in projection.items for text in _texts(projection, item))
        at = (projection, projection.version)
        if at != self._at:
            self._follow(projection)
            self._at = at
        return self._counts[name]

    def _follow(self, projection: Projection) -> None:
        items, known = projection.items, self._items
        same = 0
        while same < min(len(items), len(known)) and items[same].key == known[same].key:
            same += 1
        for item in known[same:]:
            for text in _texts(projection, item):
                self._counts.subtract(_words(text))
        for item in items[same:]:
            for text in _texts(projection, item):
                self._counts.update(_words(text))
        self._items = list(items)


def _texts(projection: Projection, item: Item) -> Iterator[str]:
    if item.message is None:
        yield item.text
    elif item.wire is None:
        yield from map(_text, item.message.blocks)
    else:
        _, blocks = projection.dialect.parse(item.wire, item.id)
        yield from map(_text, blocks)


def _text(block: Block) -> str:
    """Arguments are JSON: an escaped line end is no part of the name behind it."""
    return block.text.replace("\\n", "\n").replace("\\t", "\t") if block.type == "tool_use" else block.text
