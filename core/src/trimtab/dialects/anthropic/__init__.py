"""The Anthropic Messages format."""

from __future__ import annotations

from trimtab.dialects.anthropic.dialect import Anthropic
from trimtab.dialects.anthropic.validate import Violation, validate

__all__ = ["Anthropic", "Violation", "validate"]
