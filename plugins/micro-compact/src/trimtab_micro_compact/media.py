"""What is said of an image or a document that is no longer shown: kind, media type, size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trimtab.dialects.media import PAGES, decoded, image_size, pdf_pages
from trimtab.texts import clean, first

if TYPE_CHECKING:
    from trimtab.conversation import Block, Message
    from trimtab.view import View

__all__ = ["known", "large", "marks"]

KINDS = {"document": "document", "file": "document", "image": "image", "image_url": "image"}
KINDS |= {"input_file": "document", "input_image": "image"}
"""Types of content parts, of Anthropic, of OpenAI's chat and its Responses."""
TEXTS = ("input_text", "output_text", "text")
"""Types of those that are text."""
WORDS = 200
"""Characters of a document's title, a media type or an address that are repeated."""
HEADER = 196_608
"""Bytes in which an image says its size, a JPEG behind its metadata."""


def large(view: View, message: Message, n: int, most: int) -> bool:
    """Whether the images and documents of a block are ``most`` tokens or more together."""
    block = message.blocks[n]
    if not block.media or message.sizes[n] < most or block.id in view.projection.state.faces:
        return False
    return known(block) and message.sizes[n] - view.projection.count(block.id, block.text) >= most


def known(block: Block) -> bool:
    """Whether a block holds nothing beside text, images and documents."""
    parts = list(_parts(block))
    return bool(parts) and all(part.get("type") in KINDS for part in parts)


def marks(block: Block) -> list[str]:
    """One mark for each image and document: ``[image: image/png, 1,280 × 720 pixels, 340,112 bytes]``."""
    return [_mark(part) for part in _parts(block)]


def _parts(block: Block) -> Iterator[Mapping[str, Any]]:
    """The content parts of a block that are not text."""
    if block.type != "tool_result":
        yield block.wire
    elif isinstance(content := block.wire.get("content", block.wire.get("output")), list):
        yield from (part for part in content if part.get("type") not in TEXTS)


def _mark(part: Mapping[str, Any]) -> str:
    kind = KINDS[part["type"]]
    source = part.get("source") or part.get("image_url") or part.get("file") or part
    if not isinstance(source, Mapping):
        source = {"url": source}
    title, facts = part.get("title") or source.get("filename"), _facts(source)
    if isinstance(title, str) and title.strip():
        kind = f'{kind} "{_words(title)}"'
    return f"[{kind}: {', '.join(facts)}]" if facts else f"[{kind}]"


def _facts(source: Mapping[str, Any]) -> list[str]:
    """Media type (or address), pixels or pages, and bytes, as far as they are known without asking anybody."""
    kind, data = source.get("media_type"), source.get("data")
    for url in (source.get("url"), source.get("file_url"), source.get("file_data")):
        if isinstance(url, str) and url.startswith("data:"):
            head, _, data = url.partition(",")
            kind = head.removeprefix("data:").partition(";")[0]
        elif isinstance(url, str):
            kind = url
    facts = [_words(kind)] if isinstance(kind, str) and kind.strip() else []
    if not isinstance(data, str) or not data:
        return facts
    if source.get("type") == "text":
        return [*facts, f"{len(data):,} characters"]
    content = decoded(data)
    if pixels := image_size(content[:HEADER]):
        facts.append(f"{pixels[0]:,} × {pixels[1]:,} pixels")
    if content.startswith(b"%PDF") and (pages := pdf_pages(content)) != PAGES:  # also said of what cannot be counted
        facts.append(f"{pages:,} page{'s' * (pages > 1)}")
    return [*facts, f"{len(content):,} bytes"]


def _words(text: str) -> str:
    return first(clean(" ".join(text.split())), WORDS)
