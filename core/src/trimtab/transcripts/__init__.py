"""Readers of recorded agent sessions: `read` finds the format by content and returns a `Recording`."""

from __future__ import annotations

from trimtab.transcripts.detect import FORMATS, Format, read
from trimtab.transcripts.records import Recording, Request

__all__ = ["FORMATS", "Format", "Recording", "Request", "read"]
