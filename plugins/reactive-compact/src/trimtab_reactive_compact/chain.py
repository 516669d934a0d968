"""The steps of a recovery: what each would do about a request that is too large."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from trimtab import Ask, AskFailed, Fold, Overflow
from trimtab.summary import RETRIES, ROOM, RULE, Written, boundary, counted, mechanical, scaled, summarise, tail

from trimtab_reactive_compact.clamp import FIRST, LAST, clamp
from trimtab_reactive_compact.media import media
from trimtab_reactive_compact.rounds import Group, enough, groups, runs
from trimtab_reactive_compact.truncated import TAG, truncated

if TYPE_CHECKING:
    from trimtab.projection import Item
    from trimtab.view import View

    from trimtab_reactive_compact.options import ReactiveOptions

__all__ = ["Chain"]

Edits = Generator[Any, Any, None]

FRAME = 200
"""Tokens reckoned with for what says where a summary comes from, or how much was taken away (chosen)."""


@dataclass(frozen=True, slots=True)
class Chain:
    """What can be done about one overflow."""

    view: View
    overflow: Overflow
    options: ReactiveOptions

    def steps(self, done: Sequence[str]) -> Iterator[tuple[str, Edits]]:
        """What is left behind the last step that is ``done``, but for those with nothing to do: name, and its edits."""
        if self.overflow.bytes and ("media" in done or (edits := media(self.view))):
            if "media" not in done:
                yield "media", (edit for edit in edits)
            return  # where there were media, fewer tokens are no answer; else the bytes are those of texts
        steps: dict[str, Callable[[], Edits | None]] = {
            "clamp": self._clamp,
            "model": self._model,
            "mechanical": self._mechanical,
            "truncate": self._truncate,
        }
        taken = max((n for n, name in enumerate(steps, 1) if name in done), default=0)
        for name in list(steps)[taken:]:
            if (work := steps[name]()) is not None:
                yield name, work

    # ------------------------------------------------------------------ the steps: None where there is nothing to do

    def _clamp(self) -> Edits | None:
        """Where no fold would be enough, the newest round itself is too large (H48); cutting it there is free."""
        found = groups(self.view)
        least = self._room + FRAME if found else 0
        if sum(group.tokens for group in found) >= self._excess + least:
            return None
        return clamp(self.view, self.overflow.target, _end(found), FIRST)

    def _model(self) -> Edits | None:
        able = self.options.writer == "model" and self.view.asks
        return self._asked() if able and runs(self.view, groups(self.view)) else None

    def _mechanical(self) -> Edits | None:
        return self._told() if runs(self.view, groups(self.view)) else None

    def _truncate(self) -> Edits:
        """The oldest rounds, then what is large in the newest round, then earlier summaries too."""
        for run in runs(self.view, self._oldest(_leaving(groups(self.view)), FRAME)):
            yield truncated(self.view, run)
        yield from clamp(self.view, self.overflow.target, _end(groups(self.view)), LAST)
        for run in runs(self.view, self._oldest(groups(self.view), FRAME)):
            yield truncated(self.view, run)

    # ------------------------------------------------------------------ how much

    @property
    def _excess(self) -> float:
        return self.view.tokens - self.overflow.target

    @property
    def _room(self) -> float:
        """Tokens that a summary may take."""
        return scaled(self.view, ROOM)

    def _oldest(self, found: Sequence[Group], room: float) -> Sequence[Group]:
        """As few of the oldest groups as free what is too much and ``room``; more where less is to be kept."""
        count = enough(found, self._excess + room)
        if self.options.keep is not None:
            kept = tail(self.view, self.options.keep)
            count = max(count, sum(end <= kept for end in accumulate(len(group.items) for group in found)))
        return found[:count]

    # ------------------------------------------------------------------ what stands there instead

    def _asked(self) -> Edits:
        """A model's summary; where the question was too long, of fewer rounds: more of the newest stay as they are."""
        oldest = self._oldest(groups(self.view), self._room + FRAME)
        for _ in range(1 + RETRIES):
            run = max(runs(self.view, oldest), key=lambda run: sum(item.tokens for item in run), default=[])
            try:
                written = (yield from _written(self.view, run)) if run else None
            except AskFailed as failed:
                if failed.overflow is None:
                    return
                oldest = oldest[: -max(1, enough(oldest[::-1], failed.overflow.gap))]
                continue
            if written is not None and written.by == "model":
                yield self._summary(run, written.text, "a model")
            return

    def _told(self) -> Edits:
        """A summary by rule; what a model wrote before stays beside it, what a rule wrote is told anew."""
        room = self._room + FRAME
        parts = runs(self.view, self._oldest(_leaving(groups(self.view), unless=(RULE, TAG)), room))
        for run in parts or runs(self.view, self._oldest(groups(self.view), room)):
            weight = self.view.context.meter.factor * sum(item.tokens for item in run)
            yield self._summary(run, mechanical(self.view, run, min(self._room, weight / 2)), "rule")

    def _summary(self, run: Sequence[Item], text: str, by: str) -> Fold:
        return boundary(self.view, run, text, f"{counted(self.view, run)} summarised by {by}: too large")


def _written(view: View, run: Sequence[Item]) -> Generator[Ask, str, Written]:
    """A summary; raises `AskFailed` where there is no answer, instead of having one written about less or by rule."""
    writing = summarise(view, run, shared=False)
    try:
        writing.send((yield next(writing)))
    except StopIteration as stop:
        written: Written = stop.value
        return written
    raise AskFailed("one question is asked at a time")


def _leaving(found: Sequence[Group], unless: Sequence[str] = ()) -> list[Group]:
    """The same with earlier summaries staying where they are, but for those with certain words."""
    return [
        replace(group, tokens=0.0, stays=True)
        if group.summary and not any(words in group.summary for words in unless)
        else group
        for group in found
    ]


def _end(found: Sequence[Group]) -> int:
    """The path position behind what may be folded."""
    return found[-1].items[-1].end if found else 0
