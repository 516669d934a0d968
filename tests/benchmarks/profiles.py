"""Every shipped profile on every recorded session in windows of 30k, 100k and 200k: what it does, and that it holds.

    python tests/benchmarks/profiles.py [--rows FILE] [--only WORD]

Nobody is asked, so rules write all summaries; one block in twenty is pinned. *Wrong* counts exceptions, invalid
requests, lost pins and unexplained rewrites, and requests that could not be brought below the window though they are
not filled by what no profile can change; then the exit status is 1. With ``--rows`` each result is a line of that file
as soon as it is known, and what stands there is not run again. ``--only`` takes the sessions whose name has that word.
*Misjudged* are requests that were prepared as below the window and are larger by the provider's count: there `recover`
would follow. Replay is deterministic, so there is no spread over runs; docs/metrics.md says how each figure is
measured. What a provider clears by itself (`context_management`) is not replayed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from machine import SHARED, heading, sessions
from sweep import PROFILES, WINDOWS, looked, sweep
from trimtab.replay.setup import files

Row = Mapping[str, Any]

COLUMNS = (
    "profile",
    "window",
    "cost",
    "with fetching",
    "visible",
    "rewrites",
    "boundaries",
    "refused, and why",
    "misjudged",
    "wrong",
)


def main(rows: Path | None, only: str) -> int:
    """Replay what is not known yet, print the table; returns the exit status."""
    sessions()
    known: list[Row] = []
    if rows is not None and rows.exists():
        known = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    done = {(row["file"], row["profile"], row["window"]) for row in known}
    start = time.monotonic()
    for path in files([SHARED / "corpus"]):
        for window in WINDOWS if only in path.name else ():
            todo = [name for name in PROFILES if (path.name, name, window) not in done]
            recording = looked(path, window) if todo else None
            for name in todo:
                found = sweep(recording, name, window)
                known.append({"file": path.name, "window": window, "wrong": found.wrong(), **found.figures()})
                if rows is not None:
                    with rows.open("a", encoding="utf-8") as out:
                        out.write(json.dumps(known[-1]) + "\n")
    print(heading("tiktoken"))
    requests = sum(row["requests"] for row in known)
    print(f"{len({row['file'] for row in known})} sessions, {requests:,} requests, {time.monotonic() - start:.0f} s\n")
    return table([row for row in known if only in row["file"]])


def table(rows: Sequence[Row]) -> int:
    """One line for each profile and window; then what went wrong. Returns the exit status."""
    print(f"| {' | '.join(COLUMNS)} |\n|---|{'--:|' * 6}---|--:|--:|")
    for profile in PROFILES:
        for window in WINDOWS:
            found = [row for row in rows if (row["profile"], row["window"]) == (profile, window)]
            if found:
                print(line(profile, window, found))
    wrong = [row for row in rows if row["wrong"]]
    for row in wrong:
        print(f"{row['file']}, {row['profile']}, {row['window']:,}: {row['wrong']}")
    return int(bool(wrong))


def line(profile: str, window: int, rows: Sequence[Row]) -> str:
    """All sessions under one profile in one window; costs as shares of doing nothing."""

    def total(key: str) -> float:
        return sum(row[key] for row in rows)

    full: Counter[str] = Counter()
    for row in rows:
        full.update(row["full"])
    beyond = total("over_window_after") - full.total()
    before = total("input_cost_before")
    cells = [
        profile,
        f"{window:,}",
        *(f"{total(key) / before:.3f}" for key in ("input_cost_after", "refetch_cost_after")),
        f"{sum(row['visible'] * row['requests'] for row in rows) / total('requests'):.3f}",
        f"{100 * (total('rewrites_warm') + total('rewrites_cold')) / total('requests'):.1f}",
        f"{total('boundaries'):,}",
        "; ".join(f"{count:,} {why}" for why, count in sorted(full.items())) or "-",
        f"{beyond:,}",
        f"{sum(bool(row['wrong']) for row in rows)}",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    sys.exit(main(arguments.rows, arguments.only))
