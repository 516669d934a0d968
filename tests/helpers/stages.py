"""Stages and hooks as a user would write them, naive on purpose: what keeps them harmless is the kernel."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any, ClassVar

from trimtab import Ask, Drop, Fold, Hook, HookOptions, Insert, Pin, Replace, Stage, StageOptions, View, hookimpl

Proposals = Generator[Any, Any, None]


class ClearOld(Stage):
    """Clears all results but the newest ``keep``, every time it is asked."""

    name = "clear-old"

    class Options(StageOptions):
        """How many stay."""

        keep: int = 2

    def propose(self, view: View) -> Proposals:
        """Oldest first."""
        results = view.results[: -self.options.keep] if self.options.keep else view.results
        for result in results:
            if not result.replaced:
                yield Replace(result, f"[cleared: {result.tool} {result.path}]", "old")


class Budget(Stage):
    """Shortens what was not sent yet: free."""

    name = "budget"

    class Options(StageOptions):
        """Where it cuts."""

        most: int = 200

    def propose(self, view: View) -> Proposals:
        """Newest results first."""
        for result in reversed(view.results):
            if result.sent:
                return
            if len(result.text) > self.options.most and not result.replaced:
                yield Replace(result, f"{result.text[: self.options.most]}\n[{view.stored(result.block)}]", "too big")


class FoldOld(Stage):
    """Summarises everything but the last ``keep`` messages."""

    name = "fold-old"

    class Options(StageOptions):
        """How many stay, and what stands for the rest."""

        keep: int = 2
        text: str = "Summary: the parser was read."
        ask: bool = False

    def propose(self, view: View) -> Proposals:
        """One fold of all that it may cover; the summary is asked for where the options say so."""
        run = list(view.messages)[: -self.options.keep]
        words = self.options.text
        if self.options.ask:
            words = yield Ask("Summarise:\n" + "\n".join(item.text for item in run), covers=run)
        for more in (0, 1, 2) if run else ():  # one of them ends between two rounds
            yield Fold(run[: len(run) - more], words, "old")


class DropOld(Stage):
    """Leaves out all rounds but the newest ``keep``."""

    name = "drop-old"

    class Options(StageOptions):
        """How many stay."""

        keep: int = 1

    def propose(self, view: View) -> Proposals:
        """One by one, oldest first."""
        for round in view.rounds[: -self.options.keep]:
            yield Drop(round, "old")


class Remind(Stage):
    """Adds a line at the end of every request."""

    name = "remind"

    def propose(self, view: View) -> Proposals:
        """The same words each time."""
        yield Insert("tail", "Remember the tests.", "reminder")


class Do(Stage):
    """Does what a test tells it to: ``Do.now`` is asked for edits of the view."""

    name = "do"
    now: ClassVar[Any] = None
    runs: ClassVar[int] = 0

    def propose(self, view: View) -> Proposals:
        """Whatever the test says."""
        type(self).runs += 1
        yield from (type(self).now(view) if type(self).now else ())


class KeepWords(Hook):
    """Pins the block that holds some words."""

    name = "keep-words"

    class Options(HookOptions):
        """The words; ``whole`` pins the block they stand in."""

        words: str = "never push"
        whole: bool = False

    @hookimpl
    def pre_compact(self, view: View, trigger: str) -> Iterator[Any]:
        """Look the words up."""
        if not self.options.whole:
            yield Pin(self.options.words, "standing order")
            return
        for item in view.messages:
            for block in item.message.blocks if item.message else ():
                if self.options.words in block.text:
                    yield Pin(block, "standing order")


class Greet(Hook):
    """Says at every start what the model should know."""

    name = "greet"

    class Options(HookOptions):
        """The words, and where they stand."""

        text: str = "House rule: test first."
        anchor: str = "tail"

    @hookimpl
    def session_start(self, session: Any, source: str) -> Iterator[Any]:
        """The same words whatever the source."""
        yield Insert("after_boundary" if source == "compact" else self.options.anchor, self.options.text)


class Watch(Hook):
    """Notes when it is called, and does what the test says."""

    name = "watch"
    calls: ClassVar[list[str]] = []
    pins: ClassVar[Any] = None
    judge: ClassVar[Any] = None

    @hookimpl
    def pre_compact(self, view: View, trigger: str) -> Any:
        """Remember the trigger."""
        self.calls.append(trigger)
        yield from (type(self).pins(view) if type(self).pins else ())

    @hookimpl
    def post_compact(self, before: View, after: View, report: Any) -> Any:
        """Judge."""
        yield from (type(self).judge(before, after, report) if type(self).judge else ())
