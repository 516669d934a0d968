"""trimtab keeps a long LLM-agent conversation inside its context window at the lowest cost, losing nothing."""

from __future__ import annotations

from trimtab.ask import Answer, Ask, Scripted
from trimtab.dialect import Tool
from trimtab.edits import Drop, Evict, Fold, Guide, Insert, Note, Param, Pin, Replace, Restore, Warn
from trimtab.errors import AskFailed, ContextOverflow, Overflow, ProfileError, ToolError, TrimtabError, Veto
from trimtab.hookspecs import hookimpl
from trimtab.profile import Profile, load
from trimtab.report import Report
from trimtab.request import Request
from trimtab.savings import Saved
from trimtab.session import Session
from trimtab.stage import Hook, HookOptions, Stage, StageOptions
from trimtab.values import Amount, Duration, Size
from trimtab.view import Result, Round, Turn, View

__version__ = "0.1.0"

__all__ = [
    "Amount",
    "Answer",
    "Ask",
    "AskFailed",
    "ContextOverflow",
    "Drop",
    "Duration",
    "Evict",
    "Fold",
    "Guide",
    "Hook",
    "HookOptions",
    "Insert",
    "Note",
    "Overflow",
    "Param",
    "Pin",
    "Profile",
    "ProfileError",
    "Replace",
    "Report",
    "Request",
    "Restore",
    "Result",
    "Round",
    "Saved",
    "Scripted",
    "Session",
    "Size",
    "Stage",
    "StageOptions",
    "Tool",
    "ToolError",
    "TrimtabError",
    "Turn",
    "Veto",
    "View",
    "Warn",
    "hookimpl",
    "load",
]
