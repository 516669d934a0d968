"""A stage, a hook and an asker that do everything a plugin could do wrong, from one stream of random numbers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from trimtab import (
    Ask,
    AskFailed,
    Drop,
    Evict,
    Fold,
    Guide,
    Hook,
    Insert,
    Note,
    Overflow,
    Param,
    Pin,
    Replace,
    Restore,
    Stage,
    Tool,
    ToolError,
    Veto,
    View,
    Warn,
    hookimpl,
)
from trimtab.edits import message_ids

__all__ = ["HostileHook", "HostileStage", "hostile_answer", "kind"]

BOUND = "bound to what was edited"
"""The kernel's reason for removing thinking with an edit (R23)."""

TEXTS = ["", " ", "short", "x" * 50, "y" * 5_000, "\ud83d", "half \udc00 pair", "<tool_result>", None, 7]


class HostileStage(Stage):
    """Yields arbitrary edits of arbitrary things; half of them are such that a sane stage could have made them."""

    name = "hostile"
    rng: ClassVar[random.Random] = random.Random(0)
    yielded: ClassVar[Counter[str]] = Counter()
    """How often each kind of edit was proposed."""

    def propose(self, view: View) -> Iterator[Any]:
        rng = self.rng
        for _ in range(rng.randint(0, 8)):
            chance = rng.random()
            if chance < 0.03:
                raise RuntimeError("hostile")
            if chance < 0.06:
                try:
                    answer = yield Ask("anything", covers=list(view.messages)[:2])
                except Exception:
                    answer = "no answer"
                yield Fold(self.rounds(view), answer)
                continue
            edit = self.sane(view) if rng.random() < 0.5 else self.mad(view)
            self.yielded[kind(edit)] += 1
            yield edit
            if isinstance(edit, Note):
                edit.data["late"] = True  # what was yielded is no longer the stage's to change

    def tags(self) -> bool:
        return True

    def tools(self, view: View) -> list[Tool]:
        return [Tool("hostile", "Does what it wants.", {"type": "object"})]

    def call_tool(self, view: View, name: str, input: Any) -> Any:
        chance = self.rng.random()
        if chance < 0.2:
            raise ToolError("no")
        if chance < 0.3:
            raise RuntimeError("hostile tool")
        if chance < 0.8:
            yield Note("tool", [chance], self.rng.choice(["", "nowhere"]))
        if chance > 0.95:
            yield object()
        return "done"

    def observe(self, view: View) -> Iterator[Any]:
        chance = self.rng.random()
        if chance < 0.1:
            raise RuntimeError("hostile observer")
        if chance < 0.5:
            try:
                yield Note("observed", {"said": (yield Ask("what?", shared=chance < 0.3))})
            except AskFailed:
                yield Note("observed", {"said": None})
        if chance > 0.9:
            yield self.mad(view)

    def recover(self, view: View, overflow: Overflow) -> Iterator[Any]:
        return self.propose(view)

    def rounds(self, view: View) -> list[Any]:
        """Some rounds in a row, without the newest."""
        rounds = view.rounds[:-1]
        return rounds[self.rng.choice([0, self.rng.randrange(len(rounds) or 1)]) :][: self.rng.randint(1, 5)]

    def sane(self, view: View) -> Any:
        rng = self.rng
        text = "s" * rng.randint(1, 40)
        shown = [block for item in view.messages if item.message for block in item.message.blocks]
        match rng.randrange(11):
            case 9:
                return Evict(rng.choice(list(view.results) or shown), text)
            case 10:
                return Param("context_management", {"trigger": rng.choice([50_000, 90_000])})
            case 0 | 1:
                return Replace(rng.choice([block for block in shown if block.type in ("text", "tool_result")]), text)
            case 2:
                block = rng.choice(shown)
                return Replace(block, block.text[: rng.randint(1, 200)])
            case 3:
                return Drop(self.rounds(view)[:1])
            case 4:
                return Drop(view.turns[: rng.randint(1, 2)])
            case 5:
                thinking = [block for block in shown if block.type == "thinking"]
                return Drop([block.id for block in thinking[: rng.randint(1, 9)]])
            case 6:
                upto = rng.randint(1, len(view.messages))
                return Fold(list(view.messages)[rng.choice([0, rng.randrange(upto)]) : upto], text)
            case 7:
                return Fold(self.rounds(view), text)
            case _:
                seqs = sorted({seq for seq, _ in view.projection.rows if seq})
                return Restore(tuple(rng.sample(seqs, min(len(seqs), rng.randint(1, 2)))))

    def mad(self, view: View) -> Any:
        rng = self.rng
        path, nodes = view.projection.path, list(view.projection.conversation.nodes.values())
        blocks = [block.id for message in nodes for block in message.blocks] + ["nowhere.0", "", "x", "a.b.c"]
        text = rng.choice(TEXTS) if rng.random() < 0.5 else "m" * rng.randint(1, 80)
        items = list(view.messages)
        start = rng.choice([0, rng.randrange(len(items))])
        match rng.randrange(12):
            case 0 | 1:
                return Replace(rng.choice(blocks), text)
            case 2:
                return Replace(rng.choice(list(view.results) or blocks), text)
            case 3:
                return Drop([message.id for message in rng.choice([path, nodes]) if rng.random() < 0.2])
            case 4:
                turns, rounds = view.turns, view.rounds
                return Drop([rng.sample(turns, min(len(turns), 2)), rng.sample(rounds, len(rounds) // 3)])
            case 5:
                return Drop([b.id for m in path for b in m.blocks if b.type == "thinking" and rng.random() < 0.7])
            case 6 | 7:
                return Fold(items[start : start + rng.randint(1, 12)], text)
            case 8:
                return Insert(rng.choice(["tail", "system", "after_boundary", "nowhere"]), text)
            case 9:
                upto = rng.choice([path[-1], path[0], "nowhere"])
                return Note(rng.choice(["k", "kernel:hostile:breaker"]), {"list": [rng.random()]}, upto)
            case 10:
                return rng.choice([Pin(blocks[0], "stages may not pin"), object(), None, Replace, Drop(()), "text"])
            case _:
                return Restore(tuple(rng.sample(range(1, 30), 2)))


def kind(edit: Any) -> str:
    """The word under which an edit is counted."""
    if isinstance(edit, Drop) and any("." in id for id in message_ids(edit.what)):
        return "drop bound thinking" if edit.reason == BOUND else "drop thinking"
    return f"insert {edit.anchor}" if isinstance(edit, Insert) else getattr(edit, "kind", "no edit")


def hostile_answer(rng: random.Random) -> Callable[[Ask], str]:
    """An asker whose model is down, says nothing, too much, tool markup, or something that can be used."""

    def answer(ask: Ask) -> Any:
        said = rng.choice(["", None, 7, "<tool_use>", "y" * 9_000, "\ud83d", "It went well.", "It went well."])
        if rng.random() < 0.2:
            raise TimeoutError("the model is down")
        return said

    return answer


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
            start = rng.randrange(len(block.text) or 1)
            yield Pin(block, "part of it", text=block.text[start : start + rng.randint(0, 9)])
        if rng.random() < 0.2:
            for block in rng.sample(blocks, min(2, len(blocks))):
                yield Pin(block, "now", block.text[: rng.choice([0, 5])], moving=True)
        if rng.random() < 0.2:
            kept = [pin for item in view.messages if item.fold for pin in item.fold.pins]
            yield from (Pin(pin.block, "still", pin.text, moving=True) for pin in kept[:3])
        if rng.random() < 0.05:
            yield rng.choice(
                [Pin("alpha", "words"), Pin("no such words", ""), Guide("be brief"), Warn("look"), object()]
            )

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
