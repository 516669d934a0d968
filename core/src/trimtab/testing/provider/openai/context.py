"""What the model reads of the items that a request brings: behind compactions, without reasoning that does not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trimtab.testing.provider.openai.items import bound_to
from trimtab.testing.provider.openai.seals import opened
from trimtab.testing.provider.openai.units import Unit, head_unit, item_units, total
from trimtab.testing.provider.settings import Settings
from trimtab.testing.provider.tokens import Tokens

__all__ = ["Context", "context_of", "is_user"]


@dataclass(slots=True)
class Context:
    """What the model reads: ``head`` (tools, instructions), then one unit for each item; what was withheld."""

    head: list[Unit]
    prefix: str
    """What new reasoning is bound to: all units but reasoning."""
    items: list[Mapping[str, Any]] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    removed: list[dict[str, Any]] = field(default_factory=list)
    """Entries of ``input_transformations``."""

    @property
    def read(self) -> list[Unit]:
        """All units, in order."""
        return [*self.head, *self.units]

    @property
    def tokens(self) -> int:
        """The size of the request."""
        return total(self.read)

    def truncate(self, limit: int) -> None:
        """Drop the oldest items until the rest fits in ``limit`` tokens."""
        excess, count = self.tokens - limit, 0
        while excess > 0 and count < len(self.units):
            excess -= self.units[count].tokens
            count += 1
        del self.items[:count], self.units[:count]


def context_of(
    body: Mapping[str, Any], items: Sequence[Mapping[str, Any]], settings: Settings, tokens: Tokens
) -> Context:
    """The context of a request; reasoning whose prefix or model is another one is removed from it and reported."""
    head = [head_unit(body, tokens)]
    if body.get("instructions"):
        head += item_units([{"role": "developer", "content": body["instructions"]}], tokens)
    context = Context(head, bound_to(head))
    shown = _shown(items)
    for item, unit in zip(shown, item_units(shown, tokens), strict=True):
        if item.get("type") != "reasoning":
            context.prefix = bound_to([unit], context.prefix)
        elif reason := _mismatch(item, context.prefix, str(body.get("model")), settings):
            id = item.get("id") or opened(item)["id"]
            context.removed.append({"id": id, "type": "reasoning", "action": "removed", "reason": reason})
            continue
        context.items.append(item)
        context.units.append(unit)
    return context


def is_user(item: Mapping[str, Any]) -> bool:
    """Whether an item is a message of the user."""
    return item.get("type", "message") == "message" and item.get("role") == "user"


def _mismatch(item: Mapping[str, Any], prefix: str, model: str, settings: Settings) -> str:
    seal = opened(item)
    if seal["model"] != model and not settings.foreign_thinking:
        return "model_mismatch"
    return "prefix_mismatch" if settings.prefix_check and seal["prefix"] != prefix else ""


def _shown(items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """From the newest compaction on; of what stands before it the user's messages where it was made to keep them."""
    found = [index for index, item in enumerate(items) if item.get("type") == "compaction"]
    if not found:
        return list(items)
    kept = filter(is_user, items[: found[-1]]) if opened(items[found[-1]])["keeps_users"] else ()
    return [*kept, *items[found[-1] :]]
