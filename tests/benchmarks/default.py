"""Every recorded session of every agent under every shipped profile: what it costs, and that nothing goes wrong.

    python tests/benchmarks/default.py [--model MODEL]

Dollars of the input side, as docs/metrics.md says; *wrong* counts exceptions, invalid requests and unexplained rewrites
under all profiles. The exit status is 1 if there are any. Replay is deterministic, so there is no spread over runs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from corpus import plain
from machine import SHARED, heading, sessions
from trimtab.replay import Setup, Tally, replay
from trimtab.replay.report import row
from trimtab.transcripts import read

PROFILES = ("minimal", "default")
WRONG = ("exceptions", "invalid_requests", "rewrites_unexplained")


def wrong(tallies: Iterable[Tally]) -> int:
    """Everything that must not happen."""
    made = [row([tally], "", "") for tally in tallies]
    return sum(figures[key] for figures in made for key in WRONG)


def line(name: str, found: dict[str, list[Tally]]) -> str:
    """One row: of one session, or of several together."""
    nothing, default = (row(found[profile], "", "") for profile in PROFILES)
    costs = [figures["input_cost_after"] for figures in (nothing, default)]
    share = f"{100 * costs[1] / costs[0]:.1f} %" if costs[0] else "-"
    seen = f"{100 * default['visible']:.1f}"
    bad = wrong(tally for tallies in found.values() for tally in tallies)
    return f"| {name} | {nothing['requests']:,} | ${costs[0]:.4f} | ${costs[1]:.4f} | {share} | {seen} | {bad} |"


def main(model: str | None) -> int:
    """Print one table for each agent; returns the exit status."""
    sessions()
    setup, start, bad = Setup(model=model), time.monotonic(), 0
    print(heading("tiktoken"))
    for folder in sorted((SHARED / "corpus").iterdir()):
        print(f"\n{folder.name}\n\n| session | requests | minimal | default | share | visible | wrong |")
        print("|---|--:|--:|--:|--:|--:|--:|")
        whole: dict[str, list[Tally]] = {name: [] for name in PROFILES}
        for path in sorted(folder.iterdir()):
            recording = read(path)
            for name in PROFILES:
                whole[name].append(replay(recording, setup.adapt(plain(name), recording), name))
            print(line(path.stem, {name: tallies[-1:] for name, tallies in whole.items()}), flush=True)
        print(line(f"**{len(whole[PROFILES[0]])} sessions**", whole), flush=True)
        bad += wrong(tally for tallies in whole.values() for tally in tallies)
    print(f"\n{time.monotonic() - start:.0f} s; wrong: {bad or 'nothing'}")
    return int(bool(bad))


if __name__ == "__main__":
    arguments = sys.argv[1:]
    sys.exit(main(arguments[1] if arguments[:1] == ["--model"] else None))
