"""A stage under observation: what it proposes, how long it takes, and what it does that it may not do."""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from typing import Any, ClassVar

from trimtab.ask import Ask
from trimtab.edits import Fold, Insert, Replace
from trimtab.errors import AskFailed
from trimtab.stage import Stage
from trimtab.testing.guard import watched
from trimtab.view import View

__all__ = ["Probe", "observed"]


class Probe:
    """What an observed stage class did so far, all its instances together."""

    def __init__(self, *, guard: bool = False, compare: bool = False) -> None:
        self.guard = guard
        """Whether I/O, clock and random numbers are looked for."""
        self.compare = compare
        """Whether the view is compared before and after each step of the stage."""
        self.proposed: list[Any] = []
        self.asked: list[Ask] = []
        self.forbidden: list[str] = []
        self.changed: list[str] = []
        """Parts of the view that the stage changed itself."""
        self.seconds = 0.0
        """Spent inside the stage, what it calls of the view included."""

    @property
    def texts(self) -> list[str]:
        """The texts that it proposed to show."""
        return [edit.text for edit in self.proposed if isinstance(edit, (Fold, Insert, Replace))]

    def step(self, view: View, call: Any, *arguments: Any) -> Any:
        """One step of the stage; raises what it raises."""
        before = _parts(view) if self.compare else {}
        start = time.perf_counter()
        try:
            if not self.guard:
                return call(*arguments)
            with watched(self.forbidden):
                return call(*arguments)
        finally:
            self.seconds += time.perf_counter() - start
            after = _parts(view) if self.compare else {}
            self.changed += [part for part in before if before[part] != after[part]]

    def run(self, propose: Any, view: View, most: float) -> None:
        """Let a stage propose for at most so many seconds; nothing is carried out, no question is answered."""
        steps, failed = iter(self.step(view, propose, view)), False
        while self.seconds < most:
            try:
                answer = AskFailed("nobody is asked")
                edit = self.step(view, steps.throw, answer) if failed else self.step(view, next, steps)
            except (AskFailed, StopIteration):
                return
            failed = isinstance(edit, Ask)


def observed(stage: type[Stage], probe: Probe) -> type[Stage]:
    """A stage class that behaves as ``stage`` does and tells ``probe`` of it."""

    class Observed(stage):  # type: ignore[valid-type, misc]
        name: ClassVar[str] = stage.name

        def propose(self, view: View) -> Generator[Any, Any, None]:
            steps = iter(probe.step(view, super().propose, view))
            answer: Any = None
            while True:
                try:
                    if not isinstance(steps, Generator):
                        edit = probe.step(view, next, steps)
                    elif isinstance(answer, Exception):
                        edit = probe.step(view, steps.throw, answer)
                    else:
                        edit = probe.step(view, steps.send, answer)
                except StopIteration:
                    return
                (probe.asked if isinstance(edit, Ask) else probe.proposed).append(edit)
                try:
                    answer = yield edit
                except Exception as failed:  # an answer that cannot be used: the stage's to handle
                    answer = failed

    return Observed


def _parts(view: View) -> dict[str, str]:
    """All that a stage can reach of a view, in words that can be compared."""
    guides = view.guides  # to ask for these lets hooks pin: not the stage's doing
    projection, state = view.projection, view.projection.state
    said = [(message.id, message.wire, [block.text for block in message.blocks]) for message in projection.path]
    return {
        "what was said": json.dumps(said, default=repr),
        "the items": repr([(item.key, item.start, item.end, item.tokens) for item in projection.items]),
        "what is sent": json.dumps([item.wire for item in projection.items], default=repr),
        "the faces": repr(state.faces),
        "the pins": repr(state.pinned),
        "the notes": json.dumps(state.notes, default=repr),
        "the figures": repr((projection.raw, view.context.window, view.context.now, guides)),
    }
