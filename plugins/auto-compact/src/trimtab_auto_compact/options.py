"""The keys of `auto-compact` in a profile."""

from __future__ import annotations

from typing import Literal

from trimtab import StageOptions
from trimtab.summary import ROOM, Keep, Writer
from trimtab.values import Size

__all__ = ["CompactOptions"]


class CompactOptions(StageOptions):
    """What stays as it was said, and who summarises the rest from what."""

    keep: Keep = Keep()
    """The newest messages that stay: ``messages``, or ``tokens``, ``texts`` and ``max``."""
    writer: Writer = "model"
    """Who summarises: the model behind ``Session.open(ask=…)``, rules, or the provider (``provider.compaction``)."""
    fallback: Literal["mechanical", "none"] = "mechanical"
    """Who does it where nobody can be asked or the answer cannot be used; ``none``: then nothing changes."""
    input: Literal["flat", "shared"] = "shared"
    """What the model reads: the request as it stands, which is in the cache, or all that was said as one text."""
    room: Size = ROOM
    """Tokens of the summary at most, on a window of 200k; on a smaller one in proportion."""
