"""The stage passes the contract of all stages, with either writer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from trimtab.testing import StageContract
from trimtab_auto_compact import AutoCompact


class TestMechanical(StageContract):
    """Without a model, keeping so little that it soon has something to fold."""

    stage = AutoCompact
    options: ClassVar[Mapping[str, Any]] = {"writer": "mechanical", "keep": {"messages": 2}}


class TestModel(StageContract):
    """With a model and no fallback: where its answer is bad nothing changes."""

    stage = AutoCompact
    options: ClassVar[Mapping[str, Any]] = {"fallback": "none", "keep": {"messages": 2}}
