"""What the limits and previews of `tool-result-budget` trade, on the recorded Claude Code sessions.

    python tests/benchmarks/limits.py [--model MODEL]

One limit for all tool classes, and the shipped limits by class, each with every preview: the input side in % of what
the recorded requests cost, the same with everything missing fetched again, and what stays visible
(docs/metrics.md says how each is measured). Replay is deterministic, so there is no spread over runs; that over
sessions is in what default.py prints.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from corpus import plain
from machine import heading, sessions
from trimtab.replay import Setup, Tally, replay
from trimtab.replay.report import row
from trimtab.transcripts import Recording, read

LIMITS = (1_000, 2_000, 4_000, 8_000, 12_000, 16_000, 24_000, 30_000)
CLASSES = ("read", "ranged_read", "search", "shell", "edit", "web", "other")
PREVIEWS = ("head", "head-tail", "names")
SMALL = 2_000
"""Characters of the one row with a smaller preview of names."""

LONG = 40
"""Requests of a session that counts as one of the longer ones."""

COLUMNS = ("input_cost_after", "refetch_cost_after", "strict_refetch_cost_after")
SHARES = ("visible", "visible_worst_decile", "strictly_visible", "recoverable")


def main(model: str | None) -> None:
    """Print all tables."""
    paths = sessions()
    recordings = {path.stem: read(path) for path in paths}
    longer = [name for name, recording in recordings.items() if len(recording.requests) >= LONG]
    start, setup = time.monotonic(), Setup(model=model)
    found = {title: run(recordings, setup, options) for title, options in variants()}
    facts = next(iter(next(iter(found.values())).values())).facts
    print(heading("tiktoken"))
    print(f"{facts}; {time.monotonic() - start:.0f} s")
    for names in (longer, list(recordings)):
        requests = sum(len(recordings[name].requests) for name in names)
        print(f"\n{len(names)} sessions, {requests:,} requests\n")
        trade(found, names)


def variants() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Title and stage options of each row."""
    for preview in PREVIEWS:
        yield f"shipped, {preview}", {"preview": preview}
    yield f"shipped, names to {SMALL:,}", {"names": SMALL}
    for limit in LIMITS:
        for preview in PREVIEWS:
            yield f"{limit:,}, {preview}", {"preview": preview, "limits": dict.fromkeys(CLASSES, limit)}


def run(recordings: Mapping[str, Recording], setup: Setup, options: Mapping[str, Any]) -> dict[str, Tally]:
    """Replay every session with nothing but the budget of ``default``, with these options."""
    base = plain("default").stages[0].options.model_dump(include={"empty"})
    profile = plain("default", stages=[{"tool-result-budget": {**base, **options}}])
    return {name: replay(recording, setup.adapt(profile, recording), "") for name, recording in recordings.items()}


def trade(found: Mapping[str, Mapping[str, Tally]], names: Sequence[str]) -> None:
    """One row for each limit and preview."""
    print("| limit | preview | cost | + refetch | + strict refetch | visible | worst decile | strictly | recoverable |")
    print("|--:|---|--:|--:|--:|--:|--:|--:|--:|")
    for title, tallies in found.items():
        made = row([tallies[name] for name in names], "", "")
        costs = (f"{100 * made[key] / made['input_cost_before']:.1f}" for key in COLUMNS)
        shares = (f"{100 * made[key]:.1f}" for key in SHARES)
        print(f"| {' | '.join([*title.split(', '), *costs, *shares])} |")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(arguments[1] if arguments[:1] == ["--model"] else None)
