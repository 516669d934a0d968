"""The hook ``pins``: for each rule what it pins of this view, as the view still holds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from trimtab import Hook, Pin, Warn, hookimpl
from trimtab.budget import within

from trimtab_pins.find import Finder, Hit
from trimtab_pins.options import PinsOptions, Rule
from trimtab_pins.paths import Parts, named

if TYPE_CHECKING:
    from trimtab.conversation import Message
    from trimtab.view import View

__all__ = ["Pins"]


class Pins(Hook):
    """Pins what its rules say. Each message is looked at once."""

    name: ClassVar[str] = "pins"
    Options: ClassVar[type[PinsOptions]] = PinsOptions

    def __init__(self, options: Any = None) -> None:
        super().__init__(options)
        self._finders = [Finder(rule) for rule in self.options.root]
        self._found: dict[str, tuple[tuple[int, Hit], ...]] = {}

    @hookimpl
    def pre_compact(self, view: View) -> Iterator[Pin | Warn]:
        """The pins of each rule, oldest first, and of a rule over its budget a warning."""
        found: list[list[Hit]] = [[] for _ in self._finders]
        for message in view.projection.path:
            for n, hit in self._look(view, message):
                found[n].append(hit)
        for finder, hits in zip(self._finders, found, strict=True):
            yield from within(view, _pins(finder.rule, hits, view), finder.rule.budget)

    def _look(self, view: View, message: Message) -> tuple[tuple[int, Hit], ...]:
        hits = self._found.get(message.id)
        if hits is None:
            hits = tuple((n, hit) for n, finder in enumerate(self._finders) for hit in finder(view, message))
            self._found[message.id] = hits
        return hits


def _pins(rule: Rule, hits: list[Hit], view: View) -> Iterator[Pin]:
    chosen: Iterable[Hit] = hits
    if rule.first is not None:
        chosen = hits[:1]
    elif rule.last is not None:
        chosen = hits[-rule.last :]
    elif rule.file is not None:
        chosen = _newest(hits, view)
    fixed = view.projection.state.pins
    for block in (block for hit in chosen for block in hit.blocks):
        if (block.id, "") in fixed:
            if rule.moving:  # it counts towards the budget
                yield Pin(block, rule.why, moving=True)
        elif held := view.holds(block):
            yield Pin(block, rule.why, moving=rule.moving or held == "carried")


def _newest(hits: list[Hit], view: View) -> list[Hit]:
    """Of each file the newest read that can be pinned, in order; one file may be written in several ways."""
    newest: list[Hit] = []
    known: dict[str, list[Parts]] = {}
    for hit in reversed(hits):
        same = known.setdefault(hit.path[-1], [])
        if not any(named(path, hit.path) for path in same) and view.holds(hit.blocks[0]):
            same.append(hit.path)
            newest.append(hit)
    return newest[::-1]
