"""The stage passes the contract of all stages."""

from __future__ import annotations

from trimtab.testing import StageContract
from trimtab_reactive_compact import ReactiveCompact


class TestReactiveCompact(StageContract):
    """With a model that answers well or badly; in the small window of some of its conversations it recovers."""

    stage = ReactiveCompact
