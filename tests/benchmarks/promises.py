"""The promises under a hostile stage, hook and model, for as long as wanted; prints what was accepted and refused.

    python tests/benchmarks/promises.py [PASSES]        # requests, 100,000 if not said

The walks of tests/test_promises.py (tests/helpers/walk.py, `trimtab.testing.witness`) with the seeds 0, 1, 2 and so on,
in all wire formats by turns. A walk that breaks a promise is reported with its seed; then the exit status is 1.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from hostile import HostileStage
from machine import heading
from trimtab.testing.contract import DIALECTS
from walk import STEPS, Walk


def main(passes: int) -> int:
    """Walk, print, and say whether all promises held."""
    accepted: Counter[tuple[str, str]] = Counter()
    refused: Counter[str] = Counter()
    failed, done, start = [], 0, time.monotonic()
    for seed in range(-(-passes // STEPS)):
        walk = Walk(seed, dialect=DIALECTS[seed % len(DIALECTS)])
        try:
            walk.go()
        except Exception:
            failed.append(seed)
            print(f"seed {seed}:\n{traceback.format_exc(limit=-2)}", flush=True)
        done += walk.passes
        accepted += walk.accepted()
        refused += walk.refused
    print(heading("hypothesis"))
    print(
        f"{done:,} passes in {seed + 1:,} walks, {time.monotonic() - start:,.0f} s; broken promises: {failed or 'none'}"
    )
    print("\nkind of edit            proposed    free  breaking   (accepted)")
    for kind in sorted({kind for kind, _ in accepted} | HostileStage.yielded.keys()):
        counts = HostileStage.yielded[kind], accepted[kind, "free"], accepted[kind, "breaking"]
        print(f"{kind:24}{counts[0]:8,}{counts[1]:8,}{counts[2]:10,}")
    print("\nrefused   why")
    for reason, count in refused.most_common():
        print(f"{count:7,}   {reason}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
