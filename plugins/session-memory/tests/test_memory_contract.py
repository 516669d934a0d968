"""The stage passes the contract of all stages, with memories that are soon written and soon used."""

from __future__ import annotations

from typing import ClassVar

from trimtab.testing import StageContract
from trimtab_session_memory import SessionMemory


class TestSessionMemory(StageContract):
    """Written after nearly every answer."""

    stage = SessionMemory
    options: ClassVar = {"first": 100, "tokens": 50, "calls": 0}
