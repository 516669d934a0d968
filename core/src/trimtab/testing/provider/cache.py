"""What is cached: prefixes by their hash, each for a time that every use renews."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["Entries", "Entry", "chain", "digest"]


@dataclass(slots=True)
class Entry:
    """One cached prefix: its tokens, the seconds it lives after each use, and when it was last used."""

    tokens: int
    ttl: float
    used: float

    def alive(self, now: float) -> bool:
        """Whether it can still be read at ``now``, in epoch seconds."""
        return now < self.used + self.ttl


class Entries:
    """All cached prefixes; a key stands for everything up to one place of a request."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str, now: float) -> Entry | None:
        """The living entry of a key; looking renews nothing."""
        entry = self._entries.get(key)
        return entry if entry and entry.alive(now) else None

    def use(self, key: str, started: float) -> None:
        """Renew an entry that a request which started at ``started`` has read."""
        entry = self._entries[key]
        entry.used = max(entry.used, started)

    def write(self, key: str, tokens: int, ttl: float, started: float) -> None:
        """Store a prefix; one that lives keeps the longer of both times to live."""
        old = self.get(key, started)
        self._entries[key] = Entry(tokens, max(ttl, old.ttl) if old else ttl, started)


def digest(value: Any) -> str:
    """A hash of a JSON value; the order of keys does not count."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def chain(values: Iterable[Any], start: str = "") -> list[str]:
    """For each value the hash of ``start`` and of all values up to it: the keys of a request's prefixes."""
    keys = []
    key = start
    for value in values:
        key = hashlib.sha256((key + digest(value)).encode()).hexdigest()
        keys.append(key)
    return keys
