"""trimtab as the conformance kit judges it: a compactor over a real session with the profile `default`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any
from uuid import uuid4

import yaml
from compaction_kit.canaries import Canary, CanaryType
from compaction_kit.compacted import CompactedContext
from compaction_kit.session import SeededSession, Turn
from trimtab import Profile, Request, Session, load
from trimtab.ask import Asker
from trimtab.summary import SECTIONS

__all__ = ["ROUNDS", "WRITERS", "Trimtab", "worded"]

DATA = Path(__file__).resolve().parents[1] / "data" / "conformance.yaml"

ROUNDS = 5
"""Rounds that fit the budget when the options are chosen: as many as the kit measures."""

ROOMS = (2_000, 1_000, 500, 250, 120, 60, 0)
"""Tokens that are tried for the summary beside the pins, the largest that fits is taken."""

MOST = 2_048
"""Tokens of pins, above what a transcript of the kit holds."""

BAD = "\n".join(f"{heading}\nNone." for heading in SECTIONS[:-1]) + f"\n{SECTIONS[-1]}\nGo on."
"""A summary that every check lets through and that says nothing of what was said."""

WRITERS: Mapping[str, Asker | None] = {"rule": None, "bad model": lambda ask: BAD}
"""Who writes the summaries: nobody can be asked, so rules do; or a model that does it badly."""

WORK = (
    {"role": "user", "content": "Go on."},
    {"role": "assistant", "content": "That piece of the plan is done; what was agreed stands as it was. " * 30},
    {"role": "user", "content": "Go on."},
    {"role": "assistant", "content": "Acknowledged."},
)
"""What is said between two rounds: enough for a second summary to be worth making, and a short last answer."""


def rendered(request: Request) -> str:
    """What the model sees of a request's messages, as the kit writes transcripts."""
    lines = []
    for message in request.messages:
        content = message["content"]
        texts = [content] if isinstance(content, str) else [block["text"] for block in content]
        lines.append(f"[{message['role']}] " + "\n".join(texts))
    return "\n".join(lines)


class Trimtab:
    """Compacts the messages of a session with `Session.compact`, on stores in files.

    The system turn is handed over as ``system``: nothing compacts it, so it is no part of the text, nor is it of what
    the kit's own compactors write. Round 1 is a `/compact` of the whole transcript that keeps as little as can be.
    A second one right behind it would find nothing to do, for a summary is not summarised again before something was
    said since. So in each later round the session, whose request the handed text is, first goes on for two exchanges
    (`WORK`), more than the least that is worth a fold, and is then compacted again: the pins must hold once more, in
    a summary of a summary.

    A budget in characters becomes two options in tokens: of the constraints hook ``budget``, the largest with which
    all rounds fit, then of auto-compact ``room``, the largest that is left beside it. They are found by rehearsing the
    rounds in sessions of their own; the measured session knows nothing of that.
    """

    name = "trimtab"

    def __init__(self, folder: str, ask: Asker | None = None) -> None:
        """``folder`` holds the stores; its path is part of what a summary says, so a long one costs characters."""
        self.folder = folder
        self.ask = ask
        self.request: Request | None = None
        """The last request."""
        self.warnings: list[str] = []
        """Of all rounds: a pin that is lost is named in the round that loses it."""
        self._rounds: Iterator[Request] = iter(())

    def compact(self, turns: list[Turn], round_num: int = 1, budget_chars: int | None = None) -> CompactedContext:
        """The text that the model sees after one more `Session.compact`."""
        if self.request is None or round_num == 1:
            self._rounds = self._session(turns, *self._options(turns, budget_chars))
        else:
            assert [turn.text for turn in turns] == [rendered(self.request)], "not what the last round gave"
        self.request = next(self._rounds)
        self.warnings += self.request.report.warnings
        return CompactedContext(rendered(self.request), self.name, round_num)

    def _options(self, turns: Sequence[Turn], most: int | None) -> tuple[int | None, int]:
        """The constraints' budget and the summary's room."""
        if most is None:
            return None, ROOMS[0]

        def fits(pins: int | None, room: int) -> bool:
            made = self._session(turns, pins, room)
            return all(len(rendered(next(made))) <= most for _ in range(ROUNDS))

        pins: int | None = None
        if not fits(None, 0):
            pins = _largest(lambda budget: fits(budget, 0))
        return pins, next((room for room in ROOMS if fits(pins, room)), 0)

    def _session(self, turns: Sequence[Turn], pins: int | None, room: int) -> Iterator[Request]:
        """The requests of a new session, round by round."""
        system = "\n".join(turn.text for turn in turns if turn.role == "system")
        messages = [{"role": turn.role, "content": turn.text} for turn in turns if turn.role != "system"]
        session = Session.open(uuid4().hex, self._profile(pins, room), ask=self.ask, background=None)
        while True:
            yield session.compact(messages, system, keep=0)
            messages += WORK

    def _profile(self, pins: int | None, room: int) -> Profile:
        stores = {"ledger": f"sqlite:///{self.folder}/ledger.db", "blobs": f"file://{self.folder}/blobs"}
        profile = load("default", overrides={"storage": stores}, env={}, cwd=self.folder)
        said: dict[str, dict[str, Any]] = {"constraints": {"budget": pins}, "auto-compact": {"room": room}}
        items = {
            kind: tuple(
                replace(item, options=item.options.model_copy(update=said.get(item.name, {})))
                for item in getattr(profile, kind)
            )
            for kind in ("hooks", "stages")
        }
        return profile.model_copy(update=items)


def _largest(fits: Callable[[int], bool]) -> int:
    """The largest number of tokens that fits, at least 0."""
    low, high = 0, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def worded(language: str, seed: int) -> tuple[SeededSession, list[Canary]]:
    """A session of the kit's shape in our own words (tests/data/conformance.yaml), its statements in random order."""
    said = yaml.safe_load(DATA.read_text(encoding="utf-8"))[language]
    rng = random.Random(seed)
    statements = [(kind, one) for kind, group in said["statements"].items() for one in group]
    rng.shuffle(statements)
    talk, answers = cycle(said["small_talk"]), cycle(said["answers"])
    turns, canaries = [Turn("system", said["system"])], list[Canary]()

    def exchange(*texts: str) -> None:
        for text in texts:
            turns.extend((Turn("user", text), Turn("assistant", next(answers))))

    for kind, one in statements:
        exchange(next(talk), next(talk), *([one["before"]] if "before" in one else ()))
        canaries.append(
            Canary(
                f"{language}-{len(canaries)}",
                CanaryType(kind),
                one["say"],
                tuple(one["holds"]),
                "",
                superseded_tokens=tuple(one.get("stale", ())),
            )
        )
        exchange(one["say"])
    exchange(next(talk), next(talk), next(talk))
    positions = {canary.id: [turn.text for turn in turns].index(canary.content) for canary in canaries}
    return SeededSession(tuple(turns), positions), canaries
