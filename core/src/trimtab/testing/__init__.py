"""What authors of stages and hooks test with; needs ``pip install trimtab[testing]`` (pytest and hypothesis).

`StageContract` and `HookContract` are test classes to subclass, `conversations` a hypothesis strategy, `Scripted` an
asker with prepared answers, `Recorder` writes a live session to a file that ``trimtab replay`` reads, and
`crash_at`, `crash_points`, `crash_everywhere`, `in_child` kill a process at a storage step. What needs pytest or
hypothesis is imported when it is used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from trimtab.ask import Scripted
from trimtab.testing.crash import crash_at, crash_everywhere, crash_points, in_child
from trimtab.testing.recorder import Recorder

if TYPE_CHECKING:
    from trimtab.testing.hook_contract import HookContract
    from trimtab.testing.stage_contract import StageContract
    from trimtab.testing.strategies import conversations

__all__ = [
    "HookContract",
    "Recorder",
    "Scripted",
    "StageContract",
    "conversations",
    "crash_at",
    "crash_everywhere",
    "crash_points",
    "in_child",
]

_LATE = {"HookContract": "hook_contract", "StageContract": "stage_contract", "conversations": "strategies"}
_ASSERTING = ("contract", "hook_contract", "stage_contract", "walk", "witness")
"""Modules whose assertions should show values."""


def _rewrite() -> None:
    """Have pytest rewrite the assertions of modules that are not imported yet."""
    names = [f"{__name__}.{name}" for name in _ASSERTING]
    sys.modules["pytest"].register_assert_rewrite(*(name for name in names if name not in sys.modules))


if "pytest" in sys.modules:
    _rewrite()


def __getattr__(name: str) -> Any:
    """Import what needs pytest and hypothesis; raises `ImportError` with what to install."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for needed in ("pytest", "hypothesis"):
        try:
            import_module(needed)
        except ModuleNotFoundError as error:
            what = f"trimtab.testing.{name} needs {needed}: pip install trimtab[testing]"
            raise ImportError(what, name=needed) from error
    _rewrite()
    return getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
