"""Wire messages as replay looks at them: each parsed, weighed and indexed once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.conversation import OVERHEAD, Block, Role, Wire
from trimtab.dialect import Count, Dialect
from trimtab.replay.anchors import spoken
from trimtab.replay.texts import Texts

__all__ = ["Part", "Reader", "Reading"]


@dataclass(frozen=True, slots=True)
class Part:
    """One block and the number of what it says among the session's `Texts`."""

    block: Block
    text: int


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One message. ``key`` stands for its JSON bytes without cache markers; ``raw``: uncalibrated tokens."""

    key: str
    role: Role
    parts: tuple[Part, ...]
    raw: int


class Reader:
    """Reads the messages of one session, said and shown alike."""

    def __init__(self, dialect: Dialect, count: Count) -> None:
        self.dialect = dialect
        self.count = count
        self.texts = Texts()
        self._readings: dict[str, Reading] = {}
        # The message is kept beside its reading: while it lives, its address can belong to no other.
        self._known: dict[int, tuple[Wire, Reading]] = {}

    def __call__(self, messages: Sequence[Wire]) -> list[Reading]:
        """One reading per message."""
        return [self._read(message) for message in messages]

    def _read(self, message: Wire) -> Reading:
        known = self._known.get(id(message))
        if known is None:
            known = self._known[id(message)] = (message, self._new(message))
        return known[1]

    def _new(self, message: Wire) -> Reading:
        plain = self.dialect.plain(message)
        key = hashlib.blake2b(json.dumps(plain).encode(), digest_size=16).hexdigest()
        if key not in self._readings:
            role, blocks = self.dialect.parse(plain, key)
            raw = OVERHEAD + sum(self.dialect.size(block, self.count) for block in blocks)
            parts = tuple(Part(block, self.texts.add(spoken(block))) for block in blocks)
            self._readings[key] = Reading(key, role, parts, raw)
        return self._readings[key]
