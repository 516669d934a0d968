"""Spans and metrics of every pass and answer, where OpenTelemetry is installed; without it nothing happens."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trimtab.dialect import Usage
    from trimtab.engine import Engine
    from trimtab.request import Request

__all__ = ["Telemetry", "choose"]


class Telemetry:
    """What a session tells of itself; this one tells nobody. What a method raises is the kernel's to pass over."""

    def passed(self, session: Engine, request: Request) -> None:
        """A pass is over, and ``request`` goes out."""

    def observed(self, session: Engine, usage: Usage) -> None:
        """An answer came, with what the provider says it used."""


@cache
def choose() -> Telemetry:
    """OpenTelemetry's, if its API is installed, with the providers that the application sets, now or later."""
    try:
        from trimtab.telemetry.otel import OpenTelemetry

        return OpenTelemetry()
    except Exception:  # not installed, or one too old: the agent needs neither
        return Telemetry()
