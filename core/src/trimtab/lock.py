"""One pass at a time: the lock that all sessions with one id in this process share (R28)."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar
from typing import Any
from weakref import WeakValueDictionary

from trimtab.errors import TrimtabError

__all__ = ["lock_of"]

PAUSE = 0.002
"""Seconds between looks at a lock that a thread may hold; an event loop must not block on it."""

_locks: WeakValueDictionary[str, Any] = WeakValueDictionary()
_inside: ContextVar[tuple[object, ...]] = ContextVar("trimtab_inside", default=())
"""The passes that this code is part of."""


def lock_of(id: str) -> _Lock:
    """The lock of all sessions with this id."""
    found: _Lock = _locks.setdefault(id, _Lock())
    return found


class _Lock:
    """One pass at a time per session id in this process (R28).

    Code inside a pass (an asker, a hook, or a task or thread of theirs) that asks for it again is told so: it would
    wait for itself.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner: int | None = None
        self._pass = object()

    def _check(self) -> None:
        if self._pass in _inside.get() or self._owner == threading.get_ident():
            raise TrimtabError("a pass of this session is running: do not call it from an asker, a stage or a hook")

    def _enter(self) -> None:
        self._owner, self._pass = threading.get_ident(), object()
        self._token = _inside.set((*_inside.get(), self._pass))

    def __enter__(self) -> None:
        self._check()
        self._lock.acquire()
        self._enter()

    def __exit__(self, *_: object) -> None:
        _inside.reset(self._token)
        self._owner, self._pass = None, object()
        self._lock.release()

    async def __aenter__(self) -> None:
        if self._pass in _inside.get():
            self._check()
        while not self._lock.acquire(blocking=False):
            await asyncio.sleep(PAUSE)
        self._enter()

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()
