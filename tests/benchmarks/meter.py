"""How far the meter is from what the provider measured, on the recorded sessions under the profile `minimal`.

    python tests/benchmarks/meter.py [estimate] [tiktoken]

Fresh usage, usage ten requests old, and no usage at all (tests/helpers/corpus.py says how), for each token counter.
The spread is that of the sessions: the smallest and the largest median of one with at least ten such requests.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from corpus import meter_errors, percentile
from machine import heading, sessions
from trimtab import TrimtabError
from trimtab.counters import choose
from trimtab.transcripts import read

KINDS = {
    "fresh": "fresh, rising steps",
    "old": "ten requests old, rising steps",
    "none": "none",
    "growth": "none, growth of a branch while it rises",
}
FEW = 10
"""Requests of a kind that a session must have for its median to count in the spread."""


def main(counters: Sequence[str]) -> None:
    """Print a table for each counter."""
    recordings = [read(path) for path in sessions()]
    requests = sum(len(recording.requests) for recording in recordings)
    print(heading("tiktoken"))
    print(f"{len(recordings)} sessions, {requests:,} requests, profile minimal; errors in % of what was measured")
    for name in counters:
        try:
            counter = choose(name)
        except TrimtabError as error:
            print(f"\n{name}: not measured: {error}")
            continue
        start = time.monotonic()
        found = [meter_errors(recording, name) for recording in recordings]
        print(f"\ncounter {counter.name} ({time.monotonic() - start:.0f} s)")
        print("| usage | requests | median error | 95th percentile | signed median | medians of sessions |")
        print("|---|--:|--:|--:|--:|--:|")
        for kind, title in KINDS.items():
            show(title, [getattr(errors, kind) for errors in found])


def show(title: str, sessions: Sequence[Sequence[float]]) -> None:
    """Print one row."""
    signed = [error for session in sessions for error in session]
    sizes = [abs(error) for error in signed]
    medians = [percentile(map(abs, session), 0.5) for session in sessions if len(session) >= FEW]
    figures = percentile(sizes, 0.5), percentile(sizes, 0.95), percentile(signed, 0.5), min(medians), max(medians)
    median, high, bias, least, most = (100 * figure for figure in figures)
    print(f"| {title} | {len(signed):,} | {median:.2f} | {high:.2f} | {bias:+.2f} | {least:.2f} to {most:.2f} |")


if __name__ == "__main__":
    main(sys.argv[1:] or ["estimate", "tiktoken"])
