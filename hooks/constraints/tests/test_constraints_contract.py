"""The hook passes the contract of all hooks."""

from __future__ import annotations

from trimtab.testing import HookContract
from trimtab_constraints import Constraints


class TestContract(HookContract):
    """As it comes: its pins are moving ones."""

    hook = Constraints
