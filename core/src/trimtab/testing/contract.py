"""What the contracts share: how many examples, which dialects, and that a subclass may weaken no test."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, given, note, settings

from trimtab.parts import available
from trimtab.testing.options import undocumented
from trimtab.testing.strategies import numbers
from trimtab.testing.walk import Walk
from trimtab.testing.wires import WIRES

__all__ = ["DIALECTS", "MISTAKES", "Contract", "check_name", "check_options", "run", "walks"]

EXAMPLES = int(os.environ.get("CONTRACT_EXAMPLES", "4"))
"""Conversations of each case; not ``TRIMTAB_…``, for those variables are a profile's."""


DIALECTS = [name for name in WIRES if name in available("dialect")]
PHASES = (Phase.generate, Phase.shrink)
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""Names of stages and hooks: those of entry points, as in a profile."""

MISTAKES = (
    "a note of the kernel",
    "data must be JSON",
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
    about: ClassVar[tuple[str, type]]
    """The attribute that names what is tested, and the class that this must be a subclass of."""

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
        if cls.__name__.startswith("Test") and (wrong := cls._wrong()):
            raise TypeError(f"{cls.__name__}: {wrong}")

    @classmethod
    def _wrong(cls) -> str:
        """What is wrong with what the class names to be tested, in words; once, not in each test."""
        key, base = cls.about
        given = getattr(cls, key, None)
        if not (isinstance(given, type) and issubclass(given, base)):
            said = f"`{key}` is {given!r}" if hasattr(cls, key) else f"`{key}` is missing"
            return f"{said}; say which class is tested, a subclass of {base.__name__}: `{key} = ClearOld`"
        name = getattr(given, "name", None)
        if isinstance(name, str) and name:
            return ""
        said = "no `name`" if name is None else f"the `name` {name!r}"
        return f'{given.__name__} has {said}; give it the text by which profiles list it: `name = "clear-old"`'


def check_name(name: str) -> None:
    """Raise `AssertionError` for a name that no entry point can have."""
    assert NAME.fullmatch(name), f"the name {name!r} is not lower-case words joined by dashes, such as 'clear-old'"


def check_options(options: Any, keys: Iterable[str]) -> None:
    """Raise `AssertionError` where options lack docstrings, or their JSON Schema one of ``keys``."""
    bare = [one if one == options.__name__ else f"option {one!r}" for one in undocumented(options)]
    assert not bare, "; ".join(f"{one} has no docstring" for one in bare)
    missing = sorted(set(keys) - options.model_json_schema().get("properties", {}).keys())
    assert not missing, f"the JSON Schema of {options.__name__} lacks {', '.join(missing)}"


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
