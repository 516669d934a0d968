"""Exact o200k_base tokens by the tiktoken library, from ranks on this machine; nothing is ever downloaded."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from trimtab.errors import Unknown

__all__ = ["Tiktoken"]

RANKS = "fb374d419588a4632f3f557e76b4b70aebbca790"
"""The name under which tiktoken caches the o200k ranks: the SHA-1 of their URL."""

DIGEST = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Their SHA-256. tiktoken deletes a file with another one and downloads it anew, so it is checked first."""

PIECE = 5_000
"""Characters tokenized at once. A million white spaces overflow tiktoken's stack, and merging an unbroken run
took quadratic time in older versions (0.8: 28 ms for 10,000 times "a", 110 ms for 20,000)."""


class Tiktoken:
    """Counts o200k_base tokens; special tokens are plain text, a lone surrogate is a replacement character.

    Raises `errors.Unknown` when the package is not installed or its ranks are not on this machine.
    """

    name = "tiktoken:o200k"

    def __init__(self) -> None:
        try:
            import tiktoken
        except ImportError:
            raise Unknown(
                "the counter 'tiktoken' needs the package tiktoken: pip install 'trimtab[tiktoken]'"
            ) from None
        _require(_folder())
        self._encode = tiktoken.get_encoding("o200k_base").encode_ordinary

    def __call__(self, text: str) -> int:
        """Tokens of ``text``; where 2,500 characters hold no line end or space, it may be one too many."""
        return sum(len(self._encode(piece)) for piece in _pieces(text))


def _folder() -> Path | None:
    """Where tiktoken looks for its ranks, or None when it is told to look nowhere (an empty variable)."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return Path(os.environ[variable]) if os.environ[variable] else None
    return Path(tempfile.gettempdir()) / "data-gym-cache"


def _require(folder: Path | None) -> None:
    help = f"put o200k_base.tiktoken there as {RANKS}, or use the counter 'estimate'"
    if folder is None:
        raise Unknown(f"tiktoken's ranks are not cached: set TIKTOKEN_CACHE_DIR to a folder, {help}")
    try:
        digest = hashlib.sha256((folder / RANKS).read_bytes()).hexdigest()
    except OSError:
        raise Unknown(f"tiktoken's ranks are not in {folder} (TIKTOKEN_CACHE_DIR): {help}") from None
    if digest != DIGEST:
        raise Unknown(f"{folder / RANKS} is not the o200k ranks (SHA-256 {digest[:8]}…): {help}")


def _pieces(text: str) -> Iterator[str]:
    """Pieces of at most `PIECE` characters, cut behind a line end, else before a space, else anywhere."""
    start = 0
    while len(text) - start > PIECE:
        middle, end = start + PIECE // 2, start + PIECE
        cut = text.rfind("\n", middle, end) + 1 or max(text.rfind(" ", middle, end), 0) or end
        yield text[start:cut]
        start = cut
    yield text[start:]
