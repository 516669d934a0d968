"""How far the cache model is from what providers reported, on the recorded sessions.

    python tests/benchmarks/hits.py

Of every session the requests that continue the one before (docs/metrics.md tells what counts): the share of their
tokens that was read from the cache, as simulated and as recorded, and the difference in percentage points; the last
column leaves out the requests of which the provider read nothing at all. Then the same on average for each format.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from hitrates import Hits, hits, recorded
from machine import heading, sessions


def main() -> None:
    """Print both tables."""
    sessions()  # a message where there are none
    print(heading())
    print("\n| format | session | requests | misses | simulated | recorded | difference | without misses |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    formats: dict[str, list[Hits]] = {}
    for name, recording in recorded():
        found = hits(recording)
        if not found.requests:
            continue
        formats.setdefault(name, []).append(found)
        shares = f"{100 * found.simulated / found.total:.1f} % | {100 * found.recorded / found.total:.1f} %"
        print(
            f"| {name} | {recording.session[:36]} | {found.requests} | {found.misses} | {shares} "
            f"| {100 * found.difference:+.1f} | {_points(found.steady)} |"
        )
    print("\n| format | sessions | requests | misses | simulated | recorded | mean | mean absolute | without misses |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, group in formats.items():
        print(f"| {name} | {len(group)} | {_summary(group)} |")


def _summary(group: Sequence[Hits]) -> str:
    """The mean over sessions, each counting alike."""
    size = len(group)
    steady = [found.steady for found in group if found.steady is not None]
    return " | ".join(
        (
            f"{sum(found.requests for found in group):,}",
            f"{sum(found.misses for found in group)}",
            f"{100 * sum(found.simulated / found.total for found in group) / size:.1f} %",
            f"{100 * sum(found.recorded / found.total for found in group) / size:.1f} %",
            f"{100 * sum(found.difference for found in group) / size:+.1f}",
            f"{100 * sum(abs(found.difference) for found in group) / size:.1f}",
            f"{100 * sum(steady) / max(len(steady), 1):+.1f}",
        )
    )


def _points(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:+.1f}"


if __name__ == "__main__":
    main()
