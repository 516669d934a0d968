"""Encrypted content: what the provider lets the client carry for it, readable by the provider alone."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from trimtab.testing.provider.openai.errors import refused

__all__ = ["opened", "sealed", "sizes_of"]


def sealed(**fields: Any) -> str:
    """``fields`` as an opaque text; ``tokens`` must be one of them: what the content weighs for the model."""
    text = json.dumps(fields, sort_keys=True).encode()
    return "gAAA" + urlsafe_b64encode(sha256(text).digest()[:12] + text).decode()


def opened(item: Mapping[str, Any]) -> dict[str, Any]:
    """The fields sealed in an item's ``encrypted_content``; raises `Refused` for one that the provider did not make."""
    content = item.get("encrypted_content")
    try:
        raw = urlsafe_b64decode(str(content).removeprefix("gAAA"))
        if raw[:12] == sha256(raw[12:]).digest()[:12]:
            return dict(json.loads(raw[12:]))
    except ValueError:
        pass
    name = f"for item {item['id']}" if item.get("id") else f"{str(content)[:4]}...{str(content)[-4:]}"
    raise refused(
        f"The encrypted content {name} could not be verified. "
        "Reason: Encrypted content could not be decrypted or parsed.",
        code="invalid_encrypted_content",
    )


def sizes_of(item: Mapping[str, Any]) -> int:
    """Tokens of what is sealed in an item."""
    return int(opened(item)["tokens"])
