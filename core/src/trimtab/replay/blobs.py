"""Where a replay keeps originals: files in a temporary folder, shown under paths as a user's would read.

What a path costs, and where a preview is cut, depends on its letters: shown as it is, the random name of a temporary
folder would change the figures from one replay to the next.
"""

from __future__ import annotations

from trimtab.storage.files import FileBlobs

__all__ = ["ShownBlobs"]

SHOWN = "file:///home/user/.local/share/trimtab/blobs"
"""The shipped profiles' place for originals, for a user called user."""


class ShownBlobs:
    """A `BlobStore` in ``file:///folder`` whose `path` names files below `SHOWN`."""

    def __init__(self, url: str) -> None:
        files, shown = FileBlobs(url), FileBlobs(SHOWN)
        self.put, self.get, self.delete, self.entries = files.put, files.get, files.delete, files.entries
        self.path, self.owns = shown.path, shown.owns

    @staticmethod
    def key(data: bytes, suffix: str) -> str:
        """See `BlobStore.key`."""
        return FileBlobs.key(data, suffix)
