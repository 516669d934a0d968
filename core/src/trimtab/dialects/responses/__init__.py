"""The format of OpenAI's Responses API: each item of ``input`` is a message to the kernel."""

from __future__ import annotations

from trimtab.dialects.responses.dialect import Responses
from trimtab.dialects.responses.validate import validate

__all__ = ["Responses", "validate"]
