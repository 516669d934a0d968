"""The Anthropic Messages format."""

from __future__ import annotations

from trimtab.dialects.anthropic.cache_edits import without_edits
from trimtab.dialects.anthropic.dialect import Anthropic
from trimtab.dialects.anthropic.validate import Violation, validate

__all__ = ["Anthropic", "Violation", "validate", "without_edits"]
