"""Which session a request belongs to: what the caller says outright, in a context, or in the request itself."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["Chosen", "identify", "wrapped", "wrapped_session"]

Chosen = str | Callable[[Mapping[str, Any]], str | None] | None
"""The caller's choice: an id, or what finds one in the body of a request (None: it does not know)."""

_log = logging.getLogger("trimtab")
_wrapped: ContextVar[str | None] = ContextVar("trimtab_session", default=None)


@contextmanager
def wrapped_session(id: str) -> Iterator[None]:
    """Requests made in this block, also in tasks that it starts, belong to the session ``id``.

    A thread started in it has a context of its own: hand it ``contextvars.copy_context().run``.
    """
    token = _wrapped.set(id)
    try:
        yield
    finally:
        _wrapped.reset(token)


def wrapped() -> str | None:
    """The id of the `wrapped_session` block around the caller."""
    return _wrapped.get()


def identify(chosen: Chosen, body: Mapping[str, Any], told_by: Iterable[Any] = ()) -> str | None:
    """The id of the session of a request; None where nothing tells it (then `trimtab.clients.sessions.derived`).

    In this order: `wrapped_session`, for it is nearest to the call, ``chosen``, and ``told_by``: the values of the
    fields of the request that may name it, the surest first; only texts that are not empty count. A ``chosen`` that
    raises is logged and passed over.
    """
    try:
        said = chosen(body) if callable(chosen) else chosen
    except Exception as error:  # a callable of the caller's must not cost him the request
        _log.warning("the session of a request could not be told: %s", type(error).__name__)
        said = None
    return next((one for one in (_wrapped.get(), said, *told_by) if isinstance(one, str) and one), None)
