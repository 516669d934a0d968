"""What every hook should do, in both wire formats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from trimtab.testing import HookContract
from trimtab_verify import Verify

CHECKED: Mapping[str, Any] = {
    "facts": ["Mend the parser"],
    "patterns": [r"def load_\d+"],
    "files": ["src/f1.py", "f3.py"],
}


class TestRestores(HookContract):
    hook = Verify
    options: ClassVar[Mapping[str, Any]] = CHECKED


@pytest.mark.slow
class TestVetoes(HookContract):
    hook = Verify
    options: ClassVar[Mapping[str, Any]] = {**CHECKED, "on_missing": "veto"}


@pytest.mark.slow
class TestWarns(HookContract):
    hook = Verify
    options: ClassVar[Mapping[str, Any]] = {**CHECKED, "on_missing": "warn"}
