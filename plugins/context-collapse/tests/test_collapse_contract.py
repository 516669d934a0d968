"""The stage passes the contract of all stages in both modes."""

from __future__ import annotations

from typing import ClassVar

from trimtab.testing import StageContract
from trimtab_context_collapse import ContextCollapse


class TestSpans(StageContract):
    """With runs so short and young that nearly every round is soon in one."""

    stage = ContextCollapse
    options: ClassVar = {"rounds": 1, "age": 2, "cold_age": 1}


class TestStaleReads(StageContract):
    """With the other mode."""

    stage = ContextCollapse
    options: ClassVar = {"mode": "stale-reads"}
