"""Retention: how much of what the recorded answer had to know the request still shows, or leads back to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from trimtab.replay.anchors import LIMIT, candidates
from trimtab.replay.reader import Part, Reader, Reading
from trimtab.replay.texts import holds
from trimtab.replay.ways import Classify, Place, Ways, unchanged_reads

__all__ = ["Kept", "Retention"]

NEWEST = 2
"""Messages at the end that are no memory: the last call and its result, which the answer reacts to.

Messages of one role in a row count as one, as the provider merges them.
"""

_LABEL = re.compile(r"^(?:\S*?\.\w{1,10}[:-])?\s*\d+(?:→|\t|[:-])")
"""What a read or a search prints in front of a source line: its number, after the file's name."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What one request keeps of its ``anchors``, as counts; and the texts to fetch again for the others."""

    anchors: int
    visible: int
    strictly: int
    recoverable: int
    missing: frozenset[int]
    strictly_missing: frozenset[int]


class Retention:
    """Measures the requests of one session; ``classify`` tells tool class and path of a call."""

    def __init__(self, reader: Reader, ways: Ways, classify: Classify) -> None:
        self._reader = reader
        self._ways = ways
        self._classify = classify

    def measure(self, said: Sequence[Reading], shown: Sequence[Reading], answer: Sequence[Reading]) -> Kept:
        """What ``shown``, sent for the conversation ``said``, keeps of what ``answer`` refers to."""
        request = _Request(self._reader, self._ways, self._classify, said, shown)
        blocks = [part.block for _, part in _parts(answer)]
        anchors = list(islice(filter(request.known, candidates(blocks)), LIMIT))
        unseen = [anchor for anchor in anchors if not request.shows(anchor)]
        loose = [anchor for anchor in anchors if not request.shows_strictly(anchor)]
        back = sum(request.leads_back(anchor) for anchor in unseen)
        return Kept(
            anchors=len(anchors),
            visible=len(anchors) - len(unseen),
            strictly=len(anchors) - len(loose),
            recoverable=len(anchors) - len(unseen) + back,
            missing=request.sources(unseen),
            strictly_missing=request.sources(loose),
        )


class _Request:
    """One request beside what was said before it."""

    def __init__(
        self,
        reader: Reader,
        ways: Ways,
        classify: Classify,
        said: Sequence[Reading],
        shown: Sequence[Reading],
    ) -> None:
        self.texts = reader.texts
        self.ways = ways
        self.places: dict[int, list[Place]] = {}
        for at, part in _parts(said):
            self.places.setdefault(part.text, []).append(Place(at, part))
        self.old = _older(said)
        self.shown = {part.text for _, part in _parts(shown)}
        self.results = {part.block.call: part.text for _, part in _parts(shown) if part.block.type == "tool_result"}
        self.calls = {part.block.call for _, part in _parts(shown) if part.block.type == "tool_use"}
        self.new = self.shown - self.places.keys()
        self.said = said
        self.classify = classify

    @cached_property
    def repeatable(self) -> set[str]:
        """The shown calls that would give the same result again."""
        return self.calls & unchanged_reads(self.said, self.classify)

    def known(self, anchor: str) -> bool:
        """Whether it was said before, and not only in the newest messages."""
        return any(
            self.places[text][0].message < self.old for text in self.texts.holding(anchor) if text in self.places
        )

    def shows(self, anchor: str) -> bool:
        return any(text in self.shown for text in self.texts.holding(anchor))

    def shows_strictly(self, anchor: str) -> bool:
        """Whether an unchanged block or a whole source line shows it, not only a bare name in a list."""
        holding = self.texts.holding(anchor)
        if any(text in self.shown and text in self.places for text in holding):
            return True
        lines = [line for text in holding if text in self.new for line in self.texts[text].splitlines()]
        lines = [line for line in lines if holds(line, anchor)]
        if not lines:
            return False
        sources = (line for text in self.sources([anchor]) for line in self.texts[text].splitlines())
        bodies = {_LABEL.sub("", line).strip() for line in sources if holds(line, anchor)}
        return any(holds(body, anchor) and holds(line, body) for body in bodies for line in lines)

    def sources(self, anchors: Iterable[str]) -> frozenset[int]:
        """The earlier texts in which the anchors stand."""
        return frozenset(text for anchor in anchors for text in self.texts.holding(anchor) if text in self.places)

    def leads_back(self, anchor: str) -> bool:
        """Whether every source of an unseen anchor has a way back that leads to it."""
        return all(any(self._way(place, anchor) for place in self.places[source]) for source in self.sources([anchor]))

    def _way(self, place: Place, anchor: str) -> bool:
        block = place.part.block
        if block.type == "tool_result":
            if block.call in self.repeatable:
                return True
            if block.call in self.results:
                return self.ways.lead(self.results[block.call], anchor)
        return any(self.ways.lead(text, anchor) for text in self.new)


def _older(said: Sequence[Reading]) -> int:
    """Return how many messages stand before the newest."""
    runs, at = 0, len(said)
    while at and (runs < NEWEST or said[at - 1].role == said[at].role):
        at -= 1
        runs += at == 0 or said[at - 1].role != said[at].role
    return at


def _parts(readings: Sequence[Reading]) -> Iterable[tuple[int, Part]]:
    return ((at, part) for at, reading in enumerate(readings) for part in reading.parts)
