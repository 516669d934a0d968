"""The stage passes the contract of all stages, in both modes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from trimtab.testing import StageContract
from trimtab_snip import Snip


class TestContract(StageContract):
    """As it comes."""

    stage = Snip


class TestContractOfTheModel(StageContract):
    """Where stage tools are not offered, mode ``model`` does nothing, and does not fail."""

    stage = Snip
    options: ClassVar[Mapping[str, Any]] = {"mode": "model"}
