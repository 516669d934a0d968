"""Tokens of the parts of chat messages: text by the counter, media by pixels, pages and seconds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from trimtab.dialects.media import base64_size, decoded, pdf_pages, pdf_tokens

__all__ = ["AUDIO", "IMAGE", "part_tokens", "tile_tokens"]

BASE, TILE = 85, 170
"""Tokens of an image, and of each of its tiles: the vendor's vision guide on GPT-4o, 4.1 and 4.5. Later models have
other figures of the same order (GPT-5: 70 and 140); the model is not known here."""

SIDE, SQUARE, SHORT = 512, 2_048, 768
"""Pixels: a tile's side; what an image is first scaled down to fit in; its shorter side after that (same source)."""

IMAGE = BASE + 4 * TILE
"""Tokens of an image whose size cannot be read (by URL, damaged): a square one of 1,024 pixels."""

AUDIO = {"mp3": 2_000, "wav": 4_800}
"""Bytes of audio for one token. The vendor counts a token for each 100 ms of a user's audio; taken for that are a mono
signal of 24 kHz and 16 bits, and compression to 160 kbit/s."""


def tile_tokens(width: int, height: int, detail: str = "auto") -> int:
    """Tokens of an image of this size in pixels: a base, and one tile for each 512 x 512 of it, scaled down.

    Of low ``detail`` it costs the base alone; ``auto`` counts as high.
    """
    if detail == "low":
        return BASE
    scale = min(1.0, SQUARE / max(width, height))
    scale = min(scale, SHORT / min(width, height))
    across, down = (-(-max(1, round(side * scale)) // SIDE) for side in (width, height))
    return BASE + TILE * across * down


def part_tokens(part: Mapping[str, Any], count: Callable[[str], int]) -> int:
    """Uncalibrated tokens of one content part."""
    kind = part.get("type")
    if kind in ("refusal", "text"):
        return count(str(part.get(kind) or ""))
    inner = part.get(kind) if isinstance(kind, str) else None
    fields = inner if isinstance(inner, Mapping) else {}
    if kind == "image_url":
        detail = str(fields.get("detail") or "auto")
        size = base64_size(_data(fields.get("url")))
        return tile_tokens(*size, detail) if size else BASE if detail == "low" else IMAGE
    if kind == "file":
        return pdf_tokens(pdf_pages(decoded(_data(fields.get("file_data")))))
    if kind == "input_audio":
        return len(str(fields.get("data") or "")) * 3 // 4 // AUDIO.get(str(fields.get("format")), AUDIO["mp3"])
    return count(json.dumps(part, ensure_ascii=False, default=str))


def _data(url: Any) -> str:
    """The base64 of a data URL, or of what is no URL at all."""
    text = url if isinstance(url, str) else ""
    if text.startswith("data:"):
        return text.partition(",")[2]
    return "" if "://" in text[:16] else text
