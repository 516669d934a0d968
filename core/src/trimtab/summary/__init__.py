"""Summaries: which run is folded, who writes it in nine sections, and the fold that it becomes.

For authors of stages; the kernel does not use it.
"""

from __future__ import annotations

from trimtab.summary.asking import RETRIES, ROOM, Writer, Written, summarise
from trimtab.summary.frame import boundary
from trimtab.summary.keep import Keep, scaled, span, tail
from trimtab.summary.mechanical import RULE, mechanical
from trimtab.summary.prompt import SECTIONS
from trimtab.summary.runs import counted, following, mended, unpinned
from trimtab.summary.transcript import SHED, Transcript, transcript

__all__ = [
    "RETRIES",
    "ROOM",
    "RULE",
    "SECTIONS",
    "SHED",
    "Keep",
    "Transcript",
    "Writer",
    "Written",
    "boundary",
    "counted",
    "following",
    "mechanical",
    "mended",
    "scaled",
    "span",
    "summarise",
    "tail",
    "transcript",
    "unpinned",
]
