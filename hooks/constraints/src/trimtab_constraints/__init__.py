"""trimtab's hook ``constraints``: standing instructions in what the user typed stay."""

from __future__ import annotations

from trimtab_constraints.find import Found, Kind, find
from trimtab_constraints.hook import Constraints
from trimtab_constraints.latest import Statement, latest

__all__ = ["Constraints", "Found", "Kind", "Statement", "find", "latest"]
