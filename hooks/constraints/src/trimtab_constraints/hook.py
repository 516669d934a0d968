"""The hook: pins the user's standing instructions, of each the newest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from trimtab import Hook, HookOptions, Pin, Size, View, Warn, hookimpl
from trimtab.budget import within
from trimtab.conversation import Block, Message

from trimtab_constraints.find import find
from trimtab_constraints.latest import Statement, latest

__all__ = ["Constraints", "ConstraintsOptions"]


class ConstraintsOptions(HookOptions):
    """How much may stay."""

    budget: Size | None = None
    """Tokens of the pinned sentences together; the newest win, and a warning names the others. None: no limit."""


class Constraints(Hook):
    """Pins rules, limits, preferences and standing facts that the user typed; a later value replaces an earlier one."""

    name: ClassVar[str] = "constraints"
    Options: ClassVar[type[ConstraintsOptions]] = ConstraintsOptions
    options: ConstraintsOptions

    def __init__(self, options: ConstraintsOptions | None = None) -> None:
        super().__init__(options)
        self._found: dict[str, list[Statement[Block]]] = {}
        """By message id, of the messages looked at; ids are hashes of content and parents."""
        self._said: list[Statement[Block]] = []
        self._held: list[Statement[Block]] = []
        """What of `_said` still holds."""

    @hookimpl
    def pre_compact(self, view: View) -> Iterator[Pin | Warn]:
        """Pin what still holds and the view still shows, or carries behind a fold."""
        said = [statement for message in view.projection.path for statement in self._statements(message)]
        if said != self._said:
            self._said, self._held = said, latest(said)
        pins = (
            Pin(one.of.id, f"constraint: {one.kind}", text=one.text, moving=True)
            for one in self._held
            if view.holds(one.of, one.text)
        )
        yield from within(view, pins, self.options.budget)

    def _statements(self, message: Message) -> Iterable[Statement[Block]]:
        if message.kind not in ("user", "mixed"):
            return ()
        if message.id not in self._found:
            texts = (block for block in message.blocks if block.type == "text")
            self._found[message.id] = [
                Statement(found.text, found.kind, block) for block in texts for found in find(block.text)
            ]
        return self._found[message.id]
