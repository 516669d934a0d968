"""Writing what a command makes: to stdout, or to a file that is never seen half-written."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

from trimtab.errors import TrimtabError

__all__ = ["STD", "write_json"]

STD = Path("-")
"""As a path: stdin, or stdout."""


def write_json(said: Any, out: Path | None, like: Path) -> None:
    """Write JSON to ``out`` (None or ``-``: stdout); who may read ``like`` may read a new file. Raises `TrimtabError`.

    ``like`` may be ``-`` too: then a new file is the user's alone.
    """
    # In a JSON string the escape that backslashreplace writes for a lone surrogate is the right one.
    data = json.dumps(said, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace") + b"\n"
    if out is None or out == STD:
        sys.stdout.flush()
        typer.get_binary_stream("stdout").write(data)
        return
    try:
        _replace(out.resolve(), data, like)
    except OSError as error:
        raise TrimtabError(f"cannot be written: {error.strerror}", where=str(out)) from error


def _replace(out: Path, data: bytes, like: Path) -> None:
    """Under ``out`` lie the old bytes or all of the new ones."""
    if out.exists() and not out.is_file():
        out.write_bytes(data)  # a device or a pipe is written to, not replaced
        return
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.")
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if out.exists() or like != STD:
            shutil.copymode(out if out.exists() else like, name)
        os.replace(name, out)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
