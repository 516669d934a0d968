"""The stage passes the contract of all stages."""

from __future__ import annotations

from trimtab.testing import StageContract
from trimtab_read_result import ReadResult


class TestContract(StageContract):
    """As it comes."""

    stage = ReadResult
