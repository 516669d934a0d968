"""The stage: the chain of steps after a refusal."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, ClassVar

from trimtab import Note, Overflow, Stage, StageOptions

from trimtab_reactive_compact.chain import Chain
from trimtab_reactive_compact.options import ReactiveOptions

if TYPE_CHECKING:
    from trimtab.view import View

__all__ = ["ReactiveCompact"]


class ReactiveCompact(Stage):
    """Makes a refused request smaller: what is newest stays as it was said, the older rounds are summarised."""

    name: ClassVar[str] = "reactive-compact"
    Options: ClassVar[type[StageOptions]] = ReactiveOptions
    options: ReactiveOptions

    def propose(self, view: View) -> Generator[Any, Any, None]:
        """Nothing: it waits for a refusal."""
        yield from ()

    def recover(self, view: View, overflow: Overflow) -> Generator[Any, Any, None]:
        """The steps that were not yet taken for this request, in order; the kernel stops at the target."""
        said = view.notes(self.name)
        done = list(said["steps"]) if said is not None and said["request"] == view.answers else []
        for step, edits in Chain(view, overflow, self.options).steps(done):
            done.append(step)
            yield Note(self.name, {"request": view.answers, "steps": done})
            yield from edits
