"""The stage ``read-result``: edits nothing, and offers the model a tool that reads a stored text back."""

from __future__ import annotations

from trimtab import Stage, hookimpl

from trimtab_read_result.stage import ReadOptions, ReadResult

__all__ = ["ReadOptions", "ReadResult", "stage"]


@hookimpl
def stage() -> type[Stage]:
    """The stage's class."""
    return ReadResult
