"""The meter: what a request will weigh, anchored on the provider's own count (R8, hazards of counting).

A request weighs ``usage + factor * (raw - raw then)``: the provider's last word, plus what has changed since by our own
count times a factor that the session's growth calibrates. Edits change ``raw`` at once, so they are seen before fresh
usage arrives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Meter"]

PRIOR = 4_000
"""Uncalibrated tokens of growth that the family's factor counts for, beside what this session has shown."""

LOWEST, HIGHEST = 0.6, 2.2
"""Bounds of the calibrated factor; recorded sessions lie between 0.96 and 1.99 (measured on o200k)."""

KEPT = 8


@dataclass(frozen=True, slots=True)
class Anchor:
    """One measured request: the last message of it, our count, the provider's."""

    tip: str
    raw: int
    usage: float


class Meter:
    """Calibrated tokens for one session; ``family`` is the model family's tokens for one counted token."""

    def __init__(self, family: float) -> None:
        self.family = family
        """The factor before calibration; may follow the model that answers."""
        self._raw = 0.0
        self._used = 0.0
        self._anchors: list[Anchor] = []

    @property
    def factor(self) -> float:
        """Provider tokens for one counted token, as this session's growth has shown so far."""
        factor = (self.family * PRIOR + self._used) / (PRIOR + self._raw)
        return min(max(factor, LOWEST), HIGHEST)

    def hidden(self, on: Callable[[str], bool]) -> float:
        """Tokens that the provider counts and we do not see, by the newest anchor on this path (else any, else 0)."""
        anchor = self._anchor(on)
        return anchor.usage - self.factor * anchor.raw if anchor else 0.0

    def weigh(self, raw: float, on: Callable[[str], bool]) -> float:
        """Tokens of a request that we count as ``raw``.

        Where our count was above the provider's, what went since weighed in proportion: else nothing would be left.
        """
        anchor = self._anchor(on)
        if anchor is not None and 0 <= raw < anchor.raw and anchor.usage < self.factor * anchor.raw:
            return anchor.usage * raw / anchor.raw
        return self.hidden(on) + self.factor * raw

    def _anchor(self, on: Callable[[str], bool]) -> Anchor | None:
        newest = reversed(self._anchors)
        return next((a for a in newest if on(a.tip)), self._anchors[-1] if self._anchors else None)

    def forget(self) -> None:
        """The last measure is not to be believed."""
        self._anchors = self._anchors[:-1]

    def observe(self, tip: str, raw: int, usage: float, on: Callable[[str], bool]) -> None:
        """A request that we counted as ``raw`` was measured as ``usage``; rising steps calibrate."""
        before = next((a for a in reversed(self._anchors) if on(a.tip)), None)
        if before is not None and raw > before.raw and usage > before.usage:
            self._raw += raw - before.raw
            self._used += usage - before.usage
        self._anchors = [*self._anchors[1 - KEPT :], Anchor(tip, raw, usage)]
