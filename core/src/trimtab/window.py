"""The window and the sizes at which things happen, scaled down on small windows (R19)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Window"]

SHARES = {"reserve": 0.10, "auto": 0.065, "warn": 0.10, "block": 0.015}
"""Each constant's share of a 200k window: the most it may take of any window."""


@dataclass(frozen=True, slots=True)
class Window:
    """Token sizes of requests: ``effective`` is the window without the answer's reserve, the others lie below it."""

    window: int
    effective: int
    warn: int
    auto: int
    block: int

    @classmethod
    def of(cls, window: int, thresholds: Any) -> Window:
        """From a window in tokens and the profile's `thresholds:`."""
        size = {name: min(getattr(thresholds, name), int(share * window)) for name, share in SHARES.items()}
        effective = window - size["reserve"]
        return cls(window, effective, *(effective - size[name] for name in ("warn", "auto", "block")))

    def tokens(self, size: float | str) -> float:
        """A size as the profile writes it: tokens, a share of the effective window (up to 1), or a threshold's name."""
        if isinstance(size, str):
            return float(getattr(self, size))
        return size * self.effective if size <= 1 else float(size)
