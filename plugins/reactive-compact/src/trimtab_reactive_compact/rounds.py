"""What may be folded, in rounds, and how little of it is enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trimtab.projection import Item
    from trimtab.view import View

__all__ = ["Group", "enough", "groups", "runs"]


@dataclass(frozen=True, slots=True)
class Group:
    """A round with what was said before it, or an earlier summary: folded whole or kept whole."""

    items: tuple[Item, ...]
    tokens: float
    """What folding it frees: without the pins in it, for these are carried."""
    stays: bool
    """In no fold: a system message, or what came back when a decision was undone."""

    @property
    def summary(self) -> str:
        """The text of what is a fold already; else empty."""
        return self.items[0].text if self.items[0].fold is not None else ""


def groups(view: View) -> list[Group]:
    """All before the latest round and what the user said just before that, in order."""
    projection = view.projection
    rounds = projection.rounds
    latest = next((at for at in reversed(rounds) if at >= 0), 0)
    items = [item for item in projection.items if item.end <= latest]
    last = {rounds[item.message.depth]: n for n, item in enumerate(items) if item.message is not None}
    restored, pinned, mended = view.restored, _pinned(view), _mended(view)
    found: list[Group] = []
    group: list[Item] = []
    reach, complete = -1, True
    for n, item in enumerate(items):
        stays = item.role == "system" or not restored.isdisjoint(item.covers)
        alone = stays or item.fold is not None
        if n > reach and (complete or alone) and item.start not in mended:
            found += _group(view, group, restored, pinned)
            group, complete = [], False
        group.append(item)
        round = rounds[item.message.depth] if item.message is not None else -1
        reach = max(reach, last[round]) if round >= 0 else reach
        complete = complete or round >= 0 or alone
    return [*found, *(_group(view, group, restored, pinned) if complete else ())]


def _group(view: View, items: Sequence[Item], restored: frozenset[str], pinned: dict[str, float]) -> Iterator[Group]:
    if items:
        stays = any(item.role == "system" or not restored.isdisjoint(item.covers) for item in items)
        carried = sum(pinned.get(id, 0.0) for item in items for id in item.covers)
        weight = view.context.meter.factor * sum(item.tokens for item in items)
        yield Group(tuple(items), 0.0 if stays else max(0.0, weight - carried), stays)


def _mended(view: View) -> set[int]:
    """Path positions across which a repair may have moved a call's result: no group begins there."""
    projection, found, mended = view.projection, set[int](), False
    for message in reversed(projection.path):
        mended = message.id in projection.state.repairs or (mended and message.role != "assistant")
        found |= {message.depth} if mended else set()
    return found


def _pinned(view: View) -> dict[str, float]:
    """Calibrated tokens of what is pinned, by the message that holds it."""
    found: dict[str, float] = {}
    for pin in view.pins:
        id, _, n = pin.block.partition(".")
        message = view.projection.conversation.nodes[id]
        size = view.count(pin.text) if pin.text else view.context.meter.factor * message.sizes[int(n)]
        found[id] = found.get(id, 0.0) + size
    return found


def enough(groups: Sequence[Group], tokens: float) -> int:
    """How many of the oldest must be folded to free so many tokens; all of them where they do not suffice."""
    freed = 0.0
    for n, group in enumerate(groups):
        if freed >= tokens:
            return n
        freed += group.tokens
    return len(groups)


def runs(view: View, groups: Sequence[Group]) -> list[list[Item]]:
    """The runs of the view that these are, parted by what stays; none begins where no user's voice may stand."""
    apart = view.projection.dialect.apart
    found: list[list[Item]] = [[]]
    before = ""
    for group in groups:
        if group.stays:
            found.append([])
        elif found[-1] or (before, "user") not in apart:
            found[-1] += group.items
        before = group.items[-1].role
    return [run for run in found if run]
