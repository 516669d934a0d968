"""Recorded sessions through profiles: what they cost, what stays visible (see docs/metrics.md)."""

from __future__ import annotations

from trimtab.replay.report import Tally, document
from trimtab.replay.run import replay
from trimtab.replay.setup import Setup

__all__ = ["Setup", "Tally", "document", "replay"]
