"""What each stage is worth, alone, together and left out, on the recorded sessions of two agents.

    python tests/benchmarks/marginal.py [--model MODEL]

The stages stand as the profile `default` has them. Costs are in % of the input cost of doing nothing; every second
table keeps the cache for a year, so that no gap makes anything cold. docs/metrics.md says how each figure is measured.
Replay is deterministic, so there is no spread over runs.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from corpus import plain
from machine import SHARED, heading, sessions
from trimtab import Profile
from trimtab.profile import Item
from trimtab.replay import Setup, Tally, replay
from trimtab.replay.report import row
from trimtab.transcripts import Recording, read

LONG = 40
"""Requests of a session that counts."""

YEAR = 365 * 86_400.0

AGENTS = {"claude-code": "Claude Code", "mini-swe-agent": "mini-swe-agent"}
"""Folder to name."""

COLUMNS = ("input_cost_after", "refetch_cost_after", "strict_refetch_cost_after")
SHARES = ("visible", "visible_worst_decile", "strictly_visible", "recoverable")


HEAD = """| stages | cost | +refetch | +strict | visible | worst | strictly | recoverable | rewrites | wrong |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"""


def title(item: Item) -> str:
    """A stage with what tells it from others of its name."""
    mode = getattr(item.options, "mode", None) or getattr(item.options, "form", None)
    return f"{item.name}, {mode}" if mode else item.name


OTHERS: Sequence[dict[str, Any]] = (
    {"context-collapse": {"mode": "stale-reads", "when": ["cold", "pays"]}},
    {"micro-compact": {"form": "cleared", "when": ["cold", {"idle": "60m"}]}},
)
"""Modes that `default` does not use."""


def variants(default: Profile) -> Iterator[tuple[str, Sequence[Item]]]:
    """Title and stages of each row."""
    stages = default.stages
    for item in (*stages, *plain("minimal", stages=OTHERS).stages):
        yield f"{title(item)} alone", (item,)
    yield "**all: the profile `default`**", stages
    for item in stages:
        yield f"all but {title(item)}", tuple(other for other in stages if other is not item)


def run(recordings: Sequence[Recording], profile: Profile, setup: Setup) -> list[Tally]:
    """Replay all sessions under one profile."""
    return [replay(recording, setup.adapt(profile, recording), "") for recording in recordings]


def line(name: str, tallies: Sequence[Tally]) -> str:
    """One row of a table."""
    made: Mapping[str, Any] = row(tallies, "", "")
    costs = (f"{100 * made[key] / made['input_cost_before']:.1f}" for key in COLUMNS)
    shares = (f"{100 * made[key]:.1f}" for key in SHARES)
    rewrites = 100 * (made["rewrites_warm"] + made["rewrites_cold"]) / made["requests"]
    wrong = sum(made[key] for key in ("exceptions", "invalid_requests", "rewrites_unexplained"))
    return f"| {' | '.join([name, *costs, *shares, f'{rewrites:.1f}', str(wrong)])} |"


def main(model: str | None) -> None:
    """Print a table for each agent and kind of clock."""
    sessions()
    default = plain("default")
    print(heading("tiktoken"))
    for folder, agent in AGENTS.items():
        read_all = [read(path) for path in sorted((SHARED / "corpus" / folder).iterdir())]
        recordings = [one for one in read_all if len(one.requests) >= LONG]
        requests = sum(len(one.requests) for one in recordings)
        for words, ttl in (("recorded clock", None), ("no cold gaps", YEAR)):
            start, setup = time.monotonic(), Setup(model=model, ttl=ttl)
            print(f"\n{agent}: {len(recordings)} sessions, {requests:,} requests, {words}\n")
            print(HEAD)
            facts = ""
            for name, stages in variants(default):
                tallies = run(recordings, default.model_copy(update={"stages": tuple(stages)}), setup)
                facts = re.sub(r" \(recorded: [^)]*\)", "", tallies[0].facts)
                print(line(name, tallies), flush=True)
            print(f"\n{facts}; {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(arguments[1] if arguments[:1] == ["--model"] else None)
