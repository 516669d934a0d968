"""What a pass did, for callers, hooks and `explain`: figures in calibrated tokens."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from typing import Any, Literal

from trimtab.projection import Pinned

__all__ = ["Boundary", "Outcome", "Report", "Timing"]


@dataclass(slots=True)
class Outcome:
    """One decision: the edits of one stage in one pass."""

    stage: str
    free: bool
    """Whether it changes nothing that was sent before."""
    edits: int
    freed: float
    rewritten: float
    """Tokens that the provider reads anew because of it; 0 where the cache held nothing there."""
    boundary: bool
    reason: str
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Boundary:
    """A summary that stands where the view starts, as the pass left it that made it; tokens are calibrated."""

    type: str
    """The stage that made it."""
    trigger: str
    """``auto``, ``manual``, or ``overflow``: made because the request was, or would have been, refused as too large."""
    tokens_before: float
    tokens_after: float
    kept: int
    """Messages behind it that stand as said."""
    pins: int
    """Pins that it carries."""
    stages: tuple[str, ...]
    """All stages that decided something in the pass, in order."""
    decision: int = 0
    time: float = 0.0
    """Epoch seconds."""

    @classmethod
    def of(cls, data: Mapping[str, Any], decision: int, time: float) -> Boundary:
        """Read what `row` wrote, as a part of that decision; raises `KeyError`, `TypeError` for what is none."""
        said = {name: data[name] for name in cls.__slots__ if name not in ("decision", "time")}
        return cls(**{**said, "stages": tuple(said["stages"])}, decision=decision, time=time)

    def row(self) -> dict[str, Any]:
        """What is recorded of it: JSON data."""
        said = {name: getattr(self, name) for name in self.__slots__ if name not in ("decision", "time")}
        return {**said, "stages": list(self.stages)}


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a part of a pass took. A stage's time holds that of its questions, the pass's all."""

    kind: Literal["ask", "hook", "pass", "stage"]
    name: str
    """Of the plugin; of a question its purpose, of a pass its trigger."""
    start: float
    """Epoch seconds."""
    seconds: float


@dataclass(slots=True)
class Report:
    """One pass. ``keys`` and ``weights`` describe the request: element 0 is system and tools, then one per message."""

    trigger: str = "auto"
    decisions: list[Outcome] = field(default_factory=list)
    refused: dict[str, Counter[str]] = field(default_factory=dict)
    """Stage to reason to how often."""
    failures: list[str] = field(default_factory=list)
    """Plugins that raised, with what they raised; their edits were dropped."""
    warnings: list[str] = field(default_factory=list)
    error: str = ""
    """The class of the error that the pass ended with; then there is no request."""
    repairs: int = 0
    tokens_before: float = 0.0
    tokens_after: float = 0.0
    held: int = 0
    """Leading elements of `keys` that the provider still held when the request started."""
    keys: Sequence[str] = ()
    weights: Sequence[float] = ()
    """Uncalibrated tokens of each element, what we do not see counted with the first."""
    meter: dict[str, float] = field(default_factory=dict)
    """`factor` and `hidden`: a request weighs hidden + factor * uncalibrated tokens."""
    pins: Sequence[Pinned] = ()
    boundary: Boundary | None = None
    """The one that this pass made."""
    cleared: float = 0.0
    """Tokens that the provider says it cleared by itself from the request before this one."""
    timings: list[Timing] = field(default_factory=list)
    """In the order in which they ended, the pass last."""

    @contextmanager
    def timed(self, kind: Literal["ask", "hook", "pass", "stage"], name: str) -> Iterator[None]:
        """Take the time of a part."""
        start, begun = time.time(), time.perf_counter()
        try:
            yield
        finally:
            self.timings.append(Timing(kind, name, start, time.perf_counter() - begun))

    @property
    def ends(self) -> list[float]:
        """Calibrated tokens up to and including each element."""
        return list(accumulate(self.meter["factor"] * weight for weight in self.weights))

    def refuse(self, stage: str, reason: str) -> None:
        """Count one refusal."""
        self.refused.setdefault(stage, Counter())[reason] += 1

    def as_dict(self) -> dict[str, Any]:
        """JSON-able, without the request's keys and the timings: the same for the same work."""
        return {
            "trigger": self.trigger,
            "decisions": [{name: getattr(outcome, name) for name in Outcome.__slots__} for outcome in self.decisions],
            "refused": {stage: dict(reasons) for stage, reasons in self.refused.items()},
            "error": self.error,
            "failures": self.failures,
            "warnings": self.warnings,
            "boundary": asdict(self.boundary) if self.boundary else None,
            "pins": [asdict(pin) for pin in self.pins],
            "repairs": self.repairs,
            "cleared": self.cleared,
            "tokens_before": round(self.tokens_before),
            "tokens_after": round(self.tokens_after),
        }
