"""One conversation under hostile plugins, all drawn from one seed."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from hostile import HostileHook, HostileStage, hostile_answer, kind
from trimtab.testing import walk
from trimtab.testing.walk import STEPS

__all__ = ["STEPS", "Walk"]

WHENS: list[Any] = [
    {},
    {"when": "cold"},
    {"when": {"over": 0.001}, "target": 0.0005},
    {"when": "always", "warm": "allow"},
    {"when": ["cold", {"idle": "10m"}], "at_least": 30},
]
WINDOWS = [200_000, 200_000, 200_000, 6_000]
"""Tokens; the last is soon full."""


class Walk(walk.Walk):
    """Call `go`."""

    def __init__(self, seed: int, processes: int = 1, dialect: str = "anthropic") -> None:
        rng = HostileStage.rng = HostileHook.rng = random.Random(seed)
        super().__init__(
            rng,
            HostileStage,
            HostileHook,
            dialect=dialect,
            stages=[{"hostile": rng.choice(WHENS)}],
            hooks=["hostile-hook"],
            provider={
                "prefix_bound": rng.random() < 0.5,
                "window": rng.choice(WINDOWS),
                "cache_edits": rng.random() < 0.3,
                "context_management": rng.random() < 0.3,
            },
            ask=hostile_answer(rng),
            flaws=rng.choice([0.0, 0.0, 0.3]),
            marks=rng.random() < 0.3,
            processes=processes,
            stage_tools=rng.random() < 0.3,
        )

    @property
    def passes(self) -> int:
        """Requests that were made."""
        return len(self.requests)

    @property
    def refused(self) -> Counter[str]:
        """Reasons for which edits of the stage were refused."""
        return self.refusals.get("hostile", Counter())

    def accepted(self) -> Counter[tuple[str, str]]:
        """What got past the kernel: (kind of edit, free or breaking) to how often."""
        decisions = self.session.ledger.decisions
        return Counter((kind(edit), "free" if one.free else "breaking") for one in decisions for edit in one.edits)
