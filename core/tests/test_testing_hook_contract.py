"""`HookContract`: useful hooks pass, and a hook with a clock, a failure or a wrong pin is caught."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest
import trimtab.testing.contract as contracts
from hypothesis import Phase
from trimtab import Hook, HookOptions, Insert, Pin, View, hookimpl
from trimtab.testing import HookContract


class KeepAndRemind(Hook):
    """Pins what the user said, and says at every start what the model should know."""

    name = "keep-and-remind"

    class Options(HookOptions):
        """The words."""

        text: str = "House rule: test first."
        """What is said."""

    @hookimpl
    def pre_compact(self, view: View) -> Iterator[Pin]:
        for item in view.messages:
            if item.message and item.message.kind == "user":
                yield from (Pin(block, "said") for block in item.message.blocks if block.type == "text")

    @hookimpl
    def session_start(self, source: str) -> Iterator[Insert]:
        yield Insert("after_boundary" if source == "compact" else "tail", self.options.text)


class TestKeepAndRemind(HookContract):
    """With other words than by default."""

    hook = KeepAndRemind
    options: ClassVar[dict[str, Any]] = {"text": "Never push."}


class Ticking(KeepAndRemind):
    """Says what time it is."""

    name = "ticking"
    ticks: ClassVar[int] = 0

    @hookimpl
    def session_start(self, source: str) -> Iterator[Insert]:
        type(self).ticks += 1
        yield Insert("tail", f"It is {self.ticks} o'clock.")


class Broken(KeepAndRemind):
    """Fails."""

    name = "broken"

    @hookimpl
    def pre_compact(self, view: View) -> Iterator[Pin]:
        raise KeyError("words")


class Nowhere(KeepAndRemind):
    """Pins a block that is not there."""

    name = "nowhere"

    @hookimpl
    def pre_compact(self, view: View) -> Iterator[Pin]:
        yield Pin(view.messages[0].id + ".99", "said")


CASES: list[tuple[type[Hook], Callable[[Any], Any]]] = [
    (Ticking, lambda contract: contract.test_inserts_once("anthropic")),
    (Broken, lambda contract: contract.test_never_fails("anthropic")),
    (Nowhere, lambda contract: contract.test_never_fails("anthropic")),
]


@pytest.mark.parametrize(("hook", "test"), [pytest.param(*case, id=case[0].name) for case in CASES])
def test_misconduct_is_caught(hook: type[Hook], test: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind by the test that is meant for it."""
    monkeypatch.setattr(contracts, "PHASES", (Phase.generate,))
    with pytest.raises(AssertionError):
        test(type("TestMade", (HookContract,), {"hook": hook})())
