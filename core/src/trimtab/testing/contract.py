"""What the contracts share: how many examples, which dialects, and that a subclass may weaken no test."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, given, note, settings

from trimtab.parts import available
from trimtab.testing.strategies import numbers
from trimtab.testing.walk import Walk
from trimtab.testing.wires import WIRES

__all__ = ["DIALECTS", "MISTAKES", "NAME", "Contract", "run", "walks"]

EXAMPLES = int(os.environ.get("CONTRACT_EXAMPLES", "5"))
"""Conversations of each case; not ``TRIMTAB_…``, for those variables are a profile's."""


DIALECTS = [name for name in WIRES if name in available("dialect")]
PHASES = (Phase.generate, Phase.shrink)
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""Names of stages and hooks: those of entry points, as in a profile."""

MISTAKES = (
    "a note of the kernel",
    "a note's data must be JSON",
    "a stage may not yield",
    "empty text",
    "lone surrogate",
    "may not yield",
    "no such block",
    "no targets",
    "not on this path",
    "the words are no text",
    "thinking cannot be pinned",
    "tool_use cannot be pinned",
)
"""Reasons for a refusal that say that a plugin is wrong, not that the moment is."""


class Contract:
    """The base of all contracts."""

    contract: ClassVar[type[Contract]]
    """The class whose tests count."""

    def test_no_test_is_weakened(self) -> None:
        """A test of the contract is overridden only by an expected failure that says why."""
        weak = [name for name in dir(self.contract) if name.startswith("test_") and not self._kept(name)]
        assert not weak, f"override these as @pytest.mark.xfail(reason=…), or not at all: {', '.join(weak)}"

    def _kept(self, name: str) -> bool:
        mine = getattr(type(self), name, None)
        marks = getattr(mine, "pytestmark", []) if callable(mine) else []
        return mine is getattr(self.contract, name) or any(
            mark.name == "xfail" and not mark.args and mark.kwargs.get("reason") for mark in marks
        )

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "test_no_test_is_weakened" in vars(cls):
            raise TypeError(f"{cls.__name__} may not override test_no_test_is_weakened")


def run(check: Callable[..., None], *strategies: Any, examples: int = EXAMPLES) -> None:
    """Check so many examples: the same ones in every run."""
    configured: Any = settings(
        max_examples=max(1, examples),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=PHASES,
    )
    drawing: Any = given  # typed for strategies that are known one by one
    configured(drawing(*strategies)(check))()


def walks(
    make: Callable[[Any], Walk], check: Callable[[Walk], object], steps: int = 8, examples: int = EXAMPLES
) -> None:
    """Make walks of random numbers, walk them, and check what came of it; a failure tells what happened."""

    def one(rng: Any) -> None:
        walk = make(rng)
        try:
            walk.go(steps)
            check(walk)
        except BaseException:
            note(f"{walk.listed}, {walk.provider}: " + "; ".join(walk.log))
            raise

    run(one, numbers(), examples=examples)
