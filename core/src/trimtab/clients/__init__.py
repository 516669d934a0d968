"""Sessions behind the clients of providers: what is sent through them is prepared, observed and recovered."""

from __future__ import annotations

from trimtab.clients.asking import CallableAsker
from trimtab.clients.question import Progress

__all__ = ["CallableAsker", "Progress"]
