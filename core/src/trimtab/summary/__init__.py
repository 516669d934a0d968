"""Summaries: which run is folded, who writes it in nine sections, and the fold that it becomes.

For authors of stages; the kernel does not use it.
"""

from __future__ import annotations

from trimtab.summary.asking import ROOM, Written, summarise
from trimtab.summary.frame import boundary
from trimtab.summary.keep import Keep, span, tail
from trimtab.summary.mechanical import RULE, mechanical
from trimtab.summary.prompt import SECTIONS
from trimtab.summary.transcript import Transcript, transcript

__all__ = [
    "ROOM",
    "RULE",
    "SECTIONS",
    "Keep",
    "Transcript",
    "Written",
    "boundary",
    "mechanical",
    "span",
    "summarise",
    "tail",
    "transcript",
]
