"""The OpenAI Chat Completions format, as OpenAI and the many compatible servers speak it."""

from __future__ import annotations

from trimtab.dialects.openai.dialect import OpenAIChat
from trimtab.dialects.openai.validate import validate

__all__ = ["OpenAIChat", "validate"]
