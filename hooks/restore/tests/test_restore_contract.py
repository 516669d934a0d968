"""What every hook should do, in both wire formats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from trimtab.testing import HookContract
from trimtab_restore import Restore


class TestFromTheConversation(HookContract):
    hook = Restore


@pytest.mark.slow
class TestFromDisk(HookContract):
    hook = Restore
    options: ClassVar[Mapping[str, Any]] = {"disk": True, "files": {"count": 2, "each": "1k"}}
