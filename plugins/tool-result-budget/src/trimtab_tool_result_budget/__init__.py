"""The stage ``tool-result-budget``: big tool results are stored before they are first sent, and previewed."""

from __future__ import annotations

from trimtab import Stage, hookimpl

from trimtab_tool_result_budget.options import BudgetOptions, HeadTail, Limits
from trimtab_tool_result_budget.stage import ToolResultBudget

__all__ = ["BudgetOptions", "HeadTail", "Limits", "ToolResultBudget", "stage"]


@hookimpl
def stage() -> type[Stage]:
    """The stage's class."""
    return ToolResultBudget
