"""The stage passes the contract of all stages, in both modes and with both writers."""

from __future__ import annotations

from typing import ClassVar

from trimtab.testing import StageContract
from trimtab_context_collapse import ContextCollapse


class TestSpans(StageContract):
    """With runs so short and young that nearly every round is soon in one."""

    stage = ContextCollapse
    options: ClassVar = {"rounds": 1, "age": 2, "cold_age": 1}


class TestModel(StageContract):
    """With sizes so small that it asks in nearly every pass; a bad answer must change nothing, so no fallback."""

    stage = ContextCollapse
    options: ClassVar = {
        "writer": "model",
        "stage_at": 300,
        "force_at": 600,
        "span": 300,
        "tail": 100,
        "fallback": "none",
    }


class TestStaleReads(StageContract):
    """With the other mode."""

    stage = ContextCollapse
    options: ClassVar = {"mode": "stale-reads"}
