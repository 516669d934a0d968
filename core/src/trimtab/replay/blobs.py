"""Where a replay keeps originals: in memory, shown under paths as a user's would read.

What a path costs, and where a preview is cut, depends on its letters: shown under the name of a temporary folder, the
figures would change from one replay to the next.
"""

from __future__ import annotations

from trimtab.storage.files import FileBlobs
from trimtab.storage.memory import MemoryBlobs

__all__ = ["ShownBlobs"]

SHOWN = "file:///home/user/.local/share/trimtab/blobs"
"""The shipped profiles' place for originals, for a user called user."""


class ShownBlobs(MemoryBlobs):
    """A `BlobStore` in this object whose `path` names files below `SHOWN`."""

    def __init__(self) -> None:
        super().__init__("memory:")
        shown = FileBlobs(SHOWN)
        self.path, self.owns = shown.path, shown.owns  # type: ignore[method-assign]
