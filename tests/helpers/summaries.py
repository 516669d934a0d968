"""Views of conversations for the tests of summaries, and an answer that is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trimtab import Session, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.summary import SECTIONS
from trimtab.view import View

__all__ = ["GOOD", "opened", "view_of"]

GOOD = "\n".join(f"{heading}\nThe parser was read." for heading in SECTIONS)


def opened(
    *stages: Any, dialect: str = "anthropic", window: int = 200_000, asker: Any = None, **profile: Any
) -> Session:
    """A session with these stages of a profile; its clock stands still."""
    provider = {"kind": dialect, "window": window, "prefix_bound": False}
    made = {"counter": "estimate", "provider": provider, "stages": list(stages), **profile}
    stores: Any = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
    return Session.open("s", load("minimal", overrides=made, env={}, cwd="/"), clock=lambda: 0.0, ask=asker, **stores)


def view_of(messages: Sequence[Any], *stages: Any, **how: Any) -> View:
    """The view of a conversation, in a session in which somebody can be asked."""
    session = opened(*stages, **{"asker": lambda ask: GOOD, **how})
    session.prepare(list(messages))
    return session.view
