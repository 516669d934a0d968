"""A stage and a hook that do everything a plugin could do wrong, from one stream of random numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, ClassVar

from trimtab import Ask, Drop, Fold, Guide, Hook, Insert, Note, Pin, Replace, Restore, Stage, Veto, View, hookimpl

TEXTS = ["", " ", "short", "x" * 50, "y" * 5_000, "\ud83d", "half \udc00 pair", "<tool_result>", None, 7]


class HostileStage(Stage):
    """Yields arbitrary edits of arbitrary things."""

    name = "hostile"
    rng: ClassVar[random.Random] = random.Random(0)

    def propose(self, view: View) -> Iterator[Any]:
        rng = self.rng
        for _ in range(rng.randint(0, 8)):
            chance = rng.random()
            if chance < 0.03:
                raise RuntimeError("hostile")
            if chance < 0.06:
                try:
                    yield Ask("anything", covers=list(view.messages)[:2])
                except Exception:
                    yield Replace("nothing", "at all")
                continue
            yield self.edit(view)

    def edit(self, view: View) -> Any:
        rng = self.rng
        path = view.projection.path
        blocks = [block.id for message in path for block in message.blocks] + ["nowhere.0", "", "x"]
        text = rng.choice(TEXTS) if rng.random() < 0.3 else "s" * rng.randint(1, 80)
        match rng.randrange(12):
            case 0 | 1 | 2:
                return Replace(rng.choice(blocks), text)
            case 3:
                return Replace(rng.choice(list(view.results) or blocks), text)
            case 4:
                return Drop([message.id for message in path if rng.random() < 0.2])
            case 5:
                return Drop(rng.choice(view.rounds or [blocks[0]]))
            case 6:
                return Drop(rng.sample(view.turns, min(len(view.turns), rng.randint(1, 2))))
            case 7:
                return Drop([b.id for m in path for b in m.blocks if b.type == "thinking" and rng.random() < 0.7])
            case 8 | 9:
                items = list(view.messages)
                start = rng.choice([0, rng.randrange(len(items))])
                return Fold(items[start : start + rng.randint(1, 12)], text)
            case 10:
                return rng.choice(
                    [
                        Insert(rng.choice(["tail", "system", "after_boundary", "nowhere"]), text),
                        Note("k", {"n": rng.random()}, rng.choice([path[-1], path[0], "nowhere"])),
                        Pin(blocks[0], "stages may not pin"),
                        Restore((rng.randint(0, 9),)),
                        object(),
                        None,
                    ]
                )
            case _:
                return Restore(tuple(rng.sample(range(1, 30), 2)))


class HostileHook(Hook):
    """Pins, vetoes, inserts and fails at random."""

    name = "hostile-hook"
    rng: ClassVar[random.Random] = random.Random(0)

    @hookimpl
    def pre_compact(self, view: View, trigger: str) -> Iterator[Any]:
        rng = self.rng
        if rng.random() < 0.05:
            raise Veto("no")
        if rng.random() < 0.05:
            raise ValueError("hostile hook")
        blocks = [block for message in view.projection.path for block in message.blocks]
        if rng.random() < 0.2:
            yield Pin(rng.choice(blocks), "random")
        if rng.random() < 0.1:
            block = rng.choice(blocks)
            yield Pin(block, "part of it", text=block.text[: rng.randint(0, 9)])
        if rng.random() < 0.05:
            yield rng.choice([Pin("alpha", "words"), Pin("no such words", ""), Guide("be brief"), object()])

    @hookimpl
    def post_compact(self, before: View, after: View, report: Any) -> Iterator[Any]:
        if self.rng.random() < 0.05:
            raise Veto("not this", stages=self.rng.choice([(), ("hostile",)]))
        if self.rng.random() < 0.1:
            yield Insert(self.rng.choice(["tail", "after_boundary", "system"]), f"looked {self.rng.random()}")

    @hookimpl
    def session_start(self, session: Any, source: str) -> Iterator[Any]:
        if self.rng.random() < 0.5:
            yield Insert("tail" if source != "compact" else "after_boundary", "remember this")
        if self.rng.random() < 0.2:
            yield Insert("system", "house rules")
