"""The storage that a profile names, for the commands that need nothing else of a session."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trimtab.profile import Storage
    from trimtab.storage.gc import Progress
    from trimtab.stores import BlobStore, LedgerStore

__all__ = ["bar", "opened", "unknown"]

NEWEST = 20
"""Sessions that an error lists."""


def opened(profile: str | None, **said: Any) -> tuple[LedgerStore, BlobStore, Storage]:
    """The stores that a profile names, and its ``storage`` section, in which ``said`` is stronger."""
    from trimtab.parts import part
    from trimtab.profile import load

    storage = load(profile, overrides={"stages": [], "hooks": [], "storage": said}).storage
    ledger, blobs = (part(kind, url.partition(":")[0])(url) for kind, url in storage)
    return ledger, blobs, storage


def unknown(session: str, stored: Sequence[str], where: str) -> Exception:
    """The error for an id that none of ``stored`` (the newest first) is: the nearest, and those that there are."""
    import difflib

    from trimtab.errors import Unknown

    if not stored:
        return Unknown(f"no session {session!r}, nor any other", where=where)
    near = difflib.get_close_matches(session, stored, n=1) or [one for one in stored if one.startswith(session)][:1]
    label = "there" if len(stored) <= NEWEST else f"the newest of {len(stored):,}"
    shown = {*near, *stored[:NEWEST]}
    return Unknown(f"no session {session!r}", where=where, given=session, available=shown, label=label)


def _shown() -> bool:
    return sys.stderr.isatty()


@contextmanager
def bar() -> Iterator[Progress]:
    """Show on stderr how far long work is, where that is a terminal."""
    if not _shown():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as shown:
        tasks: dict[str, Any] = {}

        def told(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = shown.add_task(what, total=total)
            shown.update(tasks[what], completed=done)

        yield told
