"""The vendor's error body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trimtab.testing.provider.endpoint import Refused

__all__ = ["EXTRA", "body", "extra"]

EXTRA = "Extra inputs are not permitted"


def body(refused: Refused, request: str) -> Mapping[str, Any]:
    """An error as the API sends it; ``where`` is put before the message, ``code`` goes into the details."""
    message = f"{refused.where}: {refused.message}" if refused.where else refused.message
    error: dict[str, Any] = {"type": refused.type, "message": message}
    if refused.code:
        error["details"] = {"error_code": refused.code}
    return {"type": "error", "error": error, "request_id": request}


def extra(where: str) -> Refused:
    """A field that the API does not know."""
    return Refused(400, EXTRA, where=where)
