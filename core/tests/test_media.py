"""Tokens of images and documents: headers, patches, pages, and what cannot be read."""

from __future__ import annotations

import base64
import json
import re
import struct
import time
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab.counters.estimate import Estimate
from trimtab.dialects.media import (
    IMAGE,
    PAGE,
    PAGES,
    image_size,
    image_tokens,
    media_tokens,
    pdf_pages,
    pdf_tokens,
)

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"


def png(width: int, height: int, body: bytes = b"") -> bytes:
    """A PNG's signature and header chunk, and whatever follows."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n\0\0\0\r" + header + struct.pack(">I", zlib.crc32(header)) + body


def gif(width: int, height: int) -> bytes:
    """A GIF's header."""
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0, 0, 0)


def jpeg(width: int, height: int, metadata: int = 0, frame: int = 0xC0) -> bytes:
    """A JPEG up to its start of frame, behind so many bytes of metadata, a table and a padding byte."""
    segments = [(0xE1, bytes(min(60_000, metadata - at))) for at in range(0, metadata, 60_000)]
    segments += [(0xC4, b"table"), (frame, struct.pack(">BHHB", 8, height, width, 3))]
    body = b"".join(b"\xff" + bytes([kind]) + struct.pack(">H", len(text) + 2) + text for kind, text in segments)
    return b"\xff\xd8" + body[:2].replace(b"\xff", b"\xff\xff") + body[2:] + b"\xff\xda"


def webp(kind: str, width: int, height: int) -> bytes:
    """A WebP's header: lossy (`VP8 `), lossless (`VP8L`) or extended (`VP8X`)."""
    bodies = {
        "VP8 ": b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height),
        "VP8L": b"\x2f" + struct.pack("<I", width - 1 | height - 1 << 14),
        "VP8X": b"\0\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"),
    }
    body = bodies[kind]
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + kind.encode() + struct.pack("<I", len(body)) + body


def pdf(pages: int, *, compressed: bool = False, tree: bool = True) -> bytes:
    """A PDF's objects: pages, a page tree (or none), in the open or in a compressed object stream."""
    objects = [b"<< /Type /Page /Parent 1 0 R /MediaBox [0 0 612 792] >>"] * pages
    if tree:
        kids = b" ".join(b"%d 0 R" % (2 + n) for n in range(pages))
        objects.insert(0, b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, pages))
    if not compressed:
        return b"%PDF-1.4\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % pair for pair in enumerate(objects, 1)) + b"%%EOF"
    packed = zlib.compress(b" ".join(objects))
    head = b"<< /Type /ObjStm /N %d /First 9 /Filter /FlateDecode /Length %d >>" % (len(objects), len(packed))
    return b"%PDF-1.7\n9 0 obj\n" + head + b"\nstream\r\n" + packed + b"\nendstream\nendobj\n%%EOF"


def block(kind: str, data: bytes | str, media_type: str = "image/png") -> dict[str, Any]:
    """An image or document block with a base64 source."""
    text = data if isinstance(data, str) else base64.b64encode(data).decode()
    return {"type": kind, "source": {"type": "base64", "media_type": media_type, "data": text}}


@pytest.mark.parametrize(
    "data",
    [
        png(640, 480),
        gif(640, 480),
        jpeg(640, 480),
        jpeg(640, 480, metadata=150_000, frame=0xC2),
        webp("VP8 ", 640, 480),
        webp("VP8L", 640, 480),
        webp("VP8X", 640, 480),
    ],
    ids=["png", "gif", "jpeg", "jpeg with metadata", "lossy webp", "lossless webp", "extended webp"],
)
def test_sizes_of_all_formats(data: bytes) -> None:
    """Each format tells its size by its first bytes, a JPEG behind its metadata too, also through base64."""
    assert image_size(data) == (640, 480)
    assert media_tokens(block("image", data)) == image_tokens(640, 480) == 23 * 18


@given(
    st.sampled_from([png(9, 9), gif(9, 9), jpeg(9, 9, 90), webp("VP8 ", 9, 9), webp("VP8L", 9, 9), webp("VP8X", 9, 9)]),
    st.integers(0, 80),
    st.binary(max_size=40),
)
def test_no_header_is_trusted(data: bytes, keep: int, tail: bytes) -> None:
    """A header cut off anywhere, with anything behind it, gives a size or None and never an error."""
    size = image_size(data[:keep] + tail)
    assert size is None or min(size) > 0
    assert media_tokens(block("image", data[:keep] + tail)) >= 1


# The vendor's pages on vision and on coordinates: tokens before 4.7, tokens from 4.7 on.
@pytest.mark.parametrize(
    ("width", "height", "coarse", "fine"),
    [
        (200, 200, 64, 64),
        (1000, 1000, 1296, 1296),
        (1092, 1092, 1521, 1521),
        (1920, 1080, 1560, 2691),
        (2000, 1500, 1564, 3888),
        (3840, 2160, 1560, 4784),
        (1075, 1520, 1551, 2145),
        (1, 1, 1, 1),
    ],
)
def test_image_tokens_are_the_documented_ones(width: int, height: int, coarse: int, fine: int) -> None:
    """Both resolution tiers give the documented tokens, either way round."""
    assert image_tokens(width, height, fine=False) == image_tokens(height, width, fine=False) == coarse
    assert image_tokens(width, height) == image_tokens(height, width) == fine


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_image_tokens_stay_within_the_limits(width: int, height: int) -> None:
    """No size, however odd, costs less than a token or more than the cap of its tier."""
    assert 1 <= image_tokens(width, height, fine=False) <= 1568
    assert 1 <= image_tokens(width, height) <= 4784


def test_base64_length_does_not_count() -> None:
    """Ten megabytes of pixels behind the same header cost the same, and only the header is decoded."""
    small, large = block("image", png(100, 50)), block("image", png(100, 50, bytes(10_000_000)))
    start = time.perf_counter()
    assert media_tokens(large) == media_tokens(small) == 8
    assert time.perf_counter() - start < 0.02


def test_line_breaks_in_base64() -> None:
    """Base64 in lines, as mail writes it, is read."""
    assert media_tokens(block("image", base64.encodebytes(png(100, 50)).decode())) == 8


@pytest.mark.parametrize(
    "source",
    [
        {"type": "url", "url": "https://example.com/a.png"},
        {"type": "file", "file_id": "file_1"},
        {"type": "base64", "data": "not base64 at all"},
        {"type": "base64", "data": None},
        None,
        "nonsense",
    ],
)
def test_unreadable_media_have_stated_defaults(source: object) -> None:
    """By URL, by file id or damaged: the stated tokens of an image, the stated pages of a PDF."""
    assert media_tokens({"type": "image", "source": source}) == IMAGE == 1600
    assert media_tokens({"type": "document", "source": source}) == PAGES * PAGE == 12_000


@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "compressed"])
@pytest.mark.parametrize("tree", [False, True], ids=["leaves", "tree"])
def test_pages_of_a_pdf(compressed: bool, tree: bool) -> None:
    """Pages are counted by the tree or by themselves, in the open or in object streams."""
    data = pdf(7, compressed=compressed, tree=tree)
    assert pdf_pages(data) == 7
    assert media_tokens(block("document", data, "application/pdf")) == pdf_tokens(7) == 7 * PAGE


def test_a_rewritten_page_is_one_page() -> None:
    """A file that was changed by appending (a signature, a comment) keeps the count of its tree."""
    assert pdf_pages(pdf(3) + b"\n3 0 obj\n<< /Type /Page /Annots [9 0 R] >>\nendobj\n%%EOF") == 3


def test_pages_that_cannot_be_counted() -> None:
    """No PDF, an encrypted one, or one beyond the API's limit: a stated number."""
    assert pdf_pages(b"") == pdf_pages(b"<html>/Type /Page") == PAGES
    assert pdf_pages(b"%PDF-1.7\n<< /Type /ObjStm >> stream\n" + bytes(range(256))) == PAGES
    assert pdf_pages(b"%PDF-1.7\n<< /Type /Pages /Count " + b"9" * 5_000 + b" >>") == 600
    assert pdf_pages(pdf(5_000)) == 600


@pytest.mark.parametrize(
    "text",
    [
        b"<< /Type /ObjStm >> stream\n" + zlib.compress(bytes(50_000_000)),
        b"/Type /ObjStm ",
        b"/Type /Pages /Count 1 ",
        b"<< /Type /Pages /Count ",
        b"/Type",
        b"/Type ",
    ],
    ids=["bomb", "streams", "nodes", "dictionaries", "types", "spaced types"],
)
def test_hostile_pdfs_take_no_time(text: bytes) -> None:
    """Ten megabytes made to keep a parser busy are given up on within seconds."""
    start = time.perf_counter()
    assert 0 < pdf_pages(b"%PDF-1.7\n" + text * (10_000_000 // len(text))) <= 600
    assert time.perf_counter() - start < 5


def test_documents_of_text() -> None:
    """Plain-text documents and parts are counted as text by the counter given, with title and context."""
    text = {"type": "text", "media_type": "text/plain", "data": "one two three"}
    document = {
        "type": "document",
        "source": text,
        "title": "A title",
        "context": "Some context",
        "citations": {},
    }
    assert media_tokens(document, len) == len("one two three" + "A title" + "Some context")
    assert media_tokens(document) == sum(map(Estimate(), ["one two three", "A title", "Some context"]))
    parts = [{"type": "text", "text": "four"}, block("image", png(28, 56)), "nonsense"]
    assert media_tokens({"type": "document", "source": {"type": "content", "content": parts}}, len) == 4 + 2
    assert media_tokens({"type": "document", "source": {"type": "content", "content": "four"}}, len) == 4


def test_other_blocks_count_as_json() -> None:
    """A block that is no medium, such as a search result beside text, counts as its JSON."""
    reference = {"type": "tool_reference", "tool_name": "grep"}
    assert media_tokens(reference, len) == len(json.dumps(reference))


@pytest.mark.corpus
def test_the_recorded_image() -> None:
    """The pasted picture: its request grew by 1,920 tokens with the answer before it."""
    if not CORPUS.is_dir():
        pytest.skip("the recorded sessions are not beside this repository")
    (path,) = CORPUS.glob("claude-code/entireio-cli__26dcd5518fea-0.jsonl")
    found = re.search(
        r'"source":(\{"type":"base64","media_type":"image/png","data":"[^"]+"\})', path.read_text("utf-8")
    )
    assert found
    tokens = media_tokens({"type": "image", "source": json.loads(found[1])}, fine=False)
    assert 1_400 < tokens <= 1_568
