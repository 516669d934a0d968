"""The cache model against what providers reported: the read share of append-only requests. Shows no contents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from corpus import plain
from machine import SHARED
from trimtab.counters.estimate import Estimate
from trimtab.dialect import Usage
from trimtab.parts import part
from trimtab.provider import resolve
from trimtab.replay.reader import Reader
from trimtab.replay.setup import SUFFIXES
from trimtab.replay.simulate import Bill
from trimtab.replay.sizes import Recorded
from trimtab.transcripts import Recording, Request, read

__all__ = ["CORPUS", "Hits", "hits", "recorded"]

CORPUS = SHARED / "corpus"


@dataclass(slots=True)
class Hits:
    """One session; tokens of the requests that continue the one before, and of them what was read."""

    requests: int = 0
    """That continue the one before, and whose usage says what was read."""
    total: float = 0.0
    simulated: float = 0.0
    recorded: float = 0.0
    misses: int = 0
    """Requests of which nothing at all was read, though the cache should have held more than its minimum."""
    missed: float = 0.0
    """Tokens of these."""
    missed_simulated: float = 0.0

    @property
    def difference(self) -> float:
        """Simulated less recorded share, of all these requests."""
        return (self.simulated - self.recorded) / self.total

    @property
    def steady(self) -> float | None:
        """The same without the misses; None where there is nothing else."""
        rest = self.total - self.missed
        return (self.simulated - self.missed_simulated - self.recorded) / rest if rest else None


def hits(recording: Recording) -> Hits:
    """Simulate all requests by the recorded clock and the facts of the model that answered each; compare them."""
    found, before = Hits(), None
    for request, usage, simulated in _simulated(recording):
        if before is not None and _continues(before, (request, usage)):
            missed = usage.read == 0 and simulated > 0
            found.requests += 1
            found.total += usage.total
            found.simulated += simulated
            found.recorded += usage.read
            found.misses += missed
            found.missed += usage.total * missed
            found.missed_simulated += simulated * missed
        before = request, usage
    return found


def _simulated(recording: Recording) -> Iterator[tuple[Request, Usage, float]]:
    """The measured requests, each with what was reported and the tokens that the model says were read."""
    dialect = part("dialect", recording.dialect)()
    reader, sizes, bills = Reader(dialect, Estimate()), Recorded(), dict[str, Bill]()
    for request in recording.requests:
        usage = dialect.usage({"usage": request.usage, "model": request.model})
        if usage is None or not usage.split:
            continue
        said = reader(request.messages)
        if usage.model not in bills:
            bills[usage.model] = Bill(resolve(_service(recording, request)))
        bill = bills[usage.model]
        before = bill.read
        bill.send("head", said, sizes.sizes(request.branch, said, 0.0, usage.total, 1.2), request.now)
        yield request, usage, bill.read - before


def _service(recording: Recording, request: Request) -> object:
    """The recorded model's own facts, but the time to live that the request asked for, where the usage tells."""
    written = (request.usage or {}).get("cache_creation") or {}
    cache = {"ttl": "1h"} if written.get("ephemeral_1h_input_tokens") else {}
    return plain("minimal", provider={"kind": recording.dialect, "model": request.model or "", "cache": cache}).provider


def _continues(before: tuple[Request, Usage], now: tuple[Request, Usage]) -> bool:
    """Whether the history only grew, the size did not fall, and nothing was sent between that is not recorded.

    More was read than the request before had, with its answer: then another one was between.
    """
    (old, told), (new, tells) = before, now
    grew = old.branch == new.branch and old.length < new.length and told.total <= tells.total
    return grew and tells.read <= told.total + told.output


def recorded() -> Iterator[tuple[str, Recording]]:
    """All recorded sessions that a reader knows, with what they are grouped by: the format, and who served them."""
    for path in sorted(file for file in CORPUS.rglob("*") if file.suffix in SUFFIXES):
        recording = read(path)
        several = recording.format == "claude-code" and b'"msg_bdrk_' in path.read_bytes()
        yield f"{recording.format}, Bedrock" if several else recording.format, recording
