"""The strict check of deletions from the provider's cache (`trimtab.dialects.anthropic.cache_edits`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from trimtab.dialects.anthropic.cache_edits import REFERENCE
from trimtab.dialects.checks import Violation, is_list
from trimtab.dialects.wires import field_of

__all__ = ["References"]


@dataclass(slots=True)
class References:
    """What a list of messages refers to and deletes: each result once, behind its reference, in its place."""

    referred: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)

    def message(self, content: Sequence[Any], where: str) -> Iterator[Violation]:
        """Take the blocks of the next message."""
        results = {n for n, block in enumerate(content) if field_of(block, "type") == "tool_result"}
        found = set()
        for n, block in enumerate(content):
            place = f"{where}[{n}]"
            reference = field_of(block, REFERENCE)
            if reference is not None and (n not in results or reference != field_of(block, "tool_use_id")):
                yield Violation("cache_edits", place, f"there is no result {reference!r} here to refer to")
            elif reference is not None:
                found.add(str(reference))
            if field_of(block, "type") == "cache_edits":
                if n < max(results, default=0) or n == len(content) - 1:
                    yield Violation("cache_edits", place, "deletions stand behind all results, and end no message")
                yield from self._deletions(field_of(block, "edits"), place)
        self.referred |= found

    def _deletions(self, edits: Any, where: str) -> Iterator[Violation]:
        if not is_list(edits) or not edits:
            yield Violation("shape", f"{where}.edits", "cache_edits needs edits (a list)")
            return
        for n, edit in enumerate(edits):
            place, id = f"{where}.edits[{n}]", field_of(edit, REFERENCE)
            if field_of(edit, "type") != "delete" or not isinstance(id, str):
                yield Violation("shape", place, "an edit is of type delete and has a cache_reference")
            elif id not in self.referred:
                yield Violation("cache_edits", place, f"no message before has a result with the reference {id!r}")
            elif id in self.deleted:
                yield Violation("cache_edits", place, f"result {id!r} is deleted twice")
            else:
                self.deleted.add(id)
