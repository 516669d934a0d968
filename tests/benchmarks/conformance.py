"""The conformance kit's judgement on the profile `default`, beside the kit's own compactors, as Markdown.

    python tests/benchmarks/conformance.py

Needs the package compaction-conformance-kit. First the kit's benchmark at 10, 20 and 30 % of the transcript's
characters, then the survival of each type in the kit's sessions and in sessions of our own wording. `rule`: nobody is
asked, rules write the summary. `bad model`: a model answers with a summary that says nothing.
tests/helpers/conformance.py says what a round is and how a budget in characters becomes options.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from compaction_kit.benchmark import DEFAULT_BUDGETS, run_budget_benchmark
from compaction_kit.canaries import Canary, CanaryType, seeded_canaries
from compaction_kit.cli import COMPACTORS
from compaction_kit.corpus import build_random_session
from compaction_kit.runner import run_conformance
from compaction_kit.session import SeededSession, build_seeded_session
from conformance import ROUNDS, WRITERS, Trimtab, worded
from machine import heading

SEEDS = (1, 2, 3, 4)

RANKING = """
| budget | compactor | kept it | survival | resolved | stale | pairs | output |
|--:|---|---|--:|--:|--:|--:|--:|"""
CURVES = """
| budget | session | written by | {types} | all, round 1 | all, last round |
|--:|---|---|{rule}--:|--:|"""


def ranking(folder: str) -> Iterator[str]:
    """The rows of the kit's benchmark, best first at each budget."""
    ours = {f"**trimtab, {writer}**": partial(Trimtab, folder, ask) for writer, ask in WRITERS.items()}
    for entry in run_budget_benchmark({**ours, **COMPACTORS}, DEFAULT_BUDGETS, SEEDS, ROUNDS)["entries"]:
        semantic = entry["semantic"]
        shares = (
            entry["randomized"]["overall_final_survival"],
            semantic["resolved_rate"],
            semantic["conflicts"]["stale"] / semantic["conflicts"]["n"],
            semantic["distinct_pair_rate"],
            entry["mean_final_output_ratio"],
        )
        kept = "yes" if entry["budget_compliant"] else "no"
        figures = " | ".join(f"{100 * share:.1f}" for share in shares)
        yield f"| {entry['budget_fraction']:.0%} | {entry['compactor']} | {kept} | {figures} |"


def sessions() -> Iterator[tuple[str, list[tuple[SeededSession, list[Canary]]]]]:
    """Title and sessions of each group."""
    yield "the kit's fixed one", [(build_seeded_session(), seeded_canaries())]
    yield "the kit's random ones", [build_random_session(seed) for seed in SEEDS]
    for language in ("english", "chinese"):
        yield f"our own, {language}", [worded(language, seed) for seed in SEEDS]


def curves(folder: str) -> Iterator[str]:
    """Survival in % of each type behind the last round, and of all behind the first and the last."""
    for share in DEFAULT_BUDGETS:
        for title, group in sessions():
            for writer, ask in WRITERS.items():
                runs = [
                    run_conformance(turns, Trimtab(folder, ask), ROUNDS, canaries, budget_fraction=share)
                    for turns, canaries in group
                ]
                lasts = [run.survival_curve(kind)[-1] for kind in CanaryType for run in runs]
                parts = [lasts[at : at + len(runs)] for at in range(0, len(lasts), len(runs))]
                for n in (0, -1):
                    parts.append([float(kept) for run in runs for kept in run.rounds[n].survived.values()])
                figures = " | ".join(f"{100 * sum(part) / len(part):.0f}" for part in parts)
                over = " (over)" * (not all(one.within_budget for run in runs for one in run.rounds))
                yield f"| {share:.0%}{over} | {title} | {writer} | {figures} |"


def main() -> None:
    """Print both tables."""
    start = time.monotonic()
    print(f"{heading('compaction-conformance-kit', 'tiktoken')}; {ROUNDS} rounds, seeds {SEEDS}\n{RANKING}")
    with TemporaryDirectory() as folder:
        for line in ranking(folder):
            print(line, flush=True)
        print(CURVES.format(types=" | ".join(kind.value.replace("_", " ") for kind in CanaryType), rule="--:|" * 5))
        for line in curves(folder):
            print(line, flush=True)
    print(f"\n{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
