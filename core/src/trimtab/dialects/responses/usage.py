"""What Responses reports of a request, with a whole answer or at the end of a stream."""

from __future__ import annotations

from typing import Any

from trimtab.dialect import Usage
from trimtab.dialects.openai.usage import counted
from trimtab.dialects.wires import fields_or_none

__all__ = ["usage"]


def usage(response: Any) -> Usage | None:
    """The usage of a response, of the event that ends a stream, or a bare usage; None where there is none."""
    fields = fields_or_none(response)
    return counted(fields_or_none(fields.get("response")) or fields, "input_tokens", "output_tokens")
