"""The file in which it stands what the user trusts: JSON that a person can read, for the user alone."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trimtab.errors import StorageError
from trimtab.storage.disk import doing, make_folder

__all__ = ["TrustFile"]


class TrustFile:
    """Rows of JSON data; readers see the old file or the new one, writers wait for each other."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def rows(self, read: Callable[[Any], Any]) -> list[Any]:
        """What ``read`` makes of each row; raises `StorageError` where the file cannot be read, or a row cannot."""
        try:
            return [read(one) for one in json.loads(self.file.read_text("utf-8"))["trusted"]]
        except FileNotFoundError:
            return []
        except (AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
            what = f"cannot be read ({why}), so nothing is trusted; mend it, or remove it and run `trimtab trust` again"
            raise StorageError(what, where=str(self.file)) from None

    def change(self, change: Callable[[], list[dict[str, Any]]]) -> None:
        """Write the rows that ``change`` gives, while nobody else does; raises `StorageError`."""
        with doing("write", str(self.file)), contextlib.ExitStack() as stack:
            make_folder(os.path.abspath(self.file.parent))
            lock = os.open(self.file.with_suffix(".lock"), os.O_CREAT | os.O_RDWR, 0o600)
            stack.callback(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX)
            stack.callback(fcntl.flock, lock, fcntl.LOCK_UN)  # closing does not unlock what a forked child inherited
            said = {"trusted": change()}
            new = self.file.with_suffix(".new")
            kind = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_NOFOLLOW
            with open(os.open(new, kind, 0o600), "w", encoding="ascii") as file:
                json.dump(said, file, indent=2)
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, self.file)
