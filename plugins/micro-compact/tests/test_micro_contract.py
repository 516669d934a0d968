"""Both forms of the stage pass the contract of all stages, as they come and with everything small."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from trimtab.testing import StageContract
from trimtab_micro_compact.stage import MicroCompact


class TestCleared(StageContract):
    """``form: cleared``, of which little stays."""

    stage = MicroCompact
    options: ClassVar[Mapping[str, Any]] = {"form": "cleared", "keep": 1, "media": 1}


class TestDigest(StageContract):
    """``form: digest`` of what was only just sent, inputs included."""

    stage = MicroCompact
    options: ClassVar[Mapping[str, Any]] = {"form": "digest", "age": 1, "cold_age": 0, "inputs": True, "media": 1}
