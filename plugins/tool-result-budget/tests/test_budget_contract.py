"""The stage passes the contract of all stages, with its limits as they are and with small ones."""

from __future__ import annotations

from typing import Any, ClassVar

from trimtab.testing import StageContract
from trimtab_tool_result_budget.stage import ToolResultBudget


class TestContract(StageContract):
    """As it comes."""

    stage = ToolResultBudget


class TestSmallLimits(StageContract):
    """With limits that most results are over."""

    stage = ToolResultBudget
    options: ClassVar[dict[str, Any]] = {
        "limits": {"read": 600, "ranged_read": 600, "search": 400, "shell": 400, "other": 400},
        "message": 2_000,
    }
