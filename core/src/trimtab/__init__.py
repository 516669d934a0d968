"""trimtab keeps a long LLM-agent conversation inside its context window at the lowest cost, losing nothing."""

from __future__ import annotations

from trimtab.ask import Ask, Scripted
from trimtab.edits import Drop, Fold, Guide, Insert, Note, Pin, Replace, Restore
from trimtab.errors import AskFailed, ContextOverflow, ProfileError, TrimtabError, Veto
from trimtab.hookspecs import hookimpl
from trimtab.profile import Profile, load
from trimtab.report import Report
from trimtab.session import Request, Session
from trimtab.stage import Hook, HookOptions, Stage, StageOptions
from trimtab.values import Amount, Duration, Size
from trimtab.view import Result, Round, Turn, View

__version__ = "0.1.0"

__all__ = [
    "Amount",
    "Ask",
    "AskFailed",
    "ContextOverflow",
    "Drop",
    "Duration",
    "Fold",
    "Guide",
    "Hook",
    "HookOptions",
    "Insert",
    "Note",
    "Pin",
    "Profile",
    "ProfileError",
    "Replace",
    "Report",
    "Request",
    "Restore",
    "Result",
    "Round",
    "Scripted",
    "Session",
    "Size",
    "Stage",
    "StageOptions",
    "TrimtabError",
    "Turn",
    "Veto",
    "View",
    "hookimpl",
    "load",
]
