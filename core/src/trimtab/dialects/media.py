"""Tokens of images and documents by their pixels and pages, never by the length of their base64.

These are the provider's own tokens: no calibration of text counts applies to them.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import struct
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from trimtab.counters.estimate import Estimate

__all__ = [
    "IMAGE",
    "PAGE",
    "PAGES",
    "base64_size",
    "decoded",
    "image_size",
    "image_tokens",
    "media_tokens",
    "pdf_pages",
    "pdf_tokens",
]

IMAGE = 1_600
"""Tokens of an image whose size cannot be read (by URL, by file id, damaged): what a large one costs on the
standard tier, and about a 1,100 x 1,100 one on the high-resolution tier."""

PAGE = 2_400
"""Tokens of a PDF page, text and picture. The vendor says 7,000 for three pages; a public measurement of
October 2026 says 1,600 for a scan, 2,330 for text and 2,480 for a table."""

PAGES = 5
"""Pages of a PDF that cannot be counted (by URL, by file id, encrypted, damaged)."""

PATCH = 28
FINE, COARSE = (2_576, 4_784), (1_568, 1_568)
"""Longest edge in pixels and most tokens of an image, on Claude from 4.7 on and before: the vendor's vision
documentation, "Resolution and token cost" and "How Claude resizes and pads images", August 2026."""

MOST_PAGES = 600
"""The API takes no more pages in one request."""

_REACH = (4_096, 262_144)
"""Base64 characters to decode: a header, and a JPEG's colour profiles and previews before its size."""

_estimate = Estimate()


def image_tokens(width: int, height: int, *, fine: bool = True) -> int:
    """Tokens of an image of this size in pixels: one for each patch of 28 x 28 pixels.

    A larger image is first scaled down to the largest size of its shape within the limits on edge and tokens:
    ``fine`` those of Claude 4.7 and later (4,784 tokens), else those before (1,568 tokens).
    """
    edge, most = FINE if fine else COARSE
    long, short = max(width, height, 1), min(width, height)

    def patches(side: int) -> tuple[int, int]:
        return -(-side // PATCH), -(-max(1, round(side * short / long)) // PATCH)

    def too_big(side: int) -> bool:
        columns, rows = patches(side)
        return columns * PATCH > edge or columns * rows > most

    side = bisect_left(range(1, long + 1), True, key=too_big)
    columns, rows = patches(max(side, 1))
    return columns * rows


def image_size(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG, JPEG, GIF or WebP by its first bytes; else None."""
    try:
        size = _size(data)
    except (IndexError, struct.error):  # cut off
        return None
    return size if size and min(size) > 0 else None


def _size(data: bytes) -> tuple[int, int] | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
        width, height = struct.unpack_from(">II", data, 16)
        return width, height
    if data.startswith((b"GIF87a", b"GIF89a")):
        width, height = struct.unpack_from("<HH", data, 6)
        return width, height
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _webp(data)
    return _jpeg(data) if data.startswith(b"\xff\xd8") else None


def _webp(data: bytes) -> tuple[int, int] | None:
    """The three kinds of WebP: lossy, lossless, and extended with a canvas of its own."""
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Walk the segments to the start of frame: markers C0 to CF but for C4, C8 and CC."""
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # padding
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        else:
            at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    return None


_LEAF = re.compile(rb"/Type\s*/Page(?![a-zA-Z])")
_NODE = re.compile(rb"/Type\s*/Pages\b")
_COUNT = re.compile(rb"/Count\s+(\d{1,9})")
_PACKED = re.compile(rb"/Type\s*/ObjStm\b")
_NODES, _NEAR, _STREAMS, _INFLATED = 2_000, 20_000, 200, 1 << 20
"""How many nodes of the page tree, how many bytes around each, how many compressed object streams and how
much of each are looked at: hostile files cost a second, not minutes."""


def pdf_pages(data: bytes) -> int:
    """Pages of a PDF by its page tree, else by its page objects; `PAGES` where neither can be read."""
    pages = leaves = 0
    for text in _objects(data) if data.startswith(b"%PDF") else ():
        pages = max(pages, _tree(text))
        leaves += len(_LEAF.findall(text))
    return min(pages or leaves, MOST_PAGES) or PAGES


def _tree(text: bytes) -> int:
    """The largest count of any node of the page tree: its root's, also after changes appended to the file."""
    largest = 0
    for match in islice(_NODE.finditer(text), _NODES):
        start = text.rfind(b"<<", max(0, match.start() - _NEAR), match.start())
        end = text.find(b">>", match.end(), match.end() + _NEAR)
        if 0 <= start < end:
            largest = max([largest, *map(int, _COUNT.findall(text, start, end))])
    return largest


def _objects(data: bytes) -> Iterator[bytes]:
    """The file itself, then its compressed object streams, where newer files keep their page tree."""
    yield data
    for match in islice(_PACKED.finditer(data), _STREAMS):
        start = data.find(b"stream", match.end(), match.end() + _NEAR)
        if start >= 0:
            packed = data[start + 6 : start + 6 + _INFLATED].lstrip(b"\r\n")
            with suppress(zlib.error):
                yield zlib.decompressobj().decompress(packed, _INFLATED)


def pdf_tokens(pages: int) -> int:
    """Tokens of so many PDF pages, text and pictures."""
    return pages * PAGE


def media_tokens(block: Mapping[str, Any], count: Callable[[str], int] = _estimate, *, fine: bool = True) -> int:
    """Tokens of one image or document block, or of another block that stands beside text in a result.

    ``count`` counts the texts in it (plain-text documents, titles, other blocks as JSON); ``fine`` as in
    `image_tokens`. A source that does not show its size (URL, file id, damaged data) has the stated defaults.
    """
    kind, source = block.get("type"), block.get("source")
    shape = source if isinstance(source, Mapping) else {}
    if kind == "text":
        return count(str(block.get("text") or ""))
    if kind == "image":
        size = base64_size(shape.get("data"))
        return image_tokens(*size, fine=fine) if size else IMAGE
    if kind != "document":
        return count(json.dumps(block, ensure_ascii=False, default=str))
    about = sum(count(text) for key in ("title", "context") if isinstance(text := block.get(key), str))
    if shape.get("type") == "text":
        return about + count(str(shape.get("data") or ""))
    if shape.get("type") == "content":
        content = shape.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
        return about + sum(media_tokens(part, count, fine=fine) for part in parts if isinstance(part, Mapping))
    return about + pdf_tokens(pdf_pages(decoded(shape.get("data"))))


def base64_size(data: object) -> tuple[int, int] | None:
    """The size of a base64 image: from its first bytes, for a JPEG from as far as its metadata may reach."""
    return next(filter(None, (image_size(decoded(data, reach)) for reach in _REACH)), None)


def decoded(data: object, characters: int | None = None) -> bytes:
    """The bytes of base64 text, line breaks allowed; empty where it is none."""
    if not isinstance(data, str):
        return b""
    text = "".join(data[:characters].split())
    try:
        return base64.b64decode(text[: len(text) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""
