"""The automatic prompt cache: the longest prefix that an earlier request left in it.

Two kinds. Earlier models keep every prefix and read it in steps of some tokens. From GPT-5.6 on a prefix is kept only
up to a breakpoint, the implicit one behind the newest message or one that the caller set, and is read exactly so far.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from trimtab.testing.provider.cache import Entries, chain
from trimtab.testing.provider.openai.units import Unit
from trimtab.testing.provider.served import Billed
from trimtab.testing.provider.settings import Settings

__all__ = ["Hit", "has_breakpoints", "use_cache"]

WRITES = 4
"""Breakpoints that one request may write."""
TTLS = {"30m": 1_800.0, "12h": 43_200.0, "24h": 86_400.0}
"""Seconds for the words of ``prompt_cache_options.ttl`` and ``prompt_cache_retention``."""

_VERSION = re.compile(r"gpt-(\d+)(?:\.(\d+))?")


def has_breakpoints(model: str) -> bool:
    """Whether a model's cache works with breakpoints and tells what it wrote: GPT-5.6 and later."""
    version = _VERSION.search(model)
    return version is not None and (int(version[1]), int(version[2] or 0)) >= (5, 6)


@dataclass(frozen=True, slots=True)
class Hit:
    """Tokens of a request that were read from the cache and written to it."""

    read: int = 0
    written: int = 0

    def billed(self, tokens: int, output: int) -> Billed:
        """What a request of ``tokens`` costs with its ``output``."""
        return Billed(self.read, self.written, tokens - self.read - self.written, output)


def use_cache(
    entries: Entries, settings: Settings, body: Mapping[str, Any], units: Sequence[Unit], started: float
) -> Hit:
    """Read the longest prefix of ``units`` that is cached, and write those of this request."""
    model = str(body.get("model"))
    exact = has_breakpoints(model)
    ends = list(accumulate(unit.tokens for unit in units))
    keys = chain((unit.key for unit in units), repr((model, body.get("prompt_cache_key"))))
    cached = (index for index in reversed(range(len(units))) if entries.get(keys[index], started))
    found = next(cached, None)
    read = 0 if found is None else ends[found]
    if not exact:
        read -= read % settings.step
    if found is not None:
        entries.use(keys[found], started)
    ttl = _ttl(body, settings.ttl, exact)
    written = 0
    for index in _breakpoints(body, units) if exact else range(len(units)):
        if ends[index] >= settings.minimum:
            entries.write(keys[index], ends[index], ttl, started)
            written = max(written, ends[index] - read)
    return Hit(read, written if exact else 0)


def _breakpoints(body: Mapping[str, Any], units: Sequence[Unit]) -> list[int]:
    """Indices of the units behind which this request writes."""
    marked = [index for index, unit in enumerate(units) if unit.marked]
    if (body.get("prompt_cache_options") or {}).get("mode") == "explicit":
        return marked[-WRITES:]
    return [*marked[1 - WRITES :], len(units) - 1]


def _ttl(body: Mapping[str, Any], default: float, exact: bool) -> float:
    """Seconds: what the request asks for, else at least 30 minutes for the later models."""
    asked = (body.get("prompt_cache_options") or {}).get("ttl") or body.get("prompt_cache_retention")
    return TTLS.get(str(asked), max(default, TTLS["30m"]) if exact else default)
