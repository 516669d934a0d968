"""The hook passes the contract of all hooks, with each kind of rule and with all of them at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from trimtab.testing import HookContract
from trimtab_pins import Pins

ALL = [
    {"first": "user"},
    {"contains": "parser"},
    {"match": "(?i)never|line \\d"},
    {"file": "src/**/*.py"},
    {"tool": "bash", "last": 1},
    {"last": 3},
    {"tag": "file", "budget": 500},
    {"role": "user", "budget": 100},
]


class TestSeveral(HookContract):
    """All kinds side by side."""

    hook = Pins
    options: ClassVar[Sequence[Any]] = ALL


class TestFixed(HookContract):
    """A rule whose pins are recorded."""

    hook = Pins
    options: ClassVar[Mapping[str, Any]] = {"role": "user"}


class TestMoving(HookContract):
    """A rule whose pins hold until the next pass that asks."""

    hook = Pins
    options: ClassVar[Mapping[str, Any]] = {"tool": "*", "budget": "1k", "reason": "newest results"}
